"""The part of a module's record that lists show: it is in memory also for thousands of modules."""

from typing import Protocol

from msgspec import Struct

from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.analysis.ranks.numbers import RankNumbers
from xlareport.dump.modules import number_and_pipeline


class SnapshotRecord(Struct, frozen=True):
    """A snapshot of a module and the changes of the step before it."""

    sequence: int | None
    pipeline: str | None
    after: str | None
    before: str | None
    label: str
    changed: bool | None
    """None for the first snapshot, which no step leads to, and where it could not be read."""
    instructions: int | None
    computations: int | None
    added: int | None
    removed: int | None
    modified: int | None
    files: tuple[str, ...]
    fusions: int | None = None
    flops: int | None = None
    """None where they were not counted, too: in large modules only some snapshots are."""
    bytes_accessed: int | None = None
    partitions: int = 1
    """Number of partitions; FLOPs and bytes are for one of them."""
    left_out: str = ""
    """Why it is not of the final snapshot's compilation; empty if nothing indicates that."""

    @property
    def number_and_pipeline(self) -> str:
        """`0017 simplification`; the label of a snapshot without a number."""
        return number_and_pipeline(self.sequence, self.pipeline) or self.label


class ModuleOutline(Protocol):
    """The part of a `ModuleRecord` that is available for each module of a dump."""

    @property
    def key(self) -> str:
        """Its key in the dump: `module_0002.jit_f`."""

    @property
    def slug(self) -> str:
        """The key as it is in addresses."""

    @property
    def id(self) -> int | None:
        """The number of the module in the process that compiled it."""

    @property
    def name(self) -> str:
        """As in the names of its files."""

    @property
    def timestamp(self) -> int | None:
        """In the names of its files, in microseconds."""

    @property
    def function(self) -> str:
        """The function's name without the framework's additions."""

    @property
    def role(self) -> str:
        """Its role in the program: `main`, `helper`, ..."""

    @property
    def role_reason(self) -> str:
        """Why it has that role."""

    @property
    def rank(self) -> int:
        """Its place in the ranking, from 1."""

    @property
    def backend(self) -> str | None:
        """The backend it was compiled for."""

    @property
    def frontend(self) -> str | None:
        """The framework that made it."""

    @property
    def stages(self) -> tuple[SnapshotRecord, ...]:
        """Its snapshots; of the files of each in a large dump the folder."""

    @property
    def final(self) -> ModuleFigures:
        """The figures of its final snapshot."""

    @property
    def files(self) -> tuple[str, ...]:
        """Its files; in a large dump the folder."""

    @property
    def retrace_group(self) -> int | None:
        """Index in `retrace_groups` of the function that it is a compilation of."""

    @property
    def process(self) -> int | None:
        """Which of several processes compiled it, from 1."""

    @property
    def ranks(self) -> RankNumbers:
        """All processes that compiled it."""

    @property
    def runs(self) -> int | None:
        """The number of runs in the profile."""

    @property
    def run_microseconds(self) -> float | None:
        """The total time of these runs."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Its findings; in a large dump their titles."""

    @property
    def same_as(self) -> str | None:
        """Key of the earlier module that it repeats."""

    @property
    def backend_reason(self) -> str:
        """Why the backend is a guess."""

    @property
    def passes_microseconds(self) -> int | None:
        """From the first start of a pass to the last end."""

    @property
    def changed_steps(self) -> int:
        """Number of steps with changes."""

    @property
    def steps(self) -> int:
        """Steps between snapshots that could be read."""
