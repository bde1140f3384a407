"""A rule for slices of a result that became slices of the operands.

`slice(add(x, y))` becomes `add(slice(x), slice(y))`: less is computed, and padding may go. What is
cut from a reversed array was at the other end of the array.
"""

import re
from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.data_operands import is_data
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import MOVES, TUPLES
from xlareport.knowledge.grades import Grade

_SLICES = frozenset({"dynamic-slice", "slice"})
_SLICE = "slice"
_REVERSE = "reverse"
_PASSED_BY_OTHERS = MOVES - {_REVERSE} | TUPLES
"""Opcodes that change places with slices by other rules, or never."""
_LIMITS = re.compile(r"\[(\d{1,18}):(\d{1,18})\]")
_SAME = "the same operation, on slices of its operands"
_FURTHER = "a further copy, of another operand"


def sliced(search: Search) -> None:
    """Pair an operation and its slice with the same operation on slices of its operands."""
    slices = [node for node in search.before.open() if node.instruction.opcode in _SLICES]
    if not any(node.instruction.opcode in _SLICES for node in search.after.open()):
        return
    for node in slices:
        whole = _operand(search.before, node)
        if whole is None or not is_free(node) or whole.instruction.opcode in _PASSED_BY_OTHERS:
            continue
        for part in _slice_candidates(search, node, whole):
            moved = _slices_of_operands(search.after, part, node, whole)
            if moved and _pair(search, node, whole, part, moved):
                break


def _slice_candidates(search: Search, node: Node, whole: Node) -> Iterator[Node]:
    """Yield new nodes that may compute the slice of a result: its partner, or a new operand."""
    if whole.partner is not None:
        yield whole.partner
    for user, position in search.before.users.get(node, ()):
        operands = () if user.partner is None else search.after.graph.operands(user.partner)
        if position < len(operands) and not operands[position][1]:
            yield operands[position][0]


def _slices_of_operands(side: Side, part: Node, node: Node, whole: Node) -> list[Node]:
    """Return the free operands of a new node that slice as an old one did, one of data first."""
    data: list[Node] = []
    others: list[Node] = []
    for place, (operand, path) in enumerate(side.graph.operands(part)):
        if _cuts_the_same(operand, node, whole) and not path and is_free(operand):
            (data if is_data(part.instruction, place) else others).append(operand)
    return [*data, *others] if data else []


def _cuts_the_same(operand: Node, node: Node, whole: Node) -> bool:
    """Return whether a slice of an operand is of the elements that another cuts from the result."""
    line, known = operand.instruction, node.instruction
    if line.opcode != known.opcode:
        return False
    if whole.instruction.opcode != _REVERSE:
        return line.attributes_text == known.attributes_text
    limits = _limits(line)
    return bool(limits) and limits == _mirrored(_limits(known), whole)


def _limits(line: Instruction) -> list[tuple[int, int]]:
    """Return where a slice begins and ends in each dimension; empty if it leaves some out."""
    pairs = _LIMITS.findall(line.attributes.get("slice", ""))
    limits = [(int(start), int(end)) for start, end in pairs]
    return limits if len(limits) == len(line.shape.dimensions) else []


def _mirrored(limits: list[tuple[int, int]], reverse: Node) -> list[tuple[int, int]]:
    """Return where the elements that are cut from a reversed array are in the array."""
    line = reverse.instruction
    reversed_ = line.attributes.get("dimensions", "").strip("{}").split(",")
    sizes = [size or 0 for size in line.shape.dimensions]
    return [
        (size - end, size - start) if str(place) in reversed_ else (start, end)
        for place, ((start, end), size) in enumerate(zip(limits, sizes, strict=False))
    ]


def _pair(search: Search, node: Node, whole: Node, part: Node, moved: list[Node]) -> bool:
    """Pair an operation with the one on slices, and its slice with theirs; say if it was done."""
    line, known = whole.instruction, part.instruction
    if line.opcode != known.opcode or known.shape.dimensions != node.instruction.shape.dimensions:
        return False
    if whole.partner is not part:
        if not is_free(part):
            return False
        if not (is_free(whole) and search.link(whole, part, Grade.MATCHED, _SAME)):
            search.copies[part] = whole, _SAME
    first, *others = moved
    if not search.link(node, first, Grade.MATCHED, Past(line.name), Relation.SWAPPED):
        return False
    for other in others:
        search.copies[other] = node, _FURTHER
    return True


def left_slices(search: Search) -> None:
    """Pair a new slice of an operand with that of the result of what reads it, or note a copy.

    The former operation and its slice may be left unread, as they were: `slice(dot(x, y))` beside
    `dot(slice(x), y)`.
    """
    for cut in search.after.open():
        users = search.after.users.get(cut, ()) if cut.instruction.opcode == _SLICE else ()
        if len(users) != 1 or not is_free(cut) or cut in search.copies:
            continue
        part, place = users[0]
        if not is_data(part.instruction, place):
            continue
        whole = part.partner or search.copies.get(part, (None,))[0]
        node = None if whole is None else _former_slice(search, whole, part, cut)
        if whole is None or node is None:
            continue
        past = Past(whole.instruction.name)
        moved = is_free(node) and search.link(node, cut, Grade.MATCHED, past, Relation.SWAPPED)
        if not moved:
            search.copies[cut] = node, Past(past.instruction, of_copy=True)


def _former_slice(search: Search, whole: Node, part: Node, cut: Node) -> Node | None:
    """Return the old slice of a result that has the dimensions of the new result.

    The former operation may stand as it did, and its users with it.
    """
    line = part.instruction
    if whole.instruction.opcode != line.opcode or line.opcode in _PASSED_BY_OTHERS:
        return None
    if line.shape.dimensions == whole.instruction.shape.dimensions:
        return None
    for known in whole.frame.computation.users.get(whole.instruction.name, ()):
        is_slice = known.opcode == _SLICE and known.shape.dimensions == line.shape.dimensions
        read = _operand(search.after, cut)
        read_line = None if read is None else read.instruction
        if is_slice and cut_limits(known, whole.instruction) == cut_limits(
            cut.instruction, read_line
        ):
            return whole.frame.node(known)
    return None


def cut_limits(line: Instruction, source: Instruction | None) -> list[tuple[int, int]]:
    """Return where a slice begins and ends in the dimensions of which it leaves anything out."""
    sizes = () if source is None else source.shape.dimensions
    pairs = zip(_limits(line), sizes, strict=False)
    return sorted(limits for limits, size in pairs if limits != (0, size))


def _operand(side: Side, node: Node) -> Node | None:
    """Return what a node slices; None where that is an element of a tuple."""
    operands = side.graph.operands(node)
    return operands[0][0] if operands and not operands[0][1] else None
