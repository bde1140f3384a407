"""What a new sum over devices combines: partial results of instructions with a counterpart."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.reasons import PartialResults, Reason
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.halves import START
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS, REDUCING_COLLECTIVES
from xlareport.knowledge.grades import Grade

_MOST_MOVES = 4
"""Moves in a row that are looked behind."""


def reasons_by_partial_results(after: Side, node: Node) -> Iterator[tuple[Grade, Reason]]:
    """Yield what a new sum over devices combines, if its op_name has an operand with a counterpart.

    Moves that are new too are looked behind, and an earlier sum over other devices. What sends the
    pieces of a new concatenation without op_name combines all that have a counterpart.
    """
    if node.instruction.opcode.removesuffix(START) not in REDUCING_COLLECTIVES:
        return
    sent = [_behind_new_moves(after, operand) for operand, _ in after.graph.operands(node)]
    earlier = _earlier_sum(sent)
    if earlier is not None:
        sent = [_behind_new_moves(after, operand) for operand, _ in after.graph.operands(earlier)]
    operands = _pieces(after, sent)
    names = {
        operand: operand.partner.instruction.name
        for operand in operands
        if operand.partner is not None
    }
    op_name = node.instruction.metadata.op_name
    any_piece = operands is not sent and not op_name
    named = (
        read
        for read in names
        if any_piece or (op_name and read.instruction.metadata.op_name == op_name)
    )
    first = next(named, None)
    if first is None:
        return
    if len(operands) == 1:
        further = f", after %{earlier.instruction.name}" if earlier is not None else ""
        yield Grade.MATCHED, f"it combines partial results of %{first.instruction.name}{further}"
    former = tuple(dict.fromkeys(names.values()))
    others = len(operands) - len(names)
    yield Grade.MATCHED, PartialResults(first.instruction.name, former, len(names), others)


def _earlier_sum(operands: list[Node]) -> Node | None:
    """Return the new sum, over other devices, whose result alone is sent; None if there is none."""
    first = operands[0] if len(operands) == 1 else None
    opcode = "" if first is None else first.instruction.opcode
    return first if opcode in REDUCING_COLLECTIVES and first and is_free(first) else None


def _pieces(after: Side, operands: list[Node]) -> list[Node]:
    """Return the pieces of the only operand where it is a new concatenation; else the operands."""
    joined = operands[0] if len(operands) == 1 else None
    if joined is None or joined.instruction.opcode != "concatenate" or not is_free(joined):
        return operands
    pieces = [_behind_new_moves(after, piece) for piece, _ in after.graph.operands(joined)]
    return pieces if len(pieces) > 1 else operands


def _behind_new_moves(side: Side, node: Node) -> Node:
    """Return what new moves of data in a row read, or the node itself where it is none.

    Behind a new mask, the gather that it lets through: each device gathers the rows that it has.
    """
    moved = _moved(side, node)
    return _gathered(side, moved) or moved


def _moved(side: Side, node: Node) -> Node:
    """Return what new moves of data in a row read, or the node itself where it is none."""
    for _ in range(_MOST_MOVES):
        read = side.graph.operands(node) if node.instruction.opcode in REARRANGEMENTS else ()
        if not read or not is_free(node):
            break
        node = read[0][0]
    return node


def _gathered(side: Side, node: Node) -> Node | None:
    """Return the gather, moved or not, that a new select chooses instead of a constant, or None."""
    if node.instruction.opcode != "select" or not is_free(node):
        return None
    values = [value for value, _ in side.graph.operands(node)[1:] if not value.constant]
    source = _moved(side, values[0]) if len(values) == 1 else None
    return source if source is not None and source.instruction.opcode == "gather" else None
