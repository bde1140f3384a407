"""The calls at the edges of `shard_map`, which only state which devices hold a value.

Shardy replaces a call for several arrays with a call for each; the SPMD partitioner replaces each
of these with a copy in the shape of a shard.
"""

from collections.abc import Callable, Hashable, Sequence

from xlareport.analysis.matching.rules.spreading import neighbors
from xlareport.analysis.matching.search.nodes import ARRAY_CALLS, is_free, origin, target_of
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.shape import Shape
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_SPLIT = {
    "xla.sdy.GlobalToLocalShape": "SPMDFullToShardShape",
    "xla.sdy.LocalToGlobalShape": "SPMDShardToFullShape",
}
"""Target of a call for several arrays, and target of the calls that Shardy makes of it."""
_CONSTRAINT = "Sharding"
"""Target of the calls for `with_sharding_constraint`, which become copies too."""
_RESHAPE = "reshape"
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
        neighbors(search)


def _split_known(search: Search) -> None:
    whole = [node for node in search.before.open() if target_of(node) in _SPLIT]
    if not whole:
        return
    search.evaluate()
    calls = [
        node
        for node in search.after.open()
        if target_of(node) in ARRAY_CALLS and search.after.graph.operands(node)
    ]
    parts = group_by_key(
        (_call_key(search.after, node, passes), node)
        for node in calls
        for passes in (_is_copy, _is_copied)
    )
    for node in whole:
        chosen = _chosen(search, node, parts) or _ordered_calls(search, node, calls)
        if chosen:
            _link(search, node, chosen)


def _ordered_calls(search: Search, whole: Node, calls: Sequence[Node]) -> list[Node]:
    """Return the free calls of a framework op for each of several arrays, if all are in order."""
    target, shapes = _SPLIT[target_of(whole)], whole.instruction.shape.elements
    alike = [
        call
        for call in calls
        if is_free(call) and target_of(call) == target and origin(call) == origin(whole)
    ]
    if not origin(whole) or not len(shapes) == len(alike) > 1:
        return []
    orders = (alike, _by_element(search, whole, alike))
    return next((order for order in orders if order and all(map(_gives, order, shapes))), [])


def _by_element(search: Search, whole: Node, calls: Sequence[Node]) -> list[Node]:
    """Return calls in the order in which a call for several arrays reads the same elements.

    Empty unless both sides read each element of one tuple.
    """
    after = search.after
    read = [_behind(after, after.graph.operands(call)[0], _is_copied)[0] for call in calls]
    before = search.before
    own = [_behind(before, operand, _is_stated)[0] for operand in before.graph.operands(whole)]
    givers = {node for node, _ in own}, {node for node, _ in read}
    if any(len(nodes) > 1 for nodes in givers):
        return []
    places = {path: call for (_, path), call in zip(read, calls, strict=True)}
    ordered = [places.get(path) for _, path in own]
    return [call for call in ordered if call is not None] if len(places) == len(own) else []


def _chosen(search: Search, whole: Node, parts: dict[Hashable, list[Node]]) -> list[Node]:
    """Return the free calls for each array of a call, in order; none unless all are there."""
    chosen: list[Node] = []
    shapes = whole.instruction.shape.elements or (whole.instruction.shape,)
    operands = search.before.graph.operands(whole)
    for operand, shape in zip(operands, shapes, strict=False):
        free: list[Node] = []
        behind = (
            _behind(search.before, operand, passes)[0] for passes in (_is_constraint, _is_stated)
        )
        for source in (operand, *behind):
            key = (_SPLIT[target_of(whole)], search.before.value_of(source))
            free = [
                part
                for part in dict.fromkeys(parts.get(key, ()))
                if is_free(part) and part not in chosen and _gives(part, shape)
            ]
            if free:
                break
        own = [part for part in free if origin(part) == origin(whole)]
        if not free:
            return []
        chosen.append((own or free)[0])
    return chosen


def _gives(part: Node, shape: Shape) -> bool:
    return part.instruction.shape.dimensions == shape.dimensions


def _call_key(side: Side, part: Node, passes: Callable[[Node], bool]) -> Hashable:
    """Return the target of an array's call and the value behind what passes its operand on."""
    operand, _ = _behind(side, side.graph.operands(part)[0], passes)
    return (target_of(part), side.value_of(operand))


def _behind(
    side: Side, operand: NodeElement, passes: Callable[[Node], bool]
) -> tuple[NodeElement, list[Node]]:
    """Return what free instructions in a row pass on to a reader, and these, the nearest first."""
    passing: list[Node] = []
    while len(passing) < _MOST_COPIES:
        node, path = operand
        operands = side.graph.operands(node)
        if path or not operands or not is_free(node) or not passes(node):
            break
        passing.append(node)
        operand = operands[0]
    return operand, passing


def _is_copy(node: Node) -> bool:
    return node.instruction.opcode == "copy"


def _is_constraint(node: Node) -> bool:
    return target_of(node) == _CONSTRAINT


def _is_copied(node: Node) -> bool:
    """Return whether a node is a copy, or a reshape, which may be behind one."""
    return _is_copy(node) or node.instruction.opcode == _RESHAPE


def _is_stated(node: Node) -> bool:
    """Return whether a node is a constraint, or a reshape, which may be behind one."""
    return _is_constraint(node) or node.instruction.opcode == _RESHAPE


def _link(search: Search, whole: Node, parts: list[Node]) -> None:
    reason = "one call for each array, over the same values"
    after = search.after
    behind = [_behind(after, after.graph.operands(part)[0], _is_copied)[1] for part in parts]
    copies = [[node for node in near[:1] if _is_copy(node)] for near in behind]
    if not search.link(whole, parts[0], Grade.MATCHED, reason):
        return
    for operand, near in zip(search.before.graph.operands(whole), behind, strict=False):
        calls = _behind(search.before, operand, _is_stated)[1]
        for call, copy in zip(calls, near[1:], strict=False):
            if _is_constraint(call) != _is_copy(copy):
                break
            search.link(call, copy, Grade.MATCHED, f"read by %{near[0].instruction.name} now")
    for number, part in enumerate(parts[1:], start=1):
        search.part(whole, part, number)
    for copy in dict.fromkeys(copy for near in copies for copy in near):
        search.further.setdefault(whole, []).append(copy)
        copy.partner = whole
