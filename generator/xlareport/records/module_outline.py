"""The part of a module's record that lists show: it is in memory also for thousands of modules."""

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
    dead_flops: int | None = None
    """The part of `flops` of instructions that no live one uses: a later pass removes these."""
    dead_bytes_accessed: int | None = None
    """The same part of `bytes_accessed`."""

    @property
    def number_and_pipeline(self) -> str:
        """`0017 simplification`; the label of a snapshot without a number."""
        return number_and_pipeline(self.sequence, self.pipeline) or self.label


class ModuleOutline(Struct, frozen=True):
    """The part of a `ModuleRecord` that is available for each module of a dump.

    In a large dump, it has only the folder of the files and the titles of the findings.
    """

    key: str
    slug: str
    id: int | None
    name: str
    timestamp: int | None
    role: str
    role_reason: str
    rank: int
    backend: str | None
    frontend: str | None
    stages: tuple[SnapshotRecord, ...]
    final: ModuleFigures
    files: tuple[str, ...]
    function: str = ""
    """The function's name without the framework's additions.

    `train_step` of `jit_train_step`, `multiply` of TensorFlow's
    `a_inference_multiply_15__XlaMustCompile...`.
    """
    retrace_group: int | None = None
    """Place in `retrace_groups` of the function that this is one of several compilations of."""
    backend_reason: str = ""
    """Why the backend is a guess; empty if a file states it or nothing indicates it."""
    passes_microseconds: int | None = None
    """From the first start of a pass to the last end."""
    runs: int | None = None
    """Number of profiled runs of a module of this name; None without a trace."""
    run_microseconds: float | None = None
    """The total time of these runs."""
    process: int | None = None
    """Number of the process that compiled it, from 1; None if unknown."""
    ranks: RankNumbers = RankNumbers()
    """All processes that compiled it, with the same contents, as ranges: `1-16,18`."""
    findings: tuple[Finding, ...] = ()
    """Findings, by severity, then by what they can save."""
    same_as: str | None = None
    """Key of the earlier module that this one repeats: byte for byte, in large dumps only; or of
    another rank, but for names, ids and notes."""

    @property
    def changed_steps(self) -> int:
        """Number of steps with changes."""
        return sum(stage.changed is True for stage in self.stages)

    @property
    def steps(self) -> int:
        """Steps between snapshots that could be read."""
        return sum(stage.changed is not None for stage in self.stages)
