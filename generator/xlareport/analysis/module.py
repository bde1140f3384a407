"""All that is worked out about one module, once: reading, steps, costs, code, profile."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport import reader_table
from xlareport.analysis.code.later_instructions import LaterInstructions
from xlareport.analysis.code.module_code import CodeFiles, CodeSummary, read_code_files
from xlareport.analysis.collectives.collective_rows import CollectivesReport
from xlareport.analysis.collectives.collectives_report import report_collectives
from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.cost.costed import CostedModule, cost_module
from xlareport.analysis.cost.work import Costs
from xlareport.analysis.cost_report.cost_report import CostReport, report_cost
from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.findings.rules import merge_findings
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.kernels.kernel_findings import KernelTimes, find_kernel_findings
from xlareport.analysis.kernels.module_kernels import read_kernels, with_shares
from xlareport.analysis.kernels.record import ModuleKernels
from xlareport.analysis.matching.search.result import LooseMatchings
from xlareport.analysis.measured_module import measure_module
from xlareport.analysis.module_steps import (
    OnChange,
    SeenStep,
    StepAnalysis,
    analyze_steps,
    compare_snapshots,
)
from xlareport.analysis.modules.marker import MarkerHit, SlowMarkerError, find_marker
from xlareport.analysis.modules.module_origin import origin_of
from xlareport.analysis.modules.state import is_training_step
from xlareport.analysis.modules.summarize import summarize_module, summarize_unread
from xlareport.analysis.modules.summary import ModuleSummary, StepSummary
from xlareport.analysis.passes.overview import Overview, summarize_passes
from xlareport.analysis.passes.pipelines import Part, build_pipeline_tree
from xlareport.analysis.passes.step_boundaries import find_boundaries
from xlareport.analysis.profile.instruction_times import ModuleTimes
from xlareport.analysis.profile.measured import Measured
from xlareport.analysis.shardings.sharding_report import ShardingReport, report_shardings
from xlareport.analysis.skeleton.skeleton_outline import read_skeleton
from xlareport.analysis.skeleton.view import SkeletonView, view_skeleton
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.analysis.tpu.module_programs import TpuFiles, read_tpu_programs
from xlareport.analysis.tpu.program_record import TpuModule
from xlareport.analysis.tpu.tpu_findings import find_tpu_findings
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source_text import SourceTexts
from xlareport.program import ParsedModule, SideFileValues, read_module
from xlareport.ptxas import Ptxas
from xlareport.readers.replay_result import ReplayResult
from xlareport.runtime.errors import Problem
from xlareport.runtime.faults import Faults, guard

T = TypeVar("T")
V = TypeVar("V")


class AnalysisOptions(Struct, frozen=True):
    """The user's options, and facts about the module from elsewhere."""

    marker: re.Pattern[str] | None = None
    """Only the main program contains it."""
    cost_options: CostOptions = field(default_factory=CostOptions)
    """Which device to assume, and whether sources are shown."""
    times: ModuleTimes | None = None
    """The profile of the modules with its name."""
    replay: ReplayResult | None = None
    """The result of `replay --bisect` for the module; a file of the user."""
    ptxas: Ptxas | None = None
    """The assembler for the PTX of the dump; None unless the user requested it."""


class ModuleAnalysis(Struct, frozen=True):
    """The analysis of a module: values only, which are sent between processes.

    A part is None if it was not requested, is not in the dump, or could not be computed.
    """

    summary: ModuleSummary
    marker: MarkerHit | None = None
    read: tuple[str, ...] = ()
    """Paths of the files that were opened and read."""
    cost: CostReport | None = None
    """The cost of the module."""
    collectives: CollectivesReport | None = None
    """Its collectives; None where it has none."""
    code: CodeSummary | None = None
    """Files of code and thunks."""
    kernels: ModuleKernels | None = None
    """Resources and occupancy of each GPU kernel; None for a module without any."""
    overview: Overview | None = None
    """All steps taken together."""
    profile: Measured | None = None
    """The profile of the module."""
    tpu: TpuModule | None = None
    """The TPU programs of its instructions; None if the dump has no such files."""
    skeleton: SkeletonView | None = None
    """The execution skeleton, in order; None if nothing was counted."""
    shardings: ShardingReport | None = None
    """The shardings of the module; None for one partition."""
    replay: ReplayResult | None = None
    """The runs of its snapshots on the CPU; None where the user gave none."""
    side: SideFileValues = SideFileValues()
    """The side files that pages show as they were read."""
    same_as: ModuleFiles | None = None
    """The earlier module that this one repeats; its analysis is reused."""
    is_identical: bool = True
    """Whether it repeats that one byte for byte, not but for names, ids and notes."""

    @property
    def is_training_step(self) -> bool:
        """Whether the module looks like a training step."""
        phases = self.cost.phases if self.cost else ()
        return is_training_step(self.summary, [phase.name for phase in phases])


class AnalyzedModule(Struct, Generic[T], frozen=True):
    """A module with its analysis and the larger values that stay in the process."""

    module: ParsedModule
    analysis: ModuleAnalysis
    costed: CostedModule | None
    times: ModuleTimes | None
    """The profile of the modules with its name."""
    code: CodeFiles
    snapshots: SnapshotSequence | None
    """Joined from step to step, for histories; None where no step changed anything."""
    shown: Mapping[int, T]
    """The result of the callback for each step with changes, by snapshot number."""
    pipelines: tuple[Part, ...]
    """The snapshots as a tree of pipelines."""
    tpu: TpuFiles = field(default_factory=TpuFiles)


def module_path(files: ModuleFiles) -> str:
    """Return the path that represents a module in a problem."""
    return files.artifacts[0].path if files.artifacts else files.key


def unreadable_module(files: ModuleFiles, reason: str) -> ModuleAnalysis:
    """Return the analysis of a module that could not be read."""
    message = f"{files.key} could not be analyzed: {reason}."
    problem = Problem(module_path(files), None, message, is_fault=True)
    return ModuleAnalysis(summarize_unread(files, problem))


def outline_module(files: ModuleFiles, options: AnalysisOptions | None = None) -> ModuleAnalysis:
    """Read a module and return its summary and marker, which ranking and relations need.

    A defect in xlareport makes the module an unreadable one.
    """
    return guard(
        lambda: outline_parsed(read_module(files), options),
        lambda reason: unreadable_module(files, reason),
    )


def outline_parsed(module: ParsedModule, options: AnalysisOptions | None = None) -> ModuleAnalysis:
    """Return the summary and the marker of a module that was read."""
    faults = Faults(module_path(module.files))
    steps = [step.summary for step in compare_snapshots(module)]
    analysis, _ = _summarize(module, steps, Costs(), options or AnalysisOptions(), faults)
    return with_problems(analysis, faults.problems)


def analyze_module(
    files: ModuleFiles,
    options: AnalysisOptions,
    faults: Faults,
    on_change: OnChange[T],
    processes: int = 1,
    *,
    matchings: LooseMatchings = MappingProxyType({}),
) -> AnalyzedModule[T]:
    """Read a module and work out everything about it; `faults` lists the parts that failed.

    Up to so many processes work on its steps; `matchings` are those of steps that are known.
    """
    module = read_module(files)
    boundaries = find_boundaries(module)
    seen = analyze_steps(module, boundaries, on_change, processes, matchings)
    steps = tuple(step.analysis for step in seen)
    counts = Costs()
    analysis, costed = _summarize(module, [step.summary for step in steps], counts, options, faults)
    faults.problems += _faulty_steps(module, seen)
    snapshots = faults.attempt(
        "What became of it", lambda: _join_snapshots(module, analysis.summary, seen), None
    )
    parts = _AnalysisParts(module, options, faults, costed, boundaries, snapshots)
    code, tpu, shardings = parts.code(), parts.tpu(), parts.shardings()
    kernels, collectives = parts.kernels(code), parts.collectives()
    more = _device_findings(tpu.module, kernels, costed)
    analysis = replace(
        analysis,
        read=(*module.read, *code.contents, *tpu.read),
        cost=parts.cost_report(more, shardings, collectives, code.later),
        collectives=collectives,
        code=code.summary,
        kernels=kernels,
        overview=_overview(module, boundaries, steps, counts),
        profile=parts.profile(),
        tpu=tpu.module,
        skeleton=parts.skeleton(),
        shardings=shardings,
    )
    analysis = with_problems(analysis, (*code.problems, *tpu.problems))
    shown = {number: step.seen for number, step in enumerate(seen) if step.seen is not None}
    return AnalyzedModule(
        *(module, analysis, costed, options.times, code, snapshots, shown),
        pipelines=_pipelines(module, steps),
        tpu=tpu,
    )


class _AnalysisParts(Struct, frozen=True):
    """Works out the parts of a module's analysis; a fault in one costs that part alone."""

    module: ParsedModule
    options: AnalysisOptions
    faults: Faults
    costed: CostedModule | None
    boundaries: Sequence[Boundary]
    snapshots: SnapshotSequence | None

    def code(self) -> CodeFiles:
        return self.faults.attempt(
            "The page of its code",
            lambda: read_code_files(self.module, self.snapshots),
            CodeFiles(),
        )

    def tpu(self) -> TpuFiles:
        return self._of_costed("Its TPU programs", read_tpu_programs) or TpuFiles()

    def shardings(self) -> ShardingReport | None:
        hlo = [snapshot.hlo for snapshot in self.module.snapshots]
        shardy = self.module.side.all_of(reader_table.SHARDY)
        return self.faults.attempt("Its shardings", lambda: report_shardings(hlo, shardy), None)

    def kernels(self, code: CodeFiles) -> ModuleKernels | None:
        return self.faults.attempt("Its kernels", lambda: self._read_kernels(code), None)

    def _read_kernels(self, code: CodeFiles) -> ModuleKernels | None:
        kernels = read_kernels(self.module, code, self.options.cost_options, self.options.ptxas)
        shares = self.costed.counted_shares if self.costed else {}
        return with_shares(kernels, shares) if kernels else None

    def _of_costed(self, part: str, make: Callable[[CostedModule], V | None]) -> V | None:
        """Return a part that needs a final snapshot; None where there is none."""
        costed = self.costed
        return self.faults.attempt(part, lambda: make(costed), None) if costed else None

    def skeleton(self) -> SkeletonView | None:
        return self._of_costed("The skeleton", lambda costed: view_skeleton(read_skeleton(costed)))

    def collectives(self) -> CollectivesReport | None:
        return self._of_costed(
            "Its collectives",
            lambda costed: report_collectives(costed, self.snapshots, self.boundaries),
        )

    def profile(self) -> Measured | None:
        times = self.options.times
        if times is None:
            return None
        return self._of_costed(
            "Its measured time",
            lambda costed: measure_module(costed, times, self.snapshots, self.boundaries),
        )

    def cost_report(
        self,
        more: Sequence[Finding],
        shardings: ShardingReport | None,
        collectives: CollectivesReport | None,
        later: LaterInstructions,
    ) -> CostReport | None:
        def report(costed: CostedModule) -> CostReport:
            cost = report_cost(
                costed,
                SourceTexts().lines if self.options.cost_options.with_source else None,
                shardings=shardings,
                snapshots=self.snapshots,
                collectives=collectives.rows if collectives else (),
                later=later,
            )
            if not more:
                return cost
            return replace(cost, findings=merge_findings((*cost.findings, *more)))

        return self._of_costed("What it costs", report)


def with_problems(analysis: ModuleAnalysis, problems: Sequence[Problem]) -> ModuleAnalysis:
    """Return the analysis with further problems at the end of the module's list."""
    summary = analysis.summary
    return replace(analysis, summary=replace(summary, problems=(*summary.problems, *problems)))


def _summarize(
    module: ParsedModule,
    steps: Sequence[StepSummary | None],
    counts: Costs,
    options: AnalysisOptions,
    faults: Faults,
) -> tuple[ModuleAnalysis, CostedModule | None]:
    origin = origin_of(module)
    costed = cost_module(module, origin.backend, options.cost_options, counts)
    summary = summarize_module(module, origin, steps, costed)
    marker = _search_marker(module, options.marker, faults)
    analysis = ModuleAnalysis(
        summary, marker, module.read, replay=options.replay, side=module.side.shown
    )
    return analysis, costed


def _search_marker(
    module: ParsedModule, marker: re.Pattern[str] | None, faults: Faults
) -> MarkerHit | None:
    """Search the user's marker; one that takes too long is listed as a problem."""
    if marker is None:
        return None
    try:
        return find_marker([snapshot.hlo for snapshot in module.snapshots], marker)
    except SlowMarkerError as error:
        faults.problems.append(Problem(faults.path, None, f"{error}."))
        return None


def _faulty_steps(module: ParsedModule, seen: Sequence[SeenStep[T]]) -> Iterator[Problem]:
    """Yield a problem for each snapshot that could not be compared with the one before."""
    for snapshot, step in zip(module.snapshots, seen, strict=True):
        if step.fault:
            message = f"Not compared with the snapshot before: {step.fault}."
            yield Problem(snapshot.read_from.path, None, message, is_fault=True)


def _join_snapshots(
    module: ParsedModule, summary: ModuleSummary, seen: Sequence[SeenStep[T]]
) -> SnapshotSequence | None:
    if not summary.changed_steps or any(step.fault for step in seen):
        return None
    steps = [step.analysis for step in seen]
    matchings = {number: step.matching for number, step in enumerate(steps) if step.matching}
    return SnapshotSequence([snapshot.hlo for snapshot in module.snapshots], matchings)


def _device_findings(
    tpu: TpuModule | None, kernels: ModuleKernels | None, costed: CostedModule | None
) -> tuple[Finding, ...]:
    """Return findings about GPU kernels and TPU programs."""
    times = KernelTimes(costed.seconds, costed.shares) if costed else KernelTimes(None, {})
    of_kernels = find_kernel_findings(kernels, times) if kernels else ()
    return (*(find_tpu_findings(tpu) if tpu else ()), *of_kernels)


def _pipelines(module: ParsedModule, steps: Sequence[StepAnalysis]) -> tuple[Part, ...]:
    summaries = [step.summary for step in steps[1:]]
    identical = [step is not None and not step.changed for step in summaries]
    return build_pipeline_tree([snapshot.stage for snapshot in module.snapshots], identical)


def _overview(
    module: ParsedModule,
    boundaries: Sequence[Boundary],
    steps: Sequence[StepAnalysis],
    counts: Costs,
) -> Overview:
    numbers = [(number, changed) for number, step in enumerate(steps) for changed in step.numbers]
    return summarize_passes(module, boundaries, numbers, [step.summary for step in steps], counts)
