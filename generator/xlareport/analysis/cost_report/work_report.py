"""The work of a module: totals, loops, what could not be counted."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from xlareport.analysis.cost.loops import TripCount
from xlareport.analysis.cost.time_basis import choose_basis
from xlareport.analysis.cost.work import InstructionCost, ModuleCost, WorkFigures, name_bound
from xlareport.analysis.source.locations import places_of
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import HloModule
from xlareport.knowledge.devices import Device


class Totals(WorkFigures, frozen=True):
    """One run of a module on one device. Unknown figures are None."""

    xla_flops: int | None
    xla_transcendentals: int | None
    xla_bytes_accessed: int | None
    unknown_ops: int
    devices: int
    """How many run the module together."""
    branches: int
    """Conditionals that count as their costliest branch, where another would make a difference."""

    @property
    def is_partial(self) -> bool:
        """Whether something is not counted."""
        return self.unknown_ops > 0

    @property
    def bound(self) -> str:
        """How the figures bound the true ones: `at least`, `at most`, `about`; empty if exact."""
        return name_bound(self.unknown_ops, self.branches)


class LoopRow(Struct, frozen=True):
    """A loop that the entry computation reaches."""

    computation: str
    instruction: str
    trip_count: TripCount
    executions: int | None
    """How often the loop itself is started; None where that is not known."""
    seconds: float | None
    """The estimated time of all that runs in its body and condition, as the totals count it; None
    in the last of very many loops."""
    cycles: int | None
    """The compiler's estimated cycles of the same; None where none of it has cycles."""
    scope: str
    source: str


class Uncounted(Struct, frozen=True):
    """An instruction whose work or traffic is unknown."""

    computation: str
    instruction: str
    opcode: str
    reason: str


def sum_totals(cost: ModuleCost) -> Totals:
    """Sum up one run of a module."""
    apart = [instruction for instruction in cost.instructions.values() if not instruction.fused]

    def total(figure: Callable[[InstructionCost], int | None]) -> int | None:
        known = cost.flops is not None
        return sum((figure(line) or 0) * line.counted for line in apart) if known else None

    return Totals(
        flops=cost.flops,
        transcendentals=cost.transcendentals,
        bytes_read=total(lambda line: line.bytes_read),
        bytes_written=total(lambda line: line.bytes_written),
        main_memory_bytes=total(lambda line: line.main_memory_bytes),
        xla_flops=cost.xla_flops,
        xla_transcendentals=cost.xla_transcendentals,
        xla_bytes_accessed=cost.xla_bytes_accessed,
        unknown_ops=cost.unknown_ops,
        devices=cost.num_devices,
        branches=cost.branches,
    )


def list_uncounted(module: HloModule, cost: ModuleCost) -> Iterator[Uncounted]:
    """Yield the instructions that could not be counted, in the order of the module."""
    for (computation, name), instruction in cost.instructions.items():
        if instruction.flops is None or instruction.bytes_accessed is None:
            opcode = module.by_name[computation].by_name[name].opcode
            yield Uncounted(computation, name, opcode, instruction.note or _MISSING)


_MISSING = "what it does or moves could not be counted"

_MOST_TIMED = 500


def list_loops(module: HloModule, cost: ModuleCost, device: Device) -> Iterator[LoopRow]:
    """Yield every loop that the entry reaches, those of unknown length first."""
    place = places_of(module)
    inside = _Inside(module, cost, device)
    counts = sorted(cost.trip_counts.items(), key=lambda pair: pair[1].count is not None)
    for number, (key, trips) in enumerate(counts):
        loop = module.by_name[key[0]].by_name[key[1]]
        instruction_cost, where = cost.instructions.get(key), place(loop)
        is_timed = number < _MOST_TIMED
        yield LoopRow(
            *key,
            trip_count=trips,
            executions=instruction_cost.executions if instruction_cost else None,
            seconds=sum(inside.seconds(name) for _, name in loop.called) if is_timed else None,
            cycles=(sum(inside.cycles(name) for _, name in loop.called) or None)
            if is_timed
            else None,
            scope=loop.metadata.op_name,
            source=where.short if where else "",
        )


class _Inside:
    """Adds up the time of computations with all that they run."""

    def __init__(self, module: HloModule, cost: ModuleCost, device: Device) -> None:
        self._module = module
        self._own: dict[str, float] = {}
        self._cycles: dict[str, int] = {}
        for (computation, _), seconds in choose_basis(cost, device).times(cost).items():
            self._own[computation] = self._own.get(computation, 0.0) + seconds
        for (computation, _), instruction in cost.instructions.items():
            cycles = instruction.of_all_runs(instruction.cycles) or 0
            self._cycles[computation] = self._cycles.get(computation, 0) + cycles

    def seconds(self, name: str) -> float:
        """Return the estimated time of a computation over all its runs, each callee once."""
        return sum(self._own.get(called, 0.0) for called in self._run_by(name))

    def cycles(self, name: str) -> int:
        """Return the estimated cycles of a computation over all its runs; 0 where it has none."""
        return sum(self._cycles.get(called, 0) for called in self._run_by(name))

    def _run_by(self, name: str) -> list[str]:
        computation = self._module.by_name.get(name)
        if computation is None:
            return []
        return sorted({name, *called_computations(self._module, computation.instructions)})
