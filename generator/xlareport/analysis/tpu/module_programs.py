"""The TPU programs of a module: read, joined to its HLO instructions, and attributed by call."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.analysis.tpu.core_units import count_cores, with_waste
from xlareport.analysis.tpu.notes import CompilerNotes, index_notes
from xlareport.analysis.tpu.program_record import EmittedCode, TpuModule, TpuProgram, TpuSummary
from xlareport.analysis.tpu.schedule_view import ScheduleView
from xlareport.analysis.tpu.tpu_program import ProgramContext, analyze_program
from xlareport.dump.llo import TOP, WHOLE_PROGRAMS
from xlareport.knowledge.devices import Device
from xlareport.knowledge.tpu_cores import TpuCore, tpu_cores
from xlareport.llo_files import (
    Labels,
    LloModule,
    LloProgram,
    LloReading,
    llo_programs,
    read_llo_module,
    read_llo_program,
)
from xlareport.runtime.errors import Problem

_NAMED = 5
_BY_ORDER = (
    "The dump has several modules of this name. Only the order of compilation separates their LLO "
    "files."
)


class TpuFiles(Struct, frozen=True):
    """The programs of a module with what their pages show; empty where the dump has none."""

    module: TpuModule | None = None
    views: Mapping[str, ScheduleView] = field(default_factory=dict)
    """By program."""
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Paths by label, by program."""
    read: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_tpu_programs(costed: CostedModule) -> TpuFiles:
    """Read the programs of a module; nothing where the dump has none."""
    module_files = costed.module.files
    files = llo_programs(module_files)
    if not files:
        return TpuFiles()
    reading = LloReading()
    top = read_llo_program(TOP, files[TOP], reading) if TOP in files else None
    shared = read_llo_module(files.get(TOP, {}), reading)
    joined = _join(costed, top, files, shared)
    analyzed = [
        analyze_program(
            top if top and name == TOP else read_llo_program(name, files[name], reading),
            joined.context(name, tuple(files[name])),
        )
        for name in _programs_in_order(files, joined)
    ]
    problems = [problem for analysis in analyzed for problem in analysis.problems]
    return TpuFiles(
        _record(
            _with_waste([analysis.record for analysis in analyzed], joined),
            joined,
            "matched" if module_files.llo_by_order else "exact",
        ),
        {analysis.record.program: analysis.view for analysis in analyzed if analysis.view},
        {
            name: {label: file.path for label, file in labels.items()}
            for name, labels in files.items()
        },
        tuple(reading.read),
        (*reading.problems, *problems, *_strangers(files, joined)),
    )


class _Joined(Struct, frozen=True):
    """The data that the programs of one module are joined with."""

    notes: Mapping[str, CompilerNotes]
    """On each instruction outside of fusions, by name."""
    files: Mapping[str, Labels]
    """By program."""
    shared: LloModule
    calls: tuple[str, ...]
    """Names that the top-level program calls, one for each call."""
    cost: ModuleCost
    device: Device

    @property
    def core(self) -> TpuCore | None:
        """The chip's core; None where the device is no TPU that is known."""
        return tpu_cores().get(self.device.key)

    def alike(self, name: str) -> frozenset[str]:
        """Return the names of the instructions that share a program with this one, itself too."""
        groups = (frozenset((key, *names)) for key, names in self.shared.shared.items())
        return next((group for group in groups if name in group), frozenset((name,)))

    def sharing(self, name: str) -> tuple[str, ...]:
        """Return the other instructions that run the program of this one."""
        others = sorted((self.alike(name) & self.notes.keys()) - self.files.keys())
        return tuple(
            other for other in others if [*_programs_of(other, self.files, self)] == [name]
        )

    def runs_of(self, name: str) -> int | None:
        """Return how often one run of the module runs a program; None where not known."""
        costs = [self.cost_of(program) for program in (name, *self.sharing(name))]
        executions = [cost.executions for cost in costs if cost and cost.executions is not None]
        return sum(executions) if len(executions) == len(costs) else None

    def cost_of(self, name: str) -> InstructionCost | None:
        """Return the cost of one execution of an instruction."""
        notes = self.notes.get(name)
        key = (notes.computation, name) if notes else None
        return self.cost.instructions.get(key) if key else None

    def context(self, name: str, stages: tuple[str, ...]) -> ProgramContext:
        """Return the facts about a program from other sources than its own files."""
        is_own = name not in WHOLE_PROGRAMS and name in self.notes
        vmem = {use.instruction: use for use in self.shared.vmem.uses} if self.shared.vmem else {}
        slots = {profile.instruction: profile.used for profile in self.shared.profiles}
        ranges = {range_.instruction: (range_.begin, range_.end) for range_ in self.shared.ranges}
        return ProgramContext(
            instruction=name if is_own else None,
            notes=self.notes.get(name) if is_own else None,
            cost=self.cost_of(name) if is_own else None,
            device=self.device,
            core=self.core,
            vmem=vmem.get(name),
            slots=slots.get(name, {}),
            emitted_range=ranges.get(name),
            calls=tuple(
                call for call in self.calls if [*_programs_of(call, self.files, self)] == [name]
            ),
            sharing=self.sharing(name) if is_own else (),
            runs=self.runs_of(name) if is_own else None,
            stages=stages,
        )


def _join(
    costed: CostedModule,
    top: LloProgram | None,
    files: Mapping[str, Labels],
    shared: LloModule,
) -> _Joined:
    notes = index_notes(costed.hlo)
    last = costed.module.snapshots[-1]
    for name, later in index_notes(last.hlo).items():  # after code generation
        earlier = notes.get(name)
        if earlier:
            notes[name] = replace(later, computation=earlier.computation)
    bundles = top.schedule.bundles if top and top.schedule else ()
    calls = tuple(bundle.callee for bundle in bundles if bundle.callee)
    return _Joined(notes, files, shared, calls, costed.cost, costed.device)


def _programs_in_order(files: Mapping[str, Labels], joined: _Joined) -> Iterator[str]:
    """Yield the programs: the top-level one, then as it calls them, then the others."""
    called = (name for call in joined.calls for name in _programs_of(call, files, joined))
    yield from dict.fromkeys([*([TOP] if TOP in files else []), *called, *files])


def _programs_of(call: str, files: Mapping[str, Labels], joined: _Joined) -> Sequence[str]:
    """Return the program that a call runs: of its own name, else of an instruction like it."""
    if call in files:
        return [call]
    return sorted(name for name in joined.alike(call) if name in files)[:1]


def _with_waste(programs: Sequence[TpuProgram], joined: _Joined) -> Sequence[TpuProgram]:
    cores = count_cores((program.matrix for program in programs), joined.core)
    return [
        replace(program, matrix=with_waste(program.matrix, cores)) if program.matrix else program
        for program in programs
    ]


def _record(programs: Sequence[TpuProgram], joined: _Joined, grade: str) -> TpuModule:
    files = joined.files
    cycles = {program.program: program.static_cycles or 0 for program in programs}
    named = {program.program for program in programs if program.instruction}
    reached = [name for call in joined.calls for name in _programs_of(call, files, joined)]
    of_instructions = [name for name in reached if name not in WHOLE_PROGRAMS]
    core = joined.core
    emitted = (
        EmittedCode(range_.instruction, range_.begin, range_.end, next(iter(emitters), None))
        for range_ in joined.shared.ranges
        for emitters in (_programs_of(range_.instruction, files, joined),)
    )
    summary = TpuSummary(
        called_cycles=sum(cycles[name] for name in of_instructions) if joined.calls else None,
        attributed_cycles=sum(cycles[name] for name in of_instructions if name in named)
        if joined.calls
        else None,
        core=core.name if core else "",
        clock=core.clock if core else None,
        vmem_capacity=joined.shared.vmem.capacity if joined.shared.vmem else None,
        emitted=tuple(emitted),
        grade=grade,
        grade_reason="" if grade == "exact" else _BY_ORDER,
    )
    return TpuModule(tuple(programs), summary)


def _strangers(files: Mapping[str, Labels], joined: _Joined) -> Iterator[Problem]:
    """Yield the programs that are no instruction's, and the calls of programs without files."""
    for name, labels in files.items():
        if name not in WHOLE_PROGRAMS and name not in joined.notes:
            path = min(artifact.path for artifact in labels.values())
            yield Problem(path, None, f"No HLO instruction of the module is called {name}.")
    missing = [
        call for call in dict.fromkeys(joined.calls) if not _programs_of(call, files, joined)
    ]
    if missing:
        path = min(artifact.path for artifact in files[TOP].values())
        names = ", ".join(missing[:_NAMED])
        yield Problem(path, None, f"It calls {len(missing)} programs without files: {names}.")
