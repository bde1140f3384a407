"""How much of its heap libtpu counts as used: it adds the rest, the fragmentation, to its temp.

Found by comparing with `memory_analysis()`. libtpu follows allocations in schedule order.
A value that must have the memory of another one, since a loop carries it or an operation updates it
in place, is not counted: where several follow one another, only the first is, until it dies.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from msgspec import Struct

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.readers.buffer_assignment import Allocation, BufferValue
from xlareport.readers.live_range import LiveRange, LiveRanges

CARRIED = frozenset({"parameter", "while"})
"""Opcodes of values that a loop carries: they have the memory of its initial value."""
_UPDATES = frozenset({"dynamic-update-slice", "scatter"})
"""Opcodes whose result shares the buffer of the first operand."""


def measure_heap_use(allocation: Allocation, live: LiveRanges, module: HloModule) -> int:
    """Return the most bytes of a heap that count as used at once, tables of tuples throughout."""
    names = _Names.of(module)
    ranges = {(item.instruction, item.index): item for item in live.ranges}
    end = max((item.end for item in live.ranges), default=0)
    places: dict[tuple[int, int], list[_Lives]] = defaultdict(list)
    for value in allocation.values:
        if value.size and not is_table(value):
            lives = ranges.get((value.instruction, value.index))
            places[value.offset, value.size].append(_Lives.of(value, lives, end))
    counted = (
        span
        for values in places.values()
        for chain in _follow(values)
        for span in _count(chain, names)
    )
    return count_most(counted) + _table_bytes(allocation)


def is_table(value: BufferValue) -> bool:
    """Return whether a value is the table of pointers of a tuple."""
    return value.shape.startswith("(")


class _Lives(Struct, frozen=True):
    """A value with the positions of the schedule from which and to which it lives."""

    value: BufferValue
    start: int
    end: int

    @classmethod
    def of(cls, value: BufferValue, lives: LiveRange | None, end: int) -> "_Lives":
        """Return the value with its live range; without one, it is live throughout."""
        return cls(value, lives.start, lives.end) if lives else cls(value, 0, end)


class _Names(Struct, frozen=True):
    """The instructions and computations of a module by name."""

    instructions: Mapping[str, Instruction]
    computations: Mapping[str, Computation]

    @classmethod
    def of(cls, module: HloModule) -> "_Names":
        instructions = {instruction.name: instruction for instruction in module.instructions}
        return cls(instructions, {item.name: item for item in module.computations})


def _follow(values: Iterable[_Lives]) -> Iterator[list[_Lives]]:
    """Yield chains of values that occupy the same place without a gap in time."""
    chain: list[_Lives] = []
    last = 0
    for lives in sorted(values, key=lambda lives: (lives.start, lives.value.id)):
        if chain and lives.start > last:
            yield chain
            chain = []
        last = max(last, lives.end) if chain else lives.end
        chain.append(lives)
    if chain:
        yield chain


def _count(chain: list[_Lives], names: _Names) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and bytes of what counts of values that follow one another.

    Where an operation only may take the memory of an operand that dies, as an all-reduce does, each
    value counts until the next one begins.
    """
    if any(_must_share(lives.value, names) for lives in chain):
        first = chain[0]
        yield first.start, first.end, first.value.size
        return
    for lives, following in pairwise(chain):
        yield lives.start, min(lives.end, following.start - 1), lives.value.size
    yield chain[-1].start, chain[-1].end, chain[-1].value.size


def _must_share(value: BufferValue, names: _Names) -> bool:
    instruction = names.instructions.get(value.instruction)
    if instruction is None:
        return False
    if instruction.opcode == "fusion":
        updated = _fused_result(instruction, value.index, names)
        return updated is not None and updated.opcode in _UPDATES
    return instruction.opcode in CARRIED or instruction.opcode in _UPDATES


def _fused_result(fusion: Instruction, index: tuple[int, ...], names: _Names) -> Instruction | None:
    """Return the instruction in a fusion that computes one of its results."""
    fused = next((names.computations.get(name) for _, name in fusion.called), None)
    root = fused.root if fused is not None else None
    if fused is None or root is None:
        return None
    if root.opcode == "tuple" and index and index[0] < len(root.operand_names):
        root = fused.by_name.get(root.operand_names[index[0]])
    while root is not None and root.opcode == "bitcast" and root.operand_names:
        root = fused.operand(root)
    return root


def count_most(spans: Iterable[tuple[int, int, int]]) -> int:
    """Return the most bytes at one position, of spans: first position, last position, bytes."""
    changes: Counter[int] = Counter()
    for start, end, size in spans:
        changes[start] += size
        changes[end + 1] -= size
    used = most = 0
    for position in sorted(changes):
        used += changes[position]
        most = max(most, used)
    return most


def _table_bytes(allocation: Allocation) -> int:
    """Return the bytes of the tables, those at one place once."""
    return sum(
        {value.offset: value.size for value in allocation.values if is_table(value)}.values()
    )
