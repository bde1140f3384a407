"""The cost of a module: FLOPs, transcendentals, bytes accessed, by instruction and in total.

There are two counts, never mixed: XLA's own, for verification, and the report's, which multiplies
loops by their trip counts and derives known custom calls from their shapes. FLOPs are classified:
matrix operations by precision, all others by type.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

from msgspec import Struct, field

from xlareport.analysis.cost.executions import Runs, count_executions
from xlareport.analysis.cost.instruction_flops import find_arithmetic_type
from xlareport.analysis.cost.loops import Loops, TripCount
from xlareport.analysis.cost.partitions import has_local_shapes
from xlareport.analysis.cost.precision import PRODUCTS, name_product
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.totals import (
    Composition,
    OwnCost,
    Tallies,
    Tally,
    Total,
    total_of,
)
from xlareport.analysis.cost.wire import CollectiveTraffic, find_traffic
from xlareport.analysis.cost.xla_count import XlaCount
from xlareport.hlo.graph import callees_first
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey

_ByKind = Mapping[tuple[bool, str], int]
"""(whether it is a product, kind) -> flops."""


class Products(Struct, frozen=True):
    """The arithmetic of a module's computations; each computation is summed up once."""

    tallies: Mapping[str, Tally]
    known: dict[str, Counter[tuple[bool, str]]] = field(default_factory=dict)

    def of(self, local: OwnCost, *, products: bool) -> tuple[tuple[str, int], ...]:
        """Return (kind, flops) of an instruction, including its fused or applied computations.

        The kind of a matmul is that of `name_product`, the kind of other work an element type.
        """
        return tuple(
            sorted(
                (kind, flops)
                for (is_product, kind), flops in self._sum_own(local).items()
                if is_product is products
            )
        )

    def add(self, name: str) -> None:
        """Sum up a computation; those that it calls were added before."""
        total: Counter[tuple[bool, str]] = Counter()
        for local in self.tallies[name].locals:
            total.update(self._sum_own(local))
        self.known[name] = total

    def _sum_own(self, local: OwnCost) -> _ByKind:
        if local.instruction.opcode == "fusion":
            name = next((name for _, name in local.instruction.called), "")
            return self.known.get(name, Counter())
        total: Counter[tuple[bool, str]] = Counter()
        work = local.work
        if local.instruction.opcode in PRODUCTS and work is not None and work.flops:
            total[True, name_product(local.site)] += work.flops
        elif work is not None and work.flops + work.transcendentals:
            total[False, find_arithmetic_type(local.site)] += work.flops + work.transcendentals
        for name, times in local.applied.items():
            for key, flops in self.known.get(name, Counter()).items():
                total[key] += flops * times
        return total


class WorkFigures(Struct, frozen=True):
    """FLOPs and bytes of an instruction or a module. None is not known."""

    flops: int | None
    transcendentals: int | None
    bytes_read: int | None
    bytes_written: int | None
    main_memory_bytes: int | None
    """Bytes accessed in the device memory: on TPUs with the padding of tiles, without VMEM."""

    @property
    def bytes_accessed(self) -> int | None:
        """Bytes read and written; None where either is not known."""
        if self.bytes_read is None or self.bytes_written is None:
            return None
        return self.bytes_read + self.bytes_written

    @property
    def stored_bytes(self) -> int | None:
        """Bytes accessed in the device memory, which the time is of, where not `bytes_accessed`."""
        return None if self.main_memory_bytes == self.bytes_accessed else self.main_memory_bytes

    @property
    def intensity(self) -> float | None:
        """FLOPs per byte of device memory; None if either is unknown or there is no traffic."""
        if self.flops is None or not self.main_memory_bytes:
            return None
        return self.flops / self.main_memory_bytes


class InstructionCost(WorkFigures, frozen=True):
    """The cost of one execution of an instruction, with fused computations; None if unknown."""

    matrix_flops: tuple[tuple[str, int], ...]
    """The FLOPs of matmuls, by kind: see `name_product`."""
    executions: int | None
    """How often a run of the module runs it; None where that is not known."""
    counted: int
    """How often the module's totals count it: an unknown loop once, a branch not taken never."""
    fused: bool
    """Inside a fusion: its arithmetic is part of the fusion's, its bytes never reach memory."""
    grade: str
    """`exact`, `matched` or `guessed`, for the figures of one execution."""
    note: str
    """Why it is not exact; empty where it is."""
    vector_flops: tuple[tuple[str, int], ...] = ()
    """The other FLOPs and the transcendentals, by element type."""
    traffic: tuple[CollectiveTraffic, ...] = ()
    """The data sent by a collective or by those in a fusion; also empty if unknown."""
    cycles: int | None = None
    """The TPU compiler's estimated cycles; None where the dump has none."""

    @property
    def wire_bytes(self) -> int:
        """Minimum bytes that one device sends for a collective; 0 if unknown."""
        return sum(collective.wire_bytes for collective in self.traffic)

    def of_all_runs(self, figure: int | None) -> int | None:
        """Return a figure times the executions that the totals count; None if unknown."""
        return None if figure is None else figure * self.counted


class ModuleCost(Struct, frozen=True):
    """The cost of one run of a module on one device. Unknown figures are None."""

    flops: int | None
    """Bounds, as `name_bound` says; so are the next two."""
    transcendentals: int | None
    bytes_accessed: int | None
    unknown_ops: int
    """Number of instructions that were not counted, and of loops with unknown trip count."""
    xla_flops: int | None
    """As XLA counts: loop bodies once, -1 for each custom call."""
    xla_transcendentals: int | None
    xla_bytes_accessed: int | None
    num_partitions: int
    """Devices over which the module's data are split."""
    per_device: bool
    """Whether the figures are for one of several partitions, as after partitioning."""
    instructions: Mapping[InstructionKey, InstructionCost]
    """Of every computation that the entry reaches, fused ones too (see `fused`)."""
    trip_counts: Mapping[InstructionKey, TripCount]
    """Of every loop that the entry reaches."""
    num_replicas: int = 1
    """Devices that run the same module on data of their own."""
    branches: int = 0
    """Conditionals that count as their costliest branch, where another would make a difference."""
    has_all_cycles: bool = False
    """Whether nearly all arithmetic has the TPU compiler's estimated cycles."""

    @property
    def num_devices(self) -> int:
        """Devices that do so much each: partitions, once there are any, times replicas."""
        return (self.num_partitions if self.per_device else 1) * self.num_replicas

    def placed(
        self, module: HloModule
    ) -> Iterator[tuple[Computation, Instruction, InstructionCost]]:
        """Yield the instructions of a module whose cost is known, in its order."""
        for computation, instruction in module.placed:
            cost = self.instructions.get((computation.name, instruction.name))
            if cost is not None:
                yield computation, instruction, cost


class Costs:
    """Counts modules, each once; computations that modules share are counted once, too."""

    def __init__(self) -> None:
        self._modules: WeakKeyDictionary[HloModule, ModuleCost] = WeakKeyDictionary()
        self._tallies: WeakKeyDictionary[Computation, Tally] = WeakKeyDictionary()
        self._counted_before = Tallies()

    def module(self, module: HloModule) -> ModuleCost:
        """Return the cost of a module; unknown with recursive calls or implausible counts."""
        cost = self._modules.get(module)
        if cost is None:
            cost = self._modules[module] = self._count_module(module)
        return cost

    def total(self, module: HloModule) -> Total | ModuleCost | None:
        """Return the total cost of a module without details of instructions; None if unknown."""
        cost = self._modules.get(module)
        if cost is not None:
            return cost
        summed = self._summed(module)
        return summed.composition.own[summed.order[-1].name] if summed else None

    def part(
        self, module: HloModule, is_meant: Callable[[Computation, Instruction], bool]
    ) -> Total | None:
        """Return what some instructions have of a module's total, with what these run."""
        summed = self._summed(module)
        return summed and total_of(summed.parts(is_meant))

    def _count_module(self, module: HloModule) -> ModuleCost:
        summed = self._summed(module)
        if summed is None:
            return _unknown_cost(module)
        order, composition, runs = summed
        xla = XlaCount(composition)
        for computation in order:
            xla.add(computation)
        entry = order[-1].name
        instructions = _instruction_costs(order, composition, runs)
        return _module_cost(module, composition.own[entry], xla.totals[entry], runs, instructions)

    def _summed(self, module: HloModule) -> "_Summed | None":
        order = callees_first(module)
        if not order:
            return None
        tallies = {computation.name: self._tally(computation) for computation in order}
        composition = Composition(module, tallies, Loops(module))
        try:
            for computation in order:
                composition.add(computation)
            return _Summed(order, composition, count_executions(order, composition))
        except UncountableError:
            return None

    def _tally(self, computation: Computation) -> Tally:
        tally = self._tallies.get(computation)
        if tally is None:
            tally = self._tallies[computation] = self._counted_before.of(computation)
        return tally


class _Summed(NamedTuple):
    """The sums of a module's computations, callees first, and how often each runs."""

    order: tuple[Computation, ...]
    composition: Composition
    runs: Runs

    def parts(self, is_meant: Callable[[Computation, Instruction], bool]) -> Iterator[Total]:
        """Yield the cost of all executions of each instruction that is meant."""
        for computation in self.order:
            name = computation.name
            for local in self.composition.tallies[name].locals:
                if name not in self.runs.applied and is_meant(computation, local.instruction):
                    cost = self.composition.cost(computation, local)
                    cost = cost.arithmetic() if name in self.runs.fused else cost
                    yield cost * self.runs.times[name].counted


def name_bound(unknown_ops: int | None, branches: int | None) -> str:
    """Return what the totals are: `at least`, `at most` or `about`; empty where they are exact.

    What could not be counted adds to them; a conditional may run a cheaper branch.
    """
    if unknown_ops and branches:
        return "about"
    return "at least" if unknown_ops else "at most" if branches else ""


def count_cost(module: HloModule) -> ModuleCost:
    """Return the cost of one module; for several snapshots use one `Costs`."""
    return Costs().module(module)


def _module_cost(
    module: HloModule,
    own: Total,
    xla: Total | None,
    runs: Runs,
    instructions: Mapping[InstructionKey, InstructionCost],
) -> ModuleCost:
    return ModuleCost(
        flops=own.flops,
        transcendentals=own.transcendentals,
        bytes_accessed=own.bytes_accessed,
        unknown_ops=_unknown_ops(instructions, runs),
        xla_flops=xla.flops if xla else None,
        xla_transcendentals=xla.transcendentals if xla else None,
        xla_bytes_accessed=xla.bytes_accessed if xla else None,
        num_partitions=module.partition_count,
        per_device=has_local_shapes(module),
        instructions=instructions,
        trip_counts=runs.trip_counts,
        num_replicas=module.replica_count,
        branches=runs.branches,
    )


def _unknown_cost(module: HloModule) -> ModuleCost:
    partitions = module.partition_count
    replicas = module.replica_count
    return ModuleCost(
        *(None, None, None, 0, None, None, None),
        *(partitions, has_local_shapes(module), {}, {}, replicas),
    )


def _unknown_ops(instructions: Mapping[InstructionKey, InstructionCost], runs: Runs) -> int:
    loops = sum(trip_count.count is None for trip_count in runs.trip_counts.values())
    return loops + sum(
        instruction.flops is None or instruction.bytes_accessed is None
        for instruction in instructions.values()
    )


def _instruction_costs(
    order: tuple[Computation, ...], composition: Composition, runs: Runs
) -> dict[InstructionKey, InstructionCost]:
    costs: dict[InstructionKey, InstructionCost] = {}
    products = Products(composition.tallies)
    for computation in order:
        products.add(computation.name)
        if computation.name in runs.applied:
            continue
        for local in composition.tallies[computation.name].locals:
            key = (computation.name, local.instruction.name)
            costs[key] = _instruction_cost(computation, local, composition, runs, products)
    return costs


def _instruction_cost(
    computation: Computation,
    local: OwnCost,
    composition: Composition,
    runs: Runs,
    products: Products,
) -> InstructionCost:
    total = composition.self_cost(local)
    fused = computation.name in runs.fused
    traffic = composition.traffic(local)
    times = runs.times[computation.name]
    missing = traffic is None and not local.note
    return InstructionCost(
        flops=total.flops if local.work else None,
        transcendentals=total.transcendentals if local.work else None,
        matrix_flops=products.of(local, products=True),
        vector_flops=products.of(local, products=False),
        traffic=find_traffic(composition.module, local.site),
        bytes_read=0 if fused else traffic.read if traffic else None,
        bytes_written=0 if fused else traffic.written if traffic else None,
        main_memory_bytes=0 if fused else composition.main_memory_bytes(local),
        executions=times.executions,
        counted=times.counted,
        fused=fused,
        grade="guessed" if missing else local.grade,
        note="what it moves could not be counted" if missing else local.note,
    )
