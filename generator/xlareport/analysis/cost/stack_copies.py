"""Copies of buffers that loops stack: transposed or converted between two loops, for the second."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from xlareport.analysis.cost.occupancy import BufferKey
from xlareport.analysis.cost.stacked import StackedBuffer
from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.knowledge.opcodes import is_collective


class StackCopy(Struct, frozen=True):
    """A value that is moved out of a stacked buffer, which may be in use no more."""

    key: BufferKey
    size: int
    """Bytes of its place in memory."""
    buffer: StackedBuffer


def find_stack_copies(
    values: Iterable[tuple[BufferKey, int]], stacks: Iterable[StackedBuffer], sources: ValueSources
) -> tuple[StackCopy, ...]:
    """Return the copies of stacked buffers among values with their bytes.

    What a collective returns is no copy: devices gather it anew.
    """
    by_place = {(stack.computation, stack.loop, stack.index): stack for stack in stacks}
    behind = (
        (key, size, by_place.get(place))
        for key, size in values
        for place in _elements_behind(key[0], sources)
    )
    return tuple(StackCopy(key, size, stack) for key, size, stack in behind if stack is not None)


def _elements_behind(name: str, sources: ValueSources) -> Iterator[tuple[str, str, int]]:
    """Yield the loop state that a value is moved from: computation, loop and place."""
    for computation, instruction in sources.trail(name):
        if is_collective(instruction.opcode):
            return
        element = instruction.taken_element
        if element is not None and instruction.operands:
            yield computation.name, instruction.operands[0], element
            return
