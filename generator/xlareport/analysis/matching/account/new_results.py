"""New instructions that give results: what they are given in place of, and what they convert."""

from xlareport.analysis.matching.rules.stand_ins import are_reordered
from xlareport.analysis.matching.search.nodes import node_before
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.model import Instruction


def given_value(search: Search, node: Node, reader: Instruction) -> str:
    """Return to which reader a new node gives a value, and what that read in its place before."""
    words = f"gives a value to %{reader.name}"
    now = node.frame.node(reader)
    former = node_before(search, now)
    names = [] if former is None else [*former.instruction.operand_names]
    if former is None or len(names) != len(reader.operands) or are_reordered(former, now):
        return words
    read = names[[*reader.operand_names].index(node.instruction.name)]
    return f"{words} in place of %{read}"


def result_of(node: Node) -> str:
    """Return that a new node is a root, of a convert what it converts, maybe back to its type."""
    words, line = "it is the root of its computation", node.instruction
    source = node.frame.computation.operand(line) if line.opcode == "convert" else None
    if source is None:
        return words
    former = node.frame.node(source).partner
    dtype = line.shape.element_type
    back = "back " if former and former.instruction.shape.element_type == dtype else ""
    return f"{words} and converts %{source.name} {back}to {dtype}"
