"""A rule for all-reduces in two stages: each over a part of the devices, between them a slice."""

from xlareport.analysis.matching.rules.heavy.products import reducer
from xlareport.analysis.matching.search.nodes import is_free, read_at
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.hlo.shardings.device_groups import Groups, parse_groups

_BETWEEN = REARRANGEMENTS | {"dynamic-slice", "slice"}
_MOST_BETWEEN = 4


def staged(search: Search) -> None:
    """Let a new all-reduce do the rest of the work of one that covers fewer devices now."""
    for second in search.after.open():
        if second.instruction.opcode == "all-reduce" and is_free(second):
            first = _first_stage(search.after, second)
            whole = None if first is None else first.partner
            if (
                first is not None
                and whole is not None
                and _is_divided(search, whole, first, second)
            ):
                search.extend(whole, second)


def _first_stage(side: Side, second: Node) -> Node | None:
    """Return the all-reduce of whose result another one reads a part."""
    node = read_at(side, second, 0)
    for _ in range(_MOST_BETWEEN):
        if node is None or node.instruction.opcode not in _BETWEEN:
            break
        node = read_at(side, node, 0)
    return node if node is not None and node.instruction.opcode == "all-reduce" else None


def _is_divided(search: Search, whole: Node, first: Node, second: Node) -> bool:
    """Return whether the devices of both stages together are those of the former all-reduce."""
    groups = [_groups(node) for node in (whole, first, second)]
    if whole.instruction.opcode != "all-reduce" or not all(groups) or groups[0] == groups[1]:
        return False
    reducers = reducer(search.before, whole), *(reducer(search.after, n) for n in (first, second))
    return len(set(reducers)) == 1 and {*map(frozenset, groups[0])} == _joined(
        groups[1] + groups[2]
    )


def _groups(node: Node) -> Groups:
    groups = parse_groups(node.instruction.attributes.get("replica_groups", ""))
    return () if groups is None or groups.groups is None else groups.groups


def _joined(groups: Groups) -> set[frozenset[int]]:
    """Return the groups, those that share a device joined."""
    joined: set[frozenset[int]] = set()
    for members in map(frozenset, groups):
        touching = {known for known in joined if known & members}
        joined = (joined - touching) | {members.union(*touching)}
    return joined
