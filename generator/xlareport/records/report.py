"""The records of report.json, field by field, plain and frozen.

Pages show the same records, so that they cannot disagree. A figure that is not known is None, never
0. What is one record already in analysis (links, passes, figures) is not defined anew here.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.code.module_code import CodeRecord
from xlareport.analysis.findings.finding import Finding, rule_id
from xlareport.analysis.findings.recompilations import report_recompilation
from xlareport.analysis.kernels.command_buffers import CommandBuffer
from xlareport.analysis.kernels.estimates import InstructionEstimates
from xlareport.analysis.kernels.gemms import ModuleGemms
from xlareport.analysis.kernels.record import KernelRecord, ModuleTuning
from xlareport.analysis.modules.eager import EagerFunction
from xlareport.analysis.modules.module_links import ModuleLink
from xlareport.analysis.modules.recompilations import RecompilationGroup
from xlareport.analysis.passes.pass_times import PassTime
from xlareport.analysis.ranks.rank_groups import RankGroup
from xlareport.analysis.tpu.program_record import TpuProgram, TpuSummary
from xlareport.records.collectives import CollectiveRecord
from xlareport.records.cost import CostRecord
from xlareport.records.file_list import FileRecord
from xlareport.records.module_outline import ModuleOutline
from xlareport.records.profile import ProfileRecord
from xlareport.records.shardings import ShardingsRecord
from xlareport.runtime.errors import Problem
from xlareport.storage.packed_keys import KeyedValues, index_keys
from xlareport.storage.shared_values import SharedValues
from xlareport.storage.spooled_values import SMALL_RESIDENT, SpooledValues


class GeneratorRecord(Struct, frozen=True):
    """The program that wrote the report."""

    name: str
    version: str


class DumpRecord(Struct, frozen=True):
    """The dump that was read."""

    path: str
    files: int
    bytes: int
    backends: tuple[str, ...]
    frontends: tuple[str, ...]


class CandidateRecord(Struct, frozen=True):
    """A module that could be the main program as well."""

    module: str
    name: str


class RunRecord(Struct, frozen=True):
    """The main program of one run, if a dump has several."""

    processes: tuple[int, ...]
    """Numbers of the processes that compiled it, from 1."""
    module: str
    name: str
    sureness: str
    """As that of the main program, among the modules of these processes."""


class MainProgramRecord(Struct, frozen=True):
    """The main-program guess."""

    module: str
    name: str
    confidence: float
    reasons: tuple[str, ...]
    """All reasons in words, with their points."""
    runners_up: tuple[CandidateRecord, ...]
    programs: tuple[CandidateRecord, ...] = ()
    """All modules that play the main role, this one first."""
    tie: bool = False
    sureness: str = ""
    """`clear`, `likely`, `tie`, `only` (nothing else could be read) or `marker`."""
    meaning: str = ""
    """The meaning of `sureness`, with the rate of correct guesses on dumps with a known program."""
    runs: tuple[RunRecord, ...] = ()
    """The main program of each run, if several runs of different programs wrote one dump."""
    function: str = ""
    """The function's name without the framework's additions.

    `train_step` of `jit_train_step`, `multiply` of TensorFlow's
    `a_inference_multiply_15__XlaMustCompile...`.
    """
    strongest: tuple[str, ...] = ()
    """Reasons in which no other module exceeds it, without points, the largest weight first."""


RECOMPILATIONS = rule_id(report_recompilation)
"""The rule whose places are modules, by their keys: each module of a function has its finding."""


class ModuleRecord(ModuleOutline, frozen=True):
    """A module of the dump."""

    passes: tuple[PassTime, ...] = ()
    """The longest first; empty if the compiler wrote no metadata."""
    shardings: ShardingsRecord | None = None
    """Shardings of its values; None for a module of one partition."""
    cost: CostRecord | None = field(default=None, name="expense")
    """The cost of one run; None if that of no snapshot is known."""
    measured: ProfileRecord | None = None
    """The profile; None if no profile contains the module."""
    candidates: tuple[Finding, ...] = ()
    """Savings of a small program without findings: below 2 µs or 1 MiB, but 5% of it or more."""
    collectives: tuple[CollectiveRecord, ...] = ()
    """The collectives of the final snapshot, in the order of the schedule."""
    code: tuple[CodeRecord, ...] = ()
    kernels: tuple[KernelRecord, ...] = ()
    """GPU kernels with what they need and their occupancy, in the order of the thunks."""
    gemms: ModuleGemms | None = None
    """The matmuls of a GPU module with the traffic of their tiles."""
    xla_estimates: tuple[InstructionEstimates, ...] = ()
    """XLA's own estimates; empty where `backend_config` has none."""
    command_buffers: tuple[CommandBuffer, ...] = ()
    """Thunks that one launch replays, in the order of the thunk sequence."""
    tuning: ModuleTuning | None = None
    """Measurements of the autotuner; None if the dump has no such file."""
    tpu_programs: tuple[TpuProgram, ...] = ()
    """The TPU programs of its instructions; empty if the dump has no LLO files."""
    tpu: TpuSummary | None = None
    """The figures of all TPU programs together."""


class ReportRecord(Struct, frozen=True):
    """Everything in `report.json`."""

    schema: int
    generator: GeneratorRecord
    dump: DumpRecord
    main: MainProgramRecord | None
    modules: Sequence[ModuleRecord]
    files: Sequence[FileRecord]
    problems: tuple[Problem, ...]
    links: Sequence[ModuleLink] = ()
    retrace_groups: Sequence[RecompilationGroup] = ()
    eager_functions: Sequence[EagerFunction] = ()
    rank_groups: tuple[RankGroup, ...] = ()
    processes: int | None = None
    """Number of processes that wrote the dump; None if unknown."""
    ranks: tuple[str, ...] = ()
    """Names of the processes, such as their folders; number 1 first."""

    @property
    def outlines(self) -> Sequence[ModuleOutline]:
        """The outlines of the modules, for lists; in memory also in a large dump."""
        return self.modules.outlines if isinstance(self.modules, StoredRecords) else self.modules

    @property
    def by_key(self) -> Mapping[str, ModuleOutline]:
        """The outlines by the keys of the modules."""
        if isinstance(self.modules, StoredRecords):
            return self.modules.by_key
        return {module.key: module for module in self.modules}

    @property
    def places(self) -> Mapping[str, int]:
        """The index of each module by its key."""
        if isinstance(self.modules, StoredRecords):
            return self.modules.places
        return {module.key: place for place, module in enumerate(self.modules)}

    @property
    def main_module(self) -> ModuleRecord | None:
        """All of the main program; None where there is none."""
        place = self.main_place
        return None if place is None else self.modules[place]

    @property
    def main_key(self) -> str | None:
        """The key of the main program; None where there is none."""
        return self.main.module if self.main else None

    @property
    def main_place(self) -> int | None:
        """The place of the main program among the modules; None where there is none."""
        return None if self.main is None else self.places.get(self.main.module)


class StoredRecords(SpooledValues[ModuleRecord]):
    """Records of modules: beyond a limit in a file, with outlines in another file."""

    def __init__(
        self,
        folder: Path | None = None,
        resident: int | None = None,
        places: Mapping[str, int] | None = None,
    ) -> None:
        """Keep records as spooled values; `places` is the index of the keys, where it is known."""
        super().__init__(folder, resident)
        self.outlines = SpooledValues[ModuleOutline](folder, max(self.resident, SMALL_RESIDENT))
        """The outline of each module, for lists."""
        self._shared = SharedValues()
        self._places: Mapping[str, int] | None = None
        self._known_places = places

    def append(self, value: ModuleRecord) -> None:
        """Add a record at the end."""
        super().append(value)
        self.outlines.append(value if self.is_resident(-1) else self._outline(value))
        self._places = None

    @property
    def places(self) -> Mapping[str, int]:
        """The index of each module by its key."""
        if self._known_places is not None and len(self._known_places) == len(self):
            return self._known_places
        if self._places is None:
            self._places = index_keys((module.key for module in self.outlines), len(self))
        return self._places

    @property
    def by_key(self) -> Mapping[str, ModuleOutline]:
        """The outlines by the keys of the modules."""
        return KeyedValues(self.places, self.outlines)

    def _outline(self, value: ModuleRecord) -> ModuleOutline:
        """Return the parts of a record that lists of modules show, with equal values shared.

        Of its files, only the top folder is kept; of those of a snapshot, the folder of the first.
        """
        share = self._shared.share
        findings = tuple(share(_outline_finding(finding)) for finding in value.findings)
        stages = tuple(
            replace(stage, files=self._folders(stage.files[:1]), label=share(stage.label))
            for stage in value.stages
        )
        highest = sorted(value.files, key=lambda path: path.count("/"))[:1]
        kept = {name: getattr(value, name) for name in ModuleOutline.__struct_fields__}
        return ModuleOutline(
            **kept
            | {
                "files": self._folders(highest),
                "findings": share(findings),
                "stages": self._shared.share_each(stages),
            }
        )

    def _folders(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return the folders of files, with `/` at their ends."""
        parts = (path.rpartition("/") for path in paths)
        return self._shared.share(tuple(f"{folder}{slash}" for folder, slash, _ in parts))


def _outline_finding(finding: Finding) -> Finding:
    """Return only the title, unless the finding is about the whole dump."""
    if finding.rule == RECOMPILATIONS:
        return finding
    return replace(finding, evidence="", suggestion="", places=(), seconds=None, bytes=None)
