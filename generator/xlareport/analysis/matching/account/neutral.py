"""Removed operations that give an operand as it is, such as a sum with 0, and what these read."""

from xlareport.analysis.matching.search.reasons import GivesOperand
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.passed import beside_neutral, scalar_of
from xlareport.analysis.matching.sides.side import Side

_MOST_STEPS = 8
"""Limit on the moves between a constant and the operation beside whose operand it stands."""


def gives_operand(side: Side, node: Node) -> GivesOperand | None:
    """Return which operand an operation gives as it is, and beside what; None if it gives none."""
    place, operands = beside_neutral(side, node), side.graph.operands(node)
    names = [*node.instruction.operand_names]
    if place is None or len(names) != len(operands):
        return None
    numbers = [scalar_of(side, operand) for operand, _ in operands]
    others = tuple(number or "" for number in [*numbers[:place], *numbers[place + 1 :]])
    return GivesOperand(names[place], others)


def beside_given(side: Side, node: Node) -> str:
    """Return that a removed constant changed nothing in what read it; '' if that is not so.

    Its only reader, maybe behind removed moves of it.
    """
    start = node
    for _ in range(_MOST_STEPS if node.constant else 0):
        users = side.users.get(node, ())
        if len(users) != 1 or users[0][0].partner is not None or users[0][0].kept:
            return ""
        ((user, position),) = users
        given = gives_operand(side, user)
        if given is not None and beside_neutral(side, user) != position:
            subject = "it" if node is start else f"%{user.instruction.name}"
            return f"{subject} gave %{given.operand} as it is"
        node = user
    return ""
