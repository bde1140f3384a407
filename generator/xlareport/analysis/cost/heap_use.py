"""How much of its heap libtpu counts as used: it adds the rest, the fragmentation, to its temp.

Found by comparing with `memory_analysis()`. libtpu follows allocations in schedule order.
A value that must have the memory of another one, since a loop carries it or an operation updates it
in place, is not counted: where several follow one another, only the first is, until it dies.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from msgspec import Struct

from xlareport.hlo.model import HloModule, Instruction
from xlareport.readers.buffer_assignment import Allocation, BufferValue
from xlareport.readers.live_range import LiveRanges

CARRIED = frozenset({"parameter", "while"})
"""Opcodes of values that a loop carries: they have the memory of its initial value."""
_UPDATES = frozenset({"dynamic-update-slice", "scatter"})
"""Opcodes whose result shares the buffer of the first operand."""


def measure_heap_use(allocation: Allocation, live: LiveRanges, module: HloModule) -> int:
    """Return the most bytes of a heap that count as used at once, tables of tuples throughout."""
    lines = {line.name: line for line in module.instructions}
    ranges = live.by_value
    end = max((item.end for item in live.ranges), default=0)
    places: dict[tuple[int, int], list[_Lives]] = defaultdict(list)
    for value in allocation.values:
        if value.size and not is_table(value):
            lives = ranges.get((value.instruction, value.index))
            start, last = (lives.start, lives.end) if lives else (0, end)
            places[value.offset, value.size].append(_Lives(value, start, last))
    counted = (
        span
        for values in places.values()
        for chain in _follow(values)
        for span in _count(chain, module, lines)
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
    """Of a value without a live range, the whole schedule."""


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


def _count(
    chain: list[_Lives], module: HloModule, lines: Mapping[str, Instruction]
) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and bytes of what counts of values that follow one another.

    Where an operation only may take the memory of an operand that dies, as an all-reduce does, each
    value counts until the next one begins.
    """
    if any(_must_share(module, lines, lives.value) for lives in chain):
        first = chain[0]
        yield first.start, first.end, first.value.size
        return
    for lives, following in pairwise(chain):
        yield lives.start, min(lives.end, following.start - 1), lives.value.size
    yield chain[-1].start, chain[-1].end, chain[-1].value.size


def _must_share(module: HloModule, lines: Mapping[str, Instruction], value: BufferValue) -> bool:
    instruction = lines.get(value.instruction)
    if instruction is None:
        return False
    if instruction.opcode == "fusion":
        updated = _fused_result(module, instruction, value.index)
        return updated is not None and updated.opcode in _UPDATES
    return instruction.opcode in CARRIED or instruction.opcode in _UPDATES


def _fused_result(
    module: HloModule, fusion: Instruction, index: tuple[int, ...]
) -> Instruction | None:
    """Return the instruction in a fusion that computes one of its results."""
    fused = module.callee(fusion)
    root = fused.root if fused is not None else None
    if fused is None or root is None:
        return None
    if root.opcode == "tuple" and index and index[0] < len(root.operand_names):
        root = fused.operand(root, index[0])
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
