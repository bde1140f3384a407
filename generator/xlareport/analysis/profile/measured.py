"""The profile of one module: times of the instructions of the final snapshot."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from xlareport.analysis.profile.instruction_times import (
    ModuleTimes,
    OpTime,
    RunTime,
    entry_executions,
)
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.analysis.source.scopes import phase_of, scope_of
from xlareport.hlo.model import Computation, HloModule, Instruction

MOST_ROWS = 5_000
"""Limit on instructions that are listed."""
_NO_OP_NAME = "(no op_name)"
_NO_SCOPE = "(no scope)"
_NO_LINE = "(no source info)"


class MeasuredRow(Struct, frozen=True):
    """An instruction with its profiled time."""

    computation: str
    instruction: Instruction
    time: OpTime
    op_name: str
    line: str
    """Of the user's program; empty where the dump does not say."""
    least: float | None
    """Seconds that all its runs in one run of the module take at least, by estimate."""


class Sum(Struct, frozen=True):
    """The own time of all instructions of one scope or line."""

    name: str
    own: int
    """Picoseconds."""
    instructions: int


class PartialTrace(Struct, frozen=True):
    """A trace that recorded a part of the iterations that the program has."""

    instruction: str
    """An instruction in the loop."""
    seen: int
    expected: int
    """Expected executions in these runs, by the trip counts of its loops."""


class Measured(Struct, frozen=True):
    """The profile of one module."""

    runs: tuple[RunTime, ...]
    length: int
    """Picoseconds from the first event to the last of each run, summed."""
    busy: int | None
    """Picoseconds in which at least one instruction ran; None if unknown."""
    events: int
    joined: int
    """Events of instructions that the module has."""
    rows: tuple[MeasuredRow, ...]
    """Most own time first."""
    left_out: int
    """Instructions beyond those in `rows`."""
    unknown: tuple[OpTime, ...]
    """Times of instructions that the module does not have."""
    scopes: tuple[Sum, ...]
    lines: tuple[Sum, ...]
    entered: int | None = None
    """Executions of most instructions of the entry; None if none was profiled."""
    twins: tuple[str, ...] = ()
    """Keys of other modules with the name that fit the profile equally well."""
    introduced: Mapping[str, tuple[str | None, str]] = field(default_factory=dict)
    """Of the slowest instructions the key of the step that made them, and who did it, in words."""
    work: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    """Flops and bytes of an instruction in one run of the module, by its name, where counted."""
    cut: PartialTrace | None = None
    """Then no time is that of a whole run; None where the trace has all that is known to run."""
    others: tuple[str, ...] = ()
    """Keys of other modules with the name that have some of the instructions."""

    @property
    def distinct_runs(self) -> int | None:
        """Return the number of runs; None if the profiler does not separate them."""
        return len(self.runs) if all(run.name for run in self.runs) else None

    def share(self, picoseconds: int) -> float:
        """Return the part, 0 to 1, that a time has in all runs."""
        return picoseconds / self.length if self.length else 0.0


def estimate_least_times(
    shares: Mapping[tuple[str, str], float], seconds: float | None
) -> Mapping[tuple[str, str], float]:
    """Return the minimum seconds of each instruction in a run of `seconds`."""
    return {key: share * seconds for key, share in shares.items() if share} if seconds else {}


def join_profile(
    times: ModuleTimes, module: HloModule, least: Mapping[tuple[str, str], float]
) -> Measured:
    """Join the times to the module by the names of instructions.

    `least` has the least seconds of an instruction in one run of the module, where they are known.
    """
    where = index_instructions(module)
    ordered = sorted(
        times.instructions.values(), key=lambda instruction: (-instruction.own, instruction.name)
    )
    rows = list(
        _measured_rows(
            (op_time for op_time in ordered if op_time.name in where), where, module, least
        )
    )
    return Measured(
        runs=times.runs,
        length=times.length,
        busy=times.busy,
        events=times.events,
        joined=sum(row.time.count for row in rows),
        rows=tuple(rows[:MOST_ROWS]),
        left_out=max(0, len(rows) - MOST_ROWS),
        unknown=tuple(op_time for op_time in ordered if op_time.name not in where),
        scopes=_sums(rows, [_scope(row.op_name) for row in rows]),
        lines=_sums(rows, [row.line or _NO_LINE for row in rows]),
        entered=entry_executions(times, module),
    )


def _scope(op_name: str) -> str:
    """Return the scope of an op_name; of one without named scopes, its phase."""
    if not op_name:
        return _NO_OP_NAME
    return scope_of(op_name) or " ".join(filter(None, (_NO_SCOPE, str(phase_of(op_name)))))


def find_cut(
    measured: Measured, executions: Mapping[tuple[str, str], int | None]
) -> PartialTrace | None:
    """Return the instruction with too few events, if any; `executions` are those of one run."""
    runs = measured.entered or measured.distinct_runs or 1
    cuts = []
    for row in measured.rows:
        times = executions.get((row.computation, row.time.name)) or 0
        if times > 1 and row.time.count < _WHOLE * times * runs:
            cuts.append(PartialTrace(row.time.name, row.time.count, times * runs))
    return max(cuts, key=lambda cut: (cut.expected - cut.seen, cut.instruction), default=None)


_WHOLE = 0.9
"""The part of its executions that must be recorded for a run to count as recorded whole."""


def index_instructions(module: HloModule) -> Mapping[str, tuple[Computation, Instruction]]:
    """Return the instructions by name; of several with one name, that of the entry."""
    ordered = sorted(module.computations, key=lambda computation: computation.is_entry)
    return {
        instruction.name: (place, instruction)
        for place in ordered
        for instruction in place.instructions
    }


def _measured_rows(
    op_times: Iterable[OpTime],
    where: Mapping[str, tuple[Computation, Instruction]],
    module: HloModule,
    least: Mapping[tuple[str, str], float],
) -> Iterator[MeasuredRow]:
    line_of = places_of(module)
    for time in op_times:
        computation, instruction = where[time.name]
        line = line_of(instruction)
        yield MeasuredRow(
            computation=computation.name,
            instruction=instruction,
            time=time,
            op_name=op_name_of(instruction, module),
            line=line.short if line else "",
            least=least.get((computation.name, instruction.name)),
        )


def _sums(rows: Sequence[MeasuredRow], names: Sequence[str]) -> tuple[Sum, ...]:
    self_times, counted = Counter[str](), Counter(names)
    for row, name in zip(rows, names, strict=True):
        self_times[name] += row.time.own
    sums = (Sum(name, self_times[name], counted[name]) for name in counted)
    return tuple(sorted(sums, key=lambda item: (-item.own, item.name)))
