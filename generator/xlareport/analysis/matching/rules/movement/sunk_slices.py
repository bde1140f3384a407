"""A rule for slices of operands that became a slice of the result and are left unread.

`f(slice(x), slice(y))` became `slice(f(x, y))`: slice-sinker leaves the former to a later pass.
"""

from xlareport.analysis.matching.search.nodes import is_free, node_after, operand_pairs
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import MOVES, TUPLES

_SLICE = "slice"
_NOT_PASSED = MOVES | TUPLES
_NOTES = frozenset({"backend_config", "frontend_attributes", "metadata", "sharding"})
_MOST = 50
"""Instructions between the slices of operands and that of the result."""
_Pairs = list[tuple[Node, Node]]


def sunk_slices(search: Search) -> None:
    """Record as moved copies the slice of a result, and work on what was sliced before.

    Readers read the new slice instead of work on slices that still stands.
    """
    if not any(_is_new_slice(node) for node in search.after.open()):
        return
    search.evaluate()
    for link in list(search.links):
        for read, now in operand_pairs(search, link.before, link.after):
            if _is_new_slice(now) and not is_free(read):
                _note_copies(search, now, *_same_work(search, read, now))


def _is_new_slice(node: Node) -> bool:
    return node.instruction.opcode == _SLICE and is_free(node)


def _same_work(search: Search, read: Node, now: Node) -> tuple[_Pairs, list[Node]]:
    """Return the work between slices of operands and a reader with that now, and the slices.

    Empty where the operations are not the same, or the slices not of what is read whole now.
    """
    whole = search.after.graph.operands(now)
    waiting, slices = [(read, node) for node, path in whole if not path], list[Node]()
    for node, work in waiting:
        operands = list(operand_pairs(search, node, work))
        alike = _does_the_same(node, work) and _dimensions(node) == _dimensions(now)
        if not alike or not operands or len(waiting) > _MOST:
            return [], []
        for operand, given in operands:
            if _cuts_the_same(operand, now):
                if not _slices(search, operand, given):
                    return [], []
                slices.append(operand)
            elif (operand, given) not in waiting:
                waiting.append((operand, given))
    return waiting, slices


def _does_the_same(node: Node, work: Node) -> bool:
    """Return whether two nodes are the same operation, of any size."""
    line, known = node.instruction, work.instruction
    alike = line.opcode == known.opcode and line.opcode not in _NOT_PASSED
    types = line.shape.element_type == known.shape.element_type
    count = len(line.operands) == len(known.operands)
    return alike and types and count and _attributes(line) == _attributes(known)


def _dimensions(node: Node) -> tuple[int | None, ...]:
    return node.instruction.shape.dimensions


def _attributes(line: Instruction) -> dict[str, str]:
    """Return the attributes that determine what is computed."""
    return {name: value for name, value in line.attributes.items() if name not in _NOTES}


def _cuts_the_same(node: Node, now: Node) -> bool:
    """Return whether a node cuts what a new slice cuts, from an array of the same dimensions."""
    line, known = node.instruction, now.instruction
    return line.opcode == _SLICE and line.attributes.get(_SLICE) == known.attributes.get(_SLICE)


def _slices(search: Search, node: Node, given: Node) -> bool:
    """Return whether an old node slices what an operation reads whole now."""
    sources = search.before.graph.operands(node)
    source = sources[0][0] if sources else None
    same = source is not None and (node_after(search, source) is given)
    return same or (source is not None and source.token == given.token)


def _note_copies(search: Search, now: Node, works: _Pairs, slices: list[Node]) -> None:
    if not slices or now in search.copies or any(map(is_free, slices)):
        return
    for node, work in works:
        if is_free(work) and not is_free(node):
            moved = Past(slices[0].instruction.name, of_copy=True)
            search.copies.setdefault(work, (node, moved))
    passed, _ = works[0]
    search.copies[now] = slices[0], Past(passed.instruction.name, of_copy=True)
