"""The estimated time of fusions and the bytes that they access, shared among what they contain.

An estimate. Each matrix product has at least the time of its arithmetic, so that no part of a
program is faster than the chip; the rest of the time goes by what limits the fusion: by bytes, by
other arithmetic, or by what is sent. The compiler's cycles of a fusion with matrix products are
those of the products, but for the least time of everything else: the same product has the same
cycles with and without elementwise operations fused into it. Bytes belong to what reads a
parameter, or is a result. What only moves the elements that it reads, such as the slice of a
layer's weights, reads them for those that use them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import accumulate, pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.cost.roofline import estimate_time
from xlareport.analysis.cost.time_basis import TimeBasis, choose_basis
from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.hlo.graph import callees_first, readers_behind
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import MOVES, NO_CODE
from xlareport.hlo.shape import Shape
from xlareport.knowledge.devices import Device

_READS_PART = frozenset({"slice", "dynamic-slice", "gather", "dynamic-update-slice", "scatter"})
"""Their first operand is read only as far as they touch it."""
_UPDATE = {"dynamic-update-slice": 1, "scatter": 2}
"""Index of the operand whose shape determines how much of the result is written."""
_MOVES = MOVES | {"convert", "dynamic-slice"}
"""They compute nothing with the elements that they read."""
_OTHER_SPACE = "S("
_TILES = "T("
"""Marks tiles in TPU layouts, with which values can be outside of the device memory."""


class Shares(Struct, frozen=True):
    """Seconds and bytes of all executions of each instruction; those of fusions are divided."""

    seconds: Mapping[InstructionKey, float]
    """The estimated time, by the basis of the module."""
    bytes: Mapping[InstructionKey, int]
    """Bytes accessed."""
    whole: Mapping[InstructionKey, float]
    """The estimated time without division: fusions as a whole, their contents 0."""
    parts: Mapping[InstructionKey, float]
    """The estimated time, of a fusion with all that it contains, also in another fusion."""


class _Weight(Struct, frozen=True):
    """Work of an instruction in a fusion, in one execution."""

    products: float = 0.0
    """Seconds of matrix products."""
    others: float = 0.0
    """Seconds of other arithmetic."""
    sent: float = 0.0
    """Seconds of collectives."""
    moved: int = 0
    """Bytes read of parameters and written as results."""
    in_main_memory: int = 0
    """Bytes that are in the device memory."""

    def __add__(self, other: "_Weight") -> "_Weight":
        return _Weight(
            self.products + other.products,
            self.others + other.others,
            self.sent + other.sent,
            self.moved + other.moved,
            self.in_main_memory + other.in_main_memory,
        )

    def least(self, bound: str, device: Device) -> float:
        """Return the least time in seconds of one execution, in a fusion with this bound.

        Arithmetic hides accesses to the device memory unless these are the bound.
        """
        accesses = self.in_main_memory / device.bandwidth if bound == "memory" else 0.0
        return max(self.products + self.others, accesses, self.sent)

    def rate(self, bound: str, basis: TimeBasis) -> float:
        """Return the work that determines a fusion's time with this bound, besides its dots.

        Unlike the roofline, cycles include accesses to on-chip memory.
        """
        accessed = self.moved if basis.clock else self.in_main_memory
        rates = {"memory": accessed, "compute": self.others, "interconnect": self.sent}
        return rates[bound]


class _Inside(Struct):
    """A fused computation, with what its callers pass and keep in memory."""

    read: set[int] = field(default_factory=set)
    """Numbers of the parameters that are in memory."""
    written: bool = False
    """Whether the result is in memory."""
    bound: str = "memory"
    """The bound of the fusion that contains it."""
    seconds: float = 0.0
    """Time of all its callers, to be shared among its instructions."""
    bytes: int = 0


class _Fusions:
    """The fused computations of a module, callers first."""

    def __init__(self, module: HloModule, cost: ModuleCost, device: Device) -> None:
        self._cost, self._device = cost, device
        self.callers_first = tuple(reversed(callees_first(module) or ()))
        self._called = {computation.name: _fused(computation) for computation in self.callers_first}
        self.inside: dict[str, _Inside] = defaultdict(_Inside)
        for computation in self.callers_first:
            self._enter(computation)
        self._moving: set[str] = set()
        """Computations that only move elements."""
        self._weights: dict[str, dict[str, _Weight]] = {}
        for computation in reversed(self.callers_first):
            if computation.name in self.inside:
                self._weights[computation.name] = self._weigh(computation)

    def called(self, computation: Computation) -> Iterator[tuple[str, str]]:
        """Yield the fusions of a computation with divisible contents, and their computations."""
        for fusion, called in self._called[computation.name].items():
            if any(weight != _Weight() for weight in self._weights.get(called, {}).values()):
                yield fusion, called

    def weights(self, computation: Computation) -> Mapping[str, _Weight]:
        """Return the weights of the instructions of a fused computation, by name."""
        return self._weights.get(computation.name, {})

    def _enter(self, computation: Computation) -> None:
        """Record where the operands and results of a computation's fusions are."""
        around = self.inside.get(computation.name)
        read, written = _outside(computation, around) if around else (set(), set())
        for name, called in self._called[computation.name].items():
            fusion, inner = computation.by_name[name], self.inside[called]
            operands = enumerate(fusion.operands)
            inner.read.update(n for n, operand in operands if around is None or operand in read)
            inner.written = inner.written or around is None or name in written
            if around is not None:
                inner.bound = around.bound
            elif instruction_cost := self._cost.instructions.get((computation.name, name)):
                least = estimate_time(instruction_cost, self._device)
                inner.bound = least.bound if least else "memory"

    def _weigh(self, computation: Computation) -> dict[str, _Weight]:
        outside = _outside(computation, self.inside[computation.name])
        called = self._called[computation.name]
        weights = {}
        for instruction in computation.instructions:
            instruction_cost = self._cost.instructions.get((computation.name, instruction.name))
            if instruction_cost is None or instruction.opcode in NO_CODE:
                continue
            inner = self._weights.get(called.get(instruction.name, ""))
            weights[instruction.name] = (
                sum(inner.values(), _Weight())
                if inner is not None
                else self._weight(instruction, instruction_cost, computation, outside)
            )
        moves = {
            instruction.name
            for instruction in computation.instructions
            if instruction.opcode in _MOVES or called.get(instruction.name, "") in self._moving
        }
        if all(instruction.name in moves for instruction in _computing(computation)):
            self._moving.add(computation.name)
        _pass_on_reads(computation, weights, moves - outside[1])
        return weights

    def _weight(
        self,
        instruction: Instruction,
        known: InstructionCost,
        computation: Computation,
        outside: tuple[set[str], set[str]],
    ) -> _Weight:
        moved = tuple(_transferred_bytes(instruction, computation, outside))
        device = self._device
        least = estimate_time(known, device)
        return _Weight(
            sum(flops / device.matrix_peak(kind) for kind, flops in known.matrix_flops),
            sum(flops / device.vector_peak(kind) for kind, flops in known.vector_flops),
            least.interconnect if least else 0.0,
            sum(size for size, _ in moved),
            sum(size for size, in_main_memory in moved if in_main_memory),
        )


def _computing(computation: Computation) -> Iterator[Instruction]:
    """Yield the instructions that compute arrays; scalars are only positions of slices."""
    for instruction in computation.instructions:
        if instruction.shape.dimensions and instruction.opcode not in NO_CODE:
            yield instruction


def _pass_on_reads(
    computation: Computation, weights: dict[str, _Weight], moves: Collection[str]
) -> None:
    """Divide the bytes that data movement reads in a fusion equally among the users."""
    for instruction in computation.instructions:
        weight = weights.get(instruction.name)
        if instruction.name not in moves or weight is None:
            continue
        users = [name for name in _users(computation, instruction) if name in weights]
        if not users:
            continue
        weights[instruction.name] = replace(weight, moved=0, in_main_memory=0)
        moved = _split(weight.moved, [1] * len(users))
        in_main_memory = _split(weight.in_main_memory, [1] * len(users))
        for user, size, main in zip(users, moved, in_main_memory, strict=True):
            weights[user] += _Weight(moved=size, in_main_memory=main)


def _users(computation: Computation, instruction: Instruction) -> list[str]:
    """Return the names of what uses a value, through instructions that run nothing."""
    readers = readers_behind(computation, instruction.name, NO_CODE)
    return [reader.name for reader in readers if reader.opcode not in NO_CODE]


def share_fusions(module: HloModule, cost: ModuleCost, device: Device) -> Shares:
    """Return seconds and bytes of each instruction, with those of fusions divided.

    A fusion keeps its own if its computation is missing or has no countable work.
    """
    basis = choose_basis(cost, device)
    whole = basis.times(cost)
    seconds, undivided = dict(whole), dict[InstructionKey, float]()
    moved = {
        key: work.of_all_runs(work.bytes_accessed) or 0 for key, work in cost.instructions.items()
    }
    fusions = _Fusions(module, cost, device)
    for computation in fusions.callers_first:
        weights = fusions.weights(computation)
        inside = fusions.inside.get(computation.name)
        if inside is not None and weights:
            runs = max(cost.instructions[computation.name, name].counted for name in weights)
            times = _share_seconds(inside, list(weights.values()), runs, basis)
            sizes = _split(inside.bytes, [weight.moved for weight in weights.values()])
            for name, time, size in zip(weights, times, sizes, strict=True):
                seconds[computation.name, name] += time
                moved[computation.name, name] += size
        for fusion, called in fusions.called(computation):
            key = computation.name, fusion
            inner = fusions.inside[called]
            undivided[key] = seconds.get(key, 0.0)
            inner.seconds += undivided[key]
            inner.bytes += moved.get(key, 0)
            seconds[key] = 0.0
            moved[key] = 0
    return Shares(seconds, moved, whole, {**seconds, **undivided})


def _share_seconds(
    inside: _Inside, weights: list[_Weight], runs: int, basis: TimeBasis
) -> list[float]:
    """Share the time of a fused computation, that of all its callers, among its instructions."""
    floors = [weight.products * runs for weight in weights]
    if not (basis.clock and any(floors)):
        return _fill(
            inside.seconds, floors, [weight.rate(inside.bound, basis) for weight in weights]
        )
    least = [weight.least(inside.bound, basis.device) * runs for weight in weights]
    if sum(least) <= inside.seconds:
        return _fill(inside.seconds, least, floors)
    beyond = [time - floor for time, floor in zip(least, floors, strict=True)]
    return _fill(inside.seconds, floors, beyond)


def _fill(whole: float, floors: list[float], rates: list[float]) -> list[float]:
    """Share a whole by rates, so that none has less than its floor.

    Where the floors are more than the whole, or no rate is known, it goes by the floors.
    """
    least = sum(floors)
    if least >= whole or not any(rates):
        equal = [1.0] * len(floors)
        by = floors if least else rates if any(rates) else equal
        return [whole * weight / sum(by) for weight in by]
    waiting = sorted(range(len(rates)), key=lambda n: floors[n] / rates[n] if rates[n] else 0.0)
    remainder, active = whole - least, 0.0
    level = 0.0
    for number in waiting:
        if not rates[number]:
            continue
        start = floors[number] / rates[number]
        if active and level + remainder / active <= start:
            break
        remainder -= (start - level) * active
        level = start
        active += rates[number]
    level += remainder / active
    return [max(floor, level * rate) for floor, rate in zip(floors, rates, strict=True)]


def _split(whole: int, weights: list[int]) -> list[int]:
    """Split a whole number by weights, evenly where all are 0; the parts add up to it."""
    if not any(weights):
        weights = [1] * len(weights)
    ends = [whole * before // sum(weights) for before in accumulate(weights, initial=0)]
    return [end - start for start, end in pairwise(ends)]


def _fused(computation: Computation) -> Mapping[str, str]:
    """Return the computation name of each fusion, by the fusion's name."""
    fusions = (
        instruction for instruction in computation.instructions if instruction.opcode == "fusion"
    )
    return {fusion.name: name for fusion in fusions for _, name in fusion.called[:1]}


def _transferred_bytes(
    instruction: Instruction, computation: Computation, outside: tuple[set[str], set[str]]
) -> Iterator[tuple[int, bool]]:
    """Yield the bytes that an instruction reads of parameters, and writes of results.

    With whether they are in the device memory.
    """
    read, written = outside
    touched = _touched(instruction, computation)
    for number, name in enumerate(dict.fromkeys(instruction.operands)):
        if name in read:
            in_part = number == 0 and instruction.opcode in _READS_PART
            shape = computation.by_name[name].shape
            yield (
                min(_known_bytes(shape), touched) if in_part else _known_bytes(shape),
                _in_main_memory(shape),
            )
    if instruction.name in written:
        yield touched, _in_main_memory(instruction.shape)


def _touched(instruction: Instruction, computation: Computation) -> int:
    """Return the bytes of the result, of a buffer that is updated those of the update."""
    number = _UPDATE.get(instruction.opcode)
    if number is not None and number < len(instruction.operands):
        update = computation.by_name.get(instruction.operands[number])
        return _known_bytes((update or instruction).shape)
    return _known_bytes(instruction.shape)


def _outside(computation: Computation, inside: _Inside) -> tuple[set[str], set[str]]:
    """Return names of values read from memory and of values written, through free instructions."""
    read = {
        parameter.name
        for number, parameter in enumerate(computation.parameters)
        if number in inside.read
    }
    for instruction in computation.instructions:
        through = instruction.opcode in ("bitcast", "get-tuple-element")
        if through and instruction.operands and instruction.operands[0] in read:
            read.add(instruction.name)
    written = {computation.root.name} if computation.root and inside.written else set[str]()
    for instruction in reversed(computation.instructions):
        if instruction.opcode in NO_CODE and instruction.name in written:
            written.update(instruction.operands)
    return read, written


def _known_bytes(shape: Shape) -> int:
    return shape.byte_size or 0


def _in_main_memory(shape: Shape) -> bool:
    return not (_TILES in shape.text and _OTHER_SPACE in shape.text)
