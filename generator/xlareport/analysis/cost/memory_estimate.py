"""An estimate of the peak of memory where a dump has the schedule and no buffer assignment.

Every result lives from where it is made to its last use; what only renames a buffer (tuples, their
elements, bitcasts, in-place updates), what a callee gives back, what a loop makes of its state, and
what is written over an argument that was donated take none of their own, and neither do values in
other memory spaces, such as memory on the chip. Padding, sharing of
buffers and copies that the compiler adds later are not seen: an estimate, never a figure of the
dump.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate

from msgspec import Struct

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.cost.layout_spaces import space_of
from xlareport.analysis.cost.shape_sizes import (
    UncountableError,
    iterate_leaves,
    measure_data,
)
from xlareport.hlo.graph import callees_first
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import RUNNERS
from xlareport.hlo.shape import Shape
from xlareport.runtime.whole_numbers import parse_whole_number

_RENAMING = frozenset(
    {
        "add-dependency",
        "after-all",
        "async-done",
        "bitcast",
        "copy-done",
        "dynamic-update-slice",
        "get-tuple-element",
        "opt-barrier",
        "while",
    }
)
_RESULT_OF_START = {
    "copy-start": 0,
    "async-start": 1,
    "all-gather-start": 1,
    "collective-permute-start": 1,
}


class _Buffers(Struct, frozen=True):
    """The buffers of each value of a computation."""

    whole: dict[str, frozenset[str]]
    elements: dict[str, list[frozenset[str]]]
    """Of tuples, element by element."""
    allocating: set[str]
    """Instructions that allocate a buffer of their own."""

    def of(self, operand: str) -> frozenset[str]:
        """Return the makers of the buffers of `x` or `x#2`."""
        name, _, path = operand.partition("#")
        first = parse_whole_number(path.partition("#")[0])
        elements = self.elements.get(name)
        if elements is None:
            return self.whole.get(name, frozenset())
        if first is not None and first < len(elements):
            return elements[first]
        return frozenset().union(*elements)

    def rename(self, instruction: Instruction) -> None:
        """Let an instruction represent the buffers of its first operand."""
        operand = instruction.operands[0]
        if instruction.opcode == "get-tuple-element":
            operand += f"#{instruction.attributes.get('index', '')}"
        elements = self.elements.get(operand)
        if elements is None:
            self.whole[instruction.name] = self.of(operand)
        else:
            self.elements[instruction.name] = elements


class PeakEstimate(Struct, frozen=True):
    """The estimated peak of a module's memory, in bytes."""

    bytes: int
    at: str
    """The instruction of the entry that runs then."""
    curve: tuple[int, ...]
    """Bytes that live while each instruction of the entry runs, in the order of the schedule."""
    living: tuple[tuple[str, int, int, int], ...] = ()
    """(maker, bytes, first, last place) of the entry's buffers at the peak, largest first.

    What is returned has its last place after the schedule.
    """
    grade: str = "guessed"


def estimate_peak(module: HloModule) -> PeakEstimate | None:
    """Estimate the peak; None where there is no schedule, nothing runs, or a size is not known."""
    order = callees_first(module)
    if not order or not order[-1].instructions:
        return None
    if not module.is_scheduled:
        return None
    *called, entry = order
    inside: dict[str, int] = {}
    try:
        for computation in called:
            taken = dict.fromkeys(_of_callers(computation), sys.maxsize)
            inside[computation.name] = max(_curve(computation, inside, taken), default=0)
        donated = _over_arguments(entry, module)
        curve = _curve(entry, inside, donated)
    except UncountableError:
        return None
    peak = max(curve)
    place = curve.index(peak)
    living = sorted(_living(entry, place, donated), key=lambda item: (-item[1], item[0]))
    return PeakEstimate(peak, entry.instructions[place].name, curve, tuple(living))


def _living(
    computation: Computation, at: int, taken: Mapping[str, int]
) -> Iterator[tuple[str, int, int, int]]:
    """Yield the buffers of a computation that live at a place: maker, bytes, first and last."""
    buffers = _buffers(computation)
    last = dict(_last_uses(computation, buffers))
    if computation.root is not None:
        returned = buffers.of(computation.root.name)
        last.update(dict.fromkeys(returned, len(computation.instructions)))
    for place, instruction in enumerate(computation.instructions):
        first = 0 if instruction.opcode == "parameter" else place
        if instruction.name in buffers.allocating and first <= at <= last.get(
            instruction.name, place
        ):
            size = _buffer_bytes(instruction) - min(
                taken.get(instruction.name, 0), _buffer_bytes(instruction)
            )
            yield instruction.name, size, first, last.get(instruction.name, place)


def _of_callers(computation: Computation) -> frozenset[str]:
    """Return the names of parameters and results, which are in the caller's buffers.

    A loop writes its state in place: where it cannot, the compiler has put a copy in.
    """
    given = frozenset(parameter.name for parameter in computation.parameters)
    root = computation.root
    return given | _buffers(computation).of(root.name) if root else given


def _over_arguments(entry: Computation, module: HloModule) -> Mapping[str, int]:
    """Return the bytes of each result that are written over donated arguments."""
    root, counts = entry.root, Counter[str]()
    if root is None:
        return counts
    buffers = _buffers(entry)
    for alias in find_donations(module).aliases:
        place = alias.output[0] if alias.output else 0
        written = root.operands[place : place + 1] if root.opcode == "tuple" else (root.name,)
        for operand in written:
            instruction = entry.by_name.get(operand.partition("#")[0])
            for maker in buffers.of(operand) if instruction else ():
                counts[maker] += measure_data(instruction.shape) if instruction else 0
    for parameter in entry.parameters:
        del counts[parameter.name]
    return counts


def _curve(
    computation: Computation, inside: Mapping[str, int], taken: Mapping[str, int]
) -> tuple[int, ...]:
    """Return the bytes that live while each instruction runs, its callees included.

    `taken` has the bytes of a result that are in buffers of other values.
    """
    buffers = _buffers(computation)
    last = _last_uses(computation, buffers)
    changes = [0] * (len(computation.instructions) + 1)
    for place, instruction in enumerate(computation.instructions):
        if instruction.name in buffers.allocating:
            size = _buffer_bytes(instruction) - min(
                taken.get(instruction.name, 0), _buffer_bytes(instruction)
            )
            changes[0 if instruction.opcode == "parameter" else place] += size
            changes[last.get(instruction.name, place) + 1] -= size
    running = (_called_peak(instruction, inside) for instruction in computation.instructions)
    held = accumulate(changes[: len(computation.instructions)])
    return tuple(outer + inner for outer, inner in zip(held, running, strict=True))


def _buffer_bytes(instruction: Instruction) -> int:
    """Return the bytes of an instruction's buffer in device memory; a start has its operand too."""
    place = _RESULT_OF_START.get(instruction.opcode)
    if place is None or place >= len(instruction.shape.elements):
        return _device_bytes(instruction.shape)
    return _device_bytes(instruction.shape.elements[place])


def _device_bytes(shape: Shape) -> int:
    """Return the bytes of the arrays of a shape whose layout names no other memory space."""
    return sum(measure_data(leaf) for leaf in iterate_leaves(shape) if not space_of(leaf.text))


def _called_peak(instruction: Instruction, inside: Mapping[str, int]) -> int:
    """Return the peak bytes of called computations, without the caller's buffers."""
    if instruction.opcode not in RUNNERS:
        return 0
    return max((inside.get(name, 0) for _, name in instruction.called), default=0)


def _buffers(computation: Computation) -> _Buffers:
    """Follow each value back to the instructions that made the buffers it is in."""
    buffers = _Buffers({}, {}, set())
    for instruction in computation.instructions:
        if instruction.opcode == "tuple":
            buffers.elements[instruction.name] = [
                buffers.of(operand) for operand in instruction.operands
            ]
        elif instruction.opcode in _RENAMING and instruction.operands:
            buffers.rename(instruction)
        else:
            buffers.whole[instruction.name] = frozenset({instruction.name})
            buffers.allocating.add(instruction.name)
    return buffers


def _last_uses(computation: Computation, buffers: _Buffers) -> Mapping[str, int]:
    """Return the last position at which each buffer is used; results are live to the end."""
    end = len(computation.instructions) - 1
    last: dict[str, int] = {}
    for place, instruction in enumerate(computation.instructions):
        for name in (instruction.name, *instruction.operands):
            last.update(dict.fromkeys(buffers.of(name), place))
    last.update((parameter.name, end) for parameter in computation.parameters)
    if computation.root is not None:
        last.update(dict.fromkeys(buffers.of(computation.root.name), end))
    return last
