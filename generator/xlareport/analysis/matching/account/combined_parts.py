"""What a new sum over devices combines: partial results of instructions with a counterpart."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.reasons import PartialResults, Reason
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS, REDUCING_COLLECTIVES
from xlareport.knowledge.grades import Grade

_MOST_MOVES = 4
"""Moves in a row that are looked behind."""


def reasons_by_partial_results(after: Side, node: Node) -> Iterator[tuple[Grade, Reason]]:
    """Yield what a new sum over devices combines, if its op_name has an operand with a counterpart.

    Moves that are new too are looked behind.
    """
    line, op_name = node.instruction, node.instruction.metadata.op_name
    if line.opcode not in REDUCING_COLLECTIVES or not op_name:
        return
    operands = [_behind_new_moves(after, operand) for operand, _ in after.graph.operands(node)]
    names = {
        operand: operand.partner.instruction.name
        for operand in operands
        if operand.partner is not None
    }
    named = next((read for read in names if read.instruction.metadata.op_name == op_name), None)
    if named is None:
        return
    if len(operands) == 1:
        yield Grade.MATCHED, f"it combines partial results of %{named.instruction.name}"
    former = tuple(dict.fromkeys(names.values()))
    others = len(operands) - len(names)
    yield Grade.MATCHED, PartialResults(named.instruction.name, former, len(names), others)


def _behind_new_moves(side: Side, node: Node) -> Node:
    """Return what a new move of data reads, or the node itself where it is none."""
    for _ in range(_MOST_MOVES):
        operands = side.graph.operands(node)
        if not is_free(node) or node.instruction.opcode not in REARRANGEMENTS or not operands:
            break
        node = operands[0][0]
    return node
