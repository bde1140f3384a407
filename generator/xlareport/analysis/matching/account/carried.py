"""What became of a value that a loop was given, where the loop carries fewer values now."""

from collections.abc import Iterator

from xlareport.analysis.matching.account.passed_values import behind_transfers
from xlareport.analysis.matching.search.nodes import node_after
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.element_orders import kinds_of
from xlareport.analysis.matching.sides.elements import loop_given
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.passed import passed_operand
from xlareport.hlo.model import Instruction

_LONGEST = 32
"""Moves in a row that are looked through."""


def dropped(search: Search, node: Node, partner: Node | None, user: Instruction) -> Iterator[str]:
    """Yield which loop carries less than the tuple that read an instruction gave it.

    Or what it carries instead, where the instruction only passed that on.
    """
    if partner is None or len(partner.instruction.operands) >= len(user.operands):
        return
    loop = loop_given(search.after, partner)
    if loop is None:
        return
    name = _carried_instead(search, node, partner)
    if name:
        yield f"%{partner.instruction.name} uses %{name} instead"
    elif _has_fewer(partner.instruction, user, node.instruction):
        yield f"%{loop.instruction.name} no longer carries it"


def _has_fewer(tuple_now: Instruction, former: Instruction, line: Instruction) -> bool:
    """Return whether a tuple has fewer elements of the kind of a line now."""
    kind = line.shape.element_type, len(line.shape.dimensions)
    counts = [[*kinds_of(known.shape)].count(kind) for known in (tuple_now, former)]
    return counts[0] < counts[1]


def _carried_instead(search: Search, node: Node, partner: Node) -> str:
    """Return the name of what a tuple has now of the value that a node passed on; empty if none."""
    names = [*partner.instruction.operand_names]
    operands = search.after.graph.operands(partner)
    if len(names) != len(operands):
        return ""
    for source in _sources(search, node):
        after = node_after(search, source)
        for name, (operand, path) in zip(names, operands, strict=True):
            if after is not None and not path and behind_transfers(search.after, operand) is after:
                return name
    return ""


def _sources(search: Search, node: Node) -> Iterator[Node]:
    """Yield the values that a node passes on, from the nearest."""
    for _ in range(_LONGEST):
        place = passed_operand(search.before, node)
        if place is None:
            return
        node, path = search.before.graph.operands(node)[place]
        if path:
            return
        yield node
