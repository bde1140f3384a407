"""A rule for scatters of single elements that became selects, by comparing indices with an iota."""

from collections.abc import Hashable, Iterator, Sequence

from xlareport.analysis.matching.search.nodes import is_free, origin, read_at
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

_REPEATS = REARRANGEMENTS | {"broadcast", "convert"}
_COUNTS = _REPEATS | {"add", "iota"}
"""Opcodes of what a part of an iota is made of."""
_REPEATED = frozenset({"broadcast"})
_MOST = 8
"""Repeats in a row that are looked behind, and instructions of a comparison."""
_OPERANDS = 3
"""Of a scatter into one array: the array, the indices, the updates; of a select as well."""
_ARRAY, _UPDATES = (0, 2), (2, 1)
"""Places among the operands of a scatter and among those of a select."""


def selected(search: Search) -> None:
    """Pair scatters with the selects between the same values, of the same framework op.

    Several fusions may hold the same select each.
    """
    scatters = [node for node in search.before.open() if node.instruction.opcode == "scatter"]
    selects = [node for node in search.after.open() if scatters and _is_one_hot(search.after, node)]
    if not selects:
        return
    search.evaluate()
    theirs = group_by_key(_keyed(search.after, selects, 1))
    for key, nodes in group_by_key(_keyed(search.before, scatters, 0)).items():
        alike = theirs.get(key, ())
        values = {search.after.own_values.get(node) for node in alike}
        if len(nodes) == len(values) == 1:
            _pair(search, nodes[0], alike)


def _pair(search: Search, scatter: Node, selects: Sequence[Node]) -> None:
    """Pair a scatter with selects and what these compare, and its array with theirs."""
    parts = list(selects)
    for select in selects:
        parts += _compared(search.after, select)
    reason = f"into {units.plural(len(parts), 'instruction')}, which compare indices with an iota"
    if not search.link(scatter, selects[0], Grade.MATCHED, reason, Relation.EXPANDED):
        return
    for part in parts[1:]:
        search.extend(scatter, part)
    for place, now in (_ARRAY, _UPDATES):
        _pair_operand(search, scatter, place, selects, now)


def _pair_operand(
    search: Search, scatter: Node, place: int, selects: Sequence[Node], now: int
) -> None:
    """Pair what repeats the same value for a scatter and for selects."""
    read = read_at(search.before, scatter, place)
    for select in selects:
        other = read_at(search.after, select, now)
        if read is None or other is None or not is_free(other):
            continue
        if read.instruction.opcode == other.instruction.opcode:
            reason = f"operand {place} of %{scatter.instruction.name}"
            if not is_free(read) or not search.link(read, other, Grade.MATCHED, reason):
                search.copies.setdefault(other, (read, "a further copy"))


def _compared(side: Side, select: Node) -> Iterator[Node]:
    """Yield the free comparison of a select and what repeats the indices and counts for it."""
    compared = read_at(side, select, 0)
    if compared is None or not is_free(compared):
        return
    yield compared
    for operand, _ in side.graph.operands(compared):
        yield from _sources(side, operand, _COUNTS if _is_count(side, operand) else _REPEATED)


def _sources(side: Side, node: Node, opcodes: frozenset[str]) -> Iterator[Node]:
    """Yield a free node and what it is computed from, with these opcodes."""
    waiting = [node]
    for part in waiting:
        is_beside = is_free(part) and part.frame is node.frame
        if is_beside and part.instruction.opcode in opcodes and len(waiting) <= _MOST:
            yield part
            waiting += [operand for operand, _ in side.graph.operands(part)]


def _is_one_hot(side: Side, node: Node) -> bool:
    """Return whether a node selects where indices equal an iota, or a device's part of one."""
    compared = read_at(side, node, 0) if node.instruction.opcode == "select" else None
    if compared is None or compared.instruction.attributes.get("direction") != "EQ":
        return False
    return any(_is_count(side, operand) for operand, _ in side.graph.operands(compared))


def _is_count(side: Side, node: Node) -> bool:
    """Return whether a node is an iota, behind repeats, or one with an offset added."""
    source, _ = _behind_repeats(side, (node, ()))
    sources = [source]
    if source.instruction.opcode == "add":
        sources = [_behind_repeats(side, operand)[0] for operand in side.graph.operands(source)]
    return any(source.instruction.opcode == "iota" for source in sources)


def _keyed(side: Side, nodes: list[Node], number: int) -> Iterator[tuple[Hashable, Node]]:
    """Yield nodes of a framework op, with it and the values of the array and the updates as key."""
    for node in nodes:
        operands = side.graph.operands(node)
        if len(operands) == _OPERANDS and origin(node):
            data = (
                _behind_repeats(side, operands[places[number]]) for places in (_ARRAY, _UPDATES)
            )
            yield (origin(node), *map(side.value_of, data)), node


def _behind_repeats(side: Side, operand: NodeElement) -> NodeElement:
    """Return the element that repeats and moves of data hand to an operand."""
    for _ in range(_MOST):
        node, path = operand
        operands = side.graph.operands(node)
        if path or not operands or node.instruction.opcode not in _REPEATS:
            break
        operand = operands[0]
    return operand
