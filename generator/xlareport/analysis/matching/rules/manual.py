"""The calls at the edges of `shard_map`, which only state which devices hold a value.

Shardy replaces a call for several arrays with a call for each; the SPMD partitioner replaces each
of these with a copy in the shape of a shard.
"""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.rules.spreading import neighbours
from xlareport.analysis.matching.search.nodes import ARRAY_CALLS, is_free, origin, target_of
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.grouping import group_by_key
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade

_SPLIT = {
    "xla.sdy.GlobalToLocalShape": "SPMDFullToShardShape",
    "xla.sdy.LocalToGlobalShape": "SPMDShardToFullShape",
}
"""Target of a call for several arrays, and target of the calls that Shardy makes of it."""
_CONSTRAINT = "Sharding"
"""Target of the calls for `with_sharding_constraint`, which become copies too."""
_MOST_COPIES = 4
"""Copies in a row that are looked behind."""


_MOST_ROUNDS = 50
"""Limit on chains of such calls, each of which reads the result of the previous one."""


def split(search: Search) -> None:
    """Pair calls for several arrays with the calls for each array, by their operands."""
    for _ in range(_MOST_ROUNDS):
        count = len(search.links)
        _split_known(search)
        if len(search.links) == count:
            return
        neighbours(search)


def _split_known(search: Search) -> None:
    whole = [node for node in search.before.open() if target_of(node) in _SPLIT]
    if not whole:
        return
    search.evaluate()
    parts = group_by_key(
        (_key(search.after, node), node)
        for node in search.after.open()
        if target_of(node) in ARRAY_CALLS
    )
    for node in whole:
        chosen = _chosen(search, node, parts)
        if chosen:
            _link(search, node, chosen)


def _chosen(search: Search, whole: Node, parts: dict[Hashable, list[Node]]) -> list[Node]:
    """Return the free calls for each array of a call, in order; none unless all are there."""
    chosen: list[Node] = []
    for operand in search.before.graph.operands(whole):
        free: list[Node] = []
        for source in (operand, _behind_constraints(search.before, operand)[0]):
            key = (_SPLIT[target_of(whole)], _value(search.before, source))
            free = [part for part in parts.get(key, ()) if is_free(part) and part not in chosen]
            if free:
                break
        own = [part for part in free if origin(part) == origin(whole)]
        if not free:
            return []
        chosen.append((own or free)[0])
    return chosen


def _key(side: Side, part: Node) -> Hashable:
    """Return the target of an array's call and its operand's value, looking through copies."""
    operand = side.graph.operands(part)[0]
    for copy in _copies(side, part):
        operand = side.graph.operands(copy)[0]
    return (target_of(part), _value(side, operand))


def _copies(side: Side, part: Node) -> Iterator[Node]:
    """Yield the free copies between a call and its operand, the nearest first."""
    node = part
    for _ in range(_MOST_COPIES):
        operands = side.graph.operands(node)
        node = operands[0][0] if operands else part
        if node is part or node.instruction.opcode != "copy" or not is_free(node):
            return
        yield node


def _behind_constraints(side: Side, operand: NodeElement) -> tuple[NodeElement, list[Node]]:
    """Return what sharding constraints in a row read, and these calls, the nearest first."""
    calls: list[Node] = []
    while len(calls) < _MOST_COPIES and target_of(operand[0]) == _CONSTRAINT and not operand[1]:
        if not is_free(operand[0]):
            break
        calls.append(operand[0])
        operand = side.graph.operands(operand[0])[0]
    return operand, calls


def _value(side: Side, operand: NodeElement) -> int:
    node, path = operand
    side.values.value_of(node)
    return side.values.element(node, path)


def _link(search: Search, whole: Node, parts: list[Node]) -> None:
    reason = "one call for each array, over the same values"
    behind = [[*_copies(search.after, part)] for part in parts]
    copies = [near[:1] for near in behind]
    if not search.link(whole, parts[0], Grade.MATCHED, reason):
        return
    for operand, near in zip(search.before.graph.operands(whole), behind, strict=True):
        calls = _behind_constraints(search.before, operand)[1]
        for call, copy in zip(calls, near[1:], strict=False):
            search.link(call, copy, Grade.MATCHED, f"read by %{near[0].instruction.name} now")
    for number, part in enumerate(parts[1:], start=1):
        search.part(whole, part, number)
    for copy in dict.fromkeys(copy for near in copies for copy in near):
        search.further.setdefault(whole, []).append(copy)
        copy.partner = whole
