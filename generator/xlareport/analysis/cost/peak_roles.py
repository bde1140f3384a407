"""The role of a value at the peak of memory, which determines how to reduce it."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from xlareport.analysis.cost.activations import Activation
from xlareport.analysis.cost.occupancy import BufferKey, Occupancy
from xlareport.analysis.cost.stacked import StackedBuffer
from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.analysis.source.locations import op_name_of
from xlareport.analysis.source.scopes import RECOMPUTED
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import ALIASES, CONTROL_FLOW
from xlareport.knowledge.opcodes import is_collective

_DEEPEST = 16


class PeakRole(StrEnum):
    """The role of a value at the peak."""

    WORKING = "working"
    """An operand or result of the instruction at the peak; needed even if recomputed."""
    STACKED = "stacked"
    """A buffer into which a loop writes a slice in each iteration."""
    RECOMPUTED = "recomputed"
    """`jax.checkpoint` computes it again already."""
    ACTIVATION = "activation"
    """A result of the forward pass that the backward pass uses last."""
    OTHER = ""


class PeakRoles:
    """The roles of the values in use at the peak of one module."""

    def __init__(
        self, sources: ValueSources, occupancy: Occupancy, at: str, stacked: Iterable[StackedBuffer]
    ) -> None:
        """`at` is the instruction at the peak, empty where none is."""
        self._sources, self._occupancy = sources, occupancy
        self._working = frozenset(_working(sources, at))
        self._stacks = {(buffer.loop, (buffer.index,)): buffer for buffer in stacked}

    def is_working(self, key: BufferKey) -> bool:
        """Return whether a value is an operand or a result of the instruction at the peak."""
        return key in self._working or any(
            self._shares_place(key, other) for other in self._working
        )

    def find_stack(self, key: BufferKey) -> StackedBuffer | None:
        """Return the loop's stacked buffer in the memory of a value; None if there is none."""
        stacks = self._stacks.items()
        return next((stack for place, stack in stacks if self._shares_place(key, place)), None)

    def role(self, key: BufferKey, activations: Iterable[Activation]) -> PeakRole:
        """Return the role of a value."""
        if self.is_working(key):
            return PeakRole.WORKING
        if self.find_stack(key) is not None:
            return PeakRole.STACKED
        if RECOMPUTED in self._source_op(key[0]):
            return PeakRole.RECOMPUTED
        is_kept = any(activation.key == key for activation in activations)
        return PeakRole.ACTIVATION if is_kept else PeakRole.OTHER

    def op_name(self, key: BufferKey) -> str:
        """Return the op_name of the instruction that computes a value, looking through copies.

        A fusion that moves a value for an op of the framework, such as a slice, has that op's name.
        Of a combined collective it is the op of the member that the value belongs to.
        """
        if key[0] not in self._sources.places:
            return ""
        _, instruction = self._sources.places[key[0]]
        is_fusion = instruction.opcode == "fusion"
        named = op_name_of(instruction, self._sources.module) if is_fusion else ""
        return named or self._source_op(_member(instruction, key[1]))

    def _source_op(self, name: str) -> str:
        source = self._sources.find(name)
        return op_name_of(source[1], self._sources.module) if source else ""

    def _shares_place(self, key: BufferKey, other: BufferKey) -> bool:
        return self._occupancy.share_place(key, other, self._occupancy.position)


def _member(instruction: Instruction, index: tuple[int, ...]) -> str:
    """Return the operand of a collective whose result is at an index, else the collective."""
    names = instruction.operand_names
    is_combined = is_collective(instruction.opcode) and len(names) > 1 and bool(index)
    return names[index[-1]] if is_combined and index[-1] < len(names) else instruction.name


def _working(sources: ValueSources, at: str) -> Iterator[BufferKey]:
    """Yield the operands and the results of an instruction, through elements of tuples."""
    place = sources.places.get(at)
    if place is None or place[1].opcode in CONTROL_FLOW:  # the state of callees
        return
    computation, instruction = place
    yield at, ()
    yield from ((at, (place,)) for place in range(len(instruction.shape.elements)))
    for name in dict.fromkeys(instruction.operand_names):
        yield _buffer(computation, name)


def _buffer(computation: Computation, name: str) -> BufferKey:
    """Return the value that an operand is, through bitcasts and elements of tuples."""
    index: tuple[int, ...] = ()
    for _ in range(_DEEPEST):
        instruction = computation.by_name.get(name)
        if instruction is None or instruction.opcode not in ALIASES:
            break
        index = (*_step(instruction), *index)
        name = next(iter(instruction.operand_names), "")
    return name, index


def _step(instruction: Instruction) -> tuple[int, ...]:
    number = instruction.taken_element
    return () if number is None else (number,)
