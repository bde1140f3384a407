"""A module in figures: small values that travel between processes and that pages are made of."""

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.modules.features import NO_FEATURES, Features
from xlareport.analysis.modules.module_origin import Origin
from xlareport.analysis.modules.settings import OptionOrigin
from xlareport.analysis.modules.signature import Signature
from xlareport.analysis.modules.tpu_flags import TpuFlags
from xlareport.analysis.profile.instruction_times import ModuleRuns
from xlareport.analysis.steps.effect import NO_EFFECT, StepEffect
from xlareport.dump.modules import ModuleFiles, SnapshotFiles
from xlareport.runtime.errors import Problem
from xlareport.storage.shared_values import SharedValues


class StepSummary(Struct, frozen=True):
    """The changes in the step before a snapshot."""

    changed: bool
    added: int
    removed: int
    modified: int
    headline: str
    """One sentence; empty if nothing changed."""
    weight: float = 0.0
    """Its effect on heavy instructions, for ranking; no unit."""
    effect: StepEffect = NO_EFFECT


class SnapshotSummary(Struct, frozen=True):
    """The figures of one snapshot; None if it could not be read."""

    key: str
    """Names it in addresses: `0017`, `after_optimizations`; unique in the module."""
    stage: SnapshotFiles
    instructions: int | None
    computations: int | None
    step: StepSummary | None
    """None for the first snapshot that could be read."""


class CustomCallWork(Struct, frozen=True):
    """The work of custom calls beyond countable FLOPs and bytes."""

    steps: float = 0.0
    """Sequential steps of factorizations, over all executions."""
    hidden: int = 0
    """Number of calls with unknown work."""
    hidden_bytes: int = 0
    """Bytes that these read and return, over all executions."""
    hidden_flops: float = 0.0
    """The most that they would compute if they multiplied matrices of the size of their data."""


class ModuleFigures(Struct, frozen=True):
    """Figures of the optimized module, as report.json gives them."""

    instructions: int | None = None
    computations: int | None = None
    flops: int | None = None
    bytes_accessed: int | None = None
    unknown_ops: int | None = None
    branches: int | None = None
    """Conditionals that count as their costliest branch each time."""
    xla_flops: int | None = None
    xla_bytes_accessed: int | None = None
    allocated_bytes: int | None = None
    """The allocations in the device's memory."""
    live_peak_bytes: int | None = None
    """The peak as the live-range file states it: logical sizes added over all memory spaces.

    It is not the peak of the device's memory, which is `occupied_peak_bytes`, and it can exceed
    `allocated_bytes`: values that share memory count each, and memory on a TPU's chip counts as
    well. It can also be less than the ranges of the file add up to.
    """
    occupied_peak_bytes: int | None = None
    """Peak bytes in use of the device memory, of `allocated_bytes` at most; None if unknown."""
    temp_bytes: int | None = None


class ModuleSummary(Struct, frozen=True, dict=True):
    """All facts of the report about a module, except its steps."""

    files: ModuleFiles
    display_name: str
    """The name in the HloModule line, which file names may have lost."""
    origin: Origin
    stages: tuple[SnapshotSummary, ...]
    signature: Signature
    final_stage: SnapshotFiles | None
    final: ModuleFigures
    heaviest: tuple[str, ...]
    """Names of the heaviest instructions of the optimized module."""
    opcodes: tuple[tuple[str, int], ...]
    """Opcodes of the optimized module with their counts, most frequent first."""
    operations: tuple[tuple[str, int], ...]
    """The same by operation, asynchronous forms included: `all-reduce-start` is an `all-reduce`."""
    matrix_flops: int
    """Of the flops, those of matrix products and convolutions."""
    bit_flops: int
    """FLOPs of shifts and bitwise operations, as in random number generators."""
    collectives: int
    user_lines: int
    """Distinct source lines that are not the framework's own."""
    settings: tuple[OptionOrigin, ...]
    """Options that are not at XLA's default, as the dump states them, and who likely set them."""
    problems: tuple[Problem, ...]
    tpu_flags: TpuFlags | None = None
    """Flags of the TPU compiler and their defaults; None if the dump does not have them."""
    open_work: float = 0.0
    """Work in loops of unknown trip count, as an equivalent in bytes, counted once."""
    launches: int = 0
    """Fusions and other launched instructions in one run, times trip counts."""
    calls: CustomCallWork = CustomCallWork()
    features: Features = NO_FEATURES
    """The features of its contents that determine its role."""
    runs: ModuleRuns | None = None
    """Number of runs in a profile; None without a trace."""
    text_bytes: int = 0
    """Bytes of the final snapshot's file; the rule of thumb that people use."""

    def __repr__(self) -> str:
        return f"<ModuleSummary {self.files.key}>"

    @property
    def changed_steps(self) -> int:
        """Steps that changed something."""
        return sum(stage.step is not None and stage.step.changed for stage in self.stages)


def outline_summary(summary: ModuleSummary, shared: SharedValues) -> ModuleSummary:
    """Return the summary with values shared with other modules.

    Of the files only figures are kept.
    """
    features = summary.features
    return replace(
        summary,
        files=_outline_files(summary.files, shared),
        display_name=shared.share(summary.display_name),
        origin=shared.share(summary.origin),
        stages=shared.share_each(tuple(map(_outline_stage, summary.stages))),
        final_stage=None,
        calls=shared.share(summary.calls),
        signature=_shared_signature(summary.signature, shared),
        heaviest=shared.share_each(summary.heaviest),
        opcodes=shared.share(summary.opcodes),
        operations=shared.share(summary.operations),
        settings=shared.share(summary.settings),
        tpu_flags=shared.share(summary.tpu_flags),
        features=replace(
            features,
            given=_shared_signature(features.given, shared),
            operations=shared.share(features.operations),
            places=shared.share_each(features.places),
            functions=shared.share_each(features.functions),
            scalars=shared.share_each(features.scalars),
            content=shared.share(features.content),
            entry=shared.share(features.entry),
            pieces=shared.share(features.pieces),
            weights=shared.share(features.weights),
        ),
    )


def _outline_files(files: ModuleFiles, shared: SharedValues) -> ModuleFiles:
    return replace(
        files.outline(), name=shared.share(files.name), folder=shared.share(files.folder)
    )


def _outline_stage(snapshot: SnapshotSummary) -> SnapshotSummary:
    return replace(snapshot, stage=replace(snapshot.stage, artifacts=()))


def _shared_signature(signature: Signature, shared: SharedValues) -> Signature:
    arguments = shared.share_each(signature.arguments)
    results = shared.share_each(signature.results)
    return shared.share(Signature(arguments, results, signature.partitions))
