"""The known instruction that the value of a new one leads to, over other new ones."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import reader_beside
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side

_MOST_STEPS = 100
"""Limit on new instructions that are followed to a known one."""


def led_to(side: Side, user: Node, position: int) -> str:
    """Return text that names what a new user, which reads a value so, leads to; '' if nothing."""
    known = known_reader(side, user, position)
    if known is None:
        return ""
    return f", which leads to %{reader_beside(user, known[0]).instruction.name}"


def known_reader(side: Side, user: Node, position: int) -> tuple[Node, int] | None:
    """Return the known instruction that a new user leads to, and which operand; None if none."""
    for _ in range(_MOST_STEPS):
        readers = [*readers_of_value(side, user, position)]
        known = next((read for read in readers if read[0].partner), None)
        if known is not None:
            return known
        following = next((read for read in readers if not read[0].kept), None)
        if following is None:
            break
        user, position = following
    return None


def readers_of_value(side: Side, user: Node, position: int) -> Iterator[tuple[Node, int]]:
    """Yield the readers of a new user's result, with their operand; of a tuple those of a value."""
    for reader, place in side.users.get(user, ()):
        line = reader.instruction
        takes_one = user.instruction.opcode == "tuple" and line.opcode == "get-tuple-element"
        if not takes_one or line.taken_element in (position, None):
            yield reader, place
