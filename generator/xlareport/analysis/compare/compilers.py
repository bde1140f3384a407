"""Detects another compiler version, by differences that no program or option explains."""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto

from msgspec import Struct

from xlareport.analysis.compare.comparison import DISABLED, Comparison, Sketched, donates_otherwise
from xlareport.analysis.compare.divergence import SnapshotDigest, Where
from xlareport.analysis.compare.given_program import NO_PROGRAM, Program
from xlareport.knowledge.grades import Grade

_START = "pipeline-start"
_OTHER_COMPILER = 2
"""Number of pipelines on one side only from which another compiler version is assumed."""
_WHICH_PASSES = ("xla_dump_hlo_pass_re", "xla_dump_hlo_pipeline_re")
"""Options that select the dumped passes; with different values, pipelines may seem missing."""


class Sign(Enum):
    """Evidence of another compiler version."""

    BUILD = auto()
    """Builds in the names of files."""
    BEGINNING = auto()
    """A pipeline that begins with another pass."""
    PIPELINES = auto()
    """Pipelines that only one side has."""
    FORM = auto()
    """Stack frames that only one side has."""
    RESULT = auto()
    """The same program and options end otherwise; it could be another machine too."""


class OtherCompiler(Struct, frozen=True):
    """A sign that another version of the compiler ran."""

    pipeline: str
    """The pipeline that begins with another pass; empty if the evidence is another one."""
    base: tuple[str, ...]
    """The build, the pass with which it begins, else the pipelines that only this side has."""
    head: tuple[str, ...]
    grade: Grade
    modules: tuple[str, ...]
    sign: Sign


def find_other_compiler(comparisons: Sequence[Comparison]) -> OtherCompiler | None:
    """Return the clearest evidence that base and head have other compilers; None without."""
    pairs = [pair for pair in comparisons if pair.base and pair.head and not pair.bare]
    builds = _by_build(pairs)
    if builds is not None or any(_builds(pair) for pair in pairs):
        return builds  # names of files tell the build: nothing else has to be inferred
    disabled = {
        name
        for pair in pairs
        for option in pair.options
        if option.name == DISABLED
        for value in (option.base, option.head)
        for name in (value or "").split(",")
    }
    began = {
        (*start, pair.present.sketch.key) for pair in pairs for start in _begun_otherwise(pair)
    }
    signs = [start for start in sorted(began) if not disabled & {start[1], start[2]}]
    if signs:
        pipeline, base, head, _ = signs[0]
        modules = tuple(dict.fromkeys(sign[3] for sign in signs))
        return OtherCompiler(pipeline, (base,), (head,), Grade.MATCHED, modules, Sign.BEGINNING)
    sign = _by_form(pairs) or _by_pipelines([pair for pair in pairs if _same_devices(pair)])
    return sign or _by_result(pairs)


def _builds(pair: Comparison) -> tuple[str, str] | None:
    """Return the compiler builds of both sides; None if one is unknown."""
    builds = tuple(side.build if side else "" for side in (pair.base, pair.head))
    return (builds[0], builds[1]) if all(builds) else None


def _by_build(pairs: Sequence[Comparison]) -> OtherCompiler | None:
    for pair in pairs:
        builds = _builds(pair)
        if builds and builds[0] != builds[1]:
            base, head = builds
            key = (pair.present.sketch.key,)
            return OtherCompiler("", (base,), (head,), Grade.EXACT, key, Sign.BUILD)
    return None


def _by_result(pairs: Sequence[Comparison]) -> OtherCompiler | None:
    """Return the cause if a pass has different results for the same program and options."""
    for pair in pairs:
        if (
            pair.divergence.where is not Where.PASS
            or pair.options
            or pair.same
            or pair.differs_by_autotuning
            or donates_otherwise(pair)
        ):
            continue
        base, head = pair.base, pair.head
        stated = base and head and base.summary.settings and head.summary.settings
        if (
            stated
            and dumped_passes(base) == dumped_passes(head)
            and not diverges_at_autotuning(pair)
        ):
            key = (pair.present.sketch.key,)
            return OtherCompiler("", (), (), Grade.GUESSED, key, Sign.RESULT)
    return None


_PICKERS = ("autotun", "algorithm_picker", "algorithm-picker")
"""Passes, and pipelines of passes, that time alternatives on the device and take the fastest."""


def diverges_at_autotuning(comparison: Comparison) -> bool:
    """Return whether both part where alternatives are timed."""
    sides = (
        (comparison.base, comparison.divergence.base),
        (comparison.head, comparison.divergence.head),
    )
    ran = [side.snapshots[at] for side, at in sides if side is not None and at is not None]
    words = [f"{step.pipeline} {step.after}" for step in ran]
    return bool(words) and all(any(sign in word for sign in _PICKERS) for word in words)


def _by_form(pairs: Sequence[Comparison]) -> OtherCompiler | None:
    """Return the cause where the texts differ in form: since 2025 they have stack frame tables.

    Protos have had them since 2023, so a proto and a text of one compiler may differ in them.
    """
    for pair in pairs:
        ours, theirs = (_program_of(side) for side in (pair.base, pair.head))
        if _has_text(pair.base) != _has_text(pair.head):
            continue
        if ours.operations and theirs.operations and ours.stacks != theirs.stacks:
            key = (pair.present.sketch.key,)
            return OtherCompiler("", (), (), Grade.MATCHED, key, Sign.FORM)
    return None


def _has_text(side: Sketched | None) -> bool:
    """Return whether the first snapshot is there as text, which is read before other forms."""
    stages = side.summary.stages[:1] if side else ()
    artifacts = (artifact for row in stages for artifact in row.stage.artifacts)
    return any(artifact.name.kind == "hlo-text" for artifact in artifacts)


def _by_pipelines(pairs: Sequence[Comparison]) -> OtherCompiler | None:
    """Return the cause if several pipelines run on one side only."""
    pairs = [pair for pair in pairs if dumped_passes(pair.base) == dumped_passes(pair.head)]
    ours = dict.fromkeys(name for pair in pairs for name in _first_passes(_moments(pair.base)))
    theirs = dict.fromkeys(name for pair in pairs for name in _first_passes(_moments(pair.head)))
    base = tuple(name for name in ours if name not in theirs)
    head = tuple(name for name in theirs if name not in ours)
    if not ours or not theirs or len(base) + len(head) < _OTHER_COMPILER:
        return None
    modules = tuple(pair.present.sketch.key for pair in pairs if not pair.same)
    return OtherCompiler("", base, head, Grade.GUESSED, modules, Sign.PIPELINES)


def _program_of(side: Sketched | None) -> Program:
    return side.facts.program if side else NO_PROGRAM


def _same_devices(pair: Comparison) -> bool:
    """Return whether both have as many devices: partitioning adds pipelines."""
    ours, theirs = (_program_of(side) for side in (pair.base, pair.head))
    return (ours.partitions, ours.replicas) == (theirs.partitions, theirs.replicas)


def dumped_passes(side: Sketched | None) -> tuple[tuple[str, str], ...]:
    """Return the options that say which passes a dump has."""
    settings = side.summary.settings if side else ()
    return tuple(
        (setting.setting.name, setting.setting.value)
        for setting in settings
        if setting.setting.name in _WHICH_PASSES
    )


def _moments(side: Sketched | None) -> Sequence[SnapshotDigest]:
    return side.snapshots if side else ()


def _begun_otherwise(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    """Yield (pipeline, first pass of the base, of the head) where these differ."""
    ours, theirs = (_first_passes(side.snapshots) for side in comparison.sides)
    for pipeline in sorted(ours.keys() & theirs.keys()):
        if not ours[pipeline] & theirs[pipeline]:
            yield pipeline, min(ours[pipeline]), min(theirs[pipeline])


def _first_passes(snapshots: Sequence[SnapshotDigest]) -> Mapping[str, set[str]]:
    """Return the first passes of each pipeline; the start of every pipeline is dumped."""
    first_passes: dict[str, set[str]] = {}
    for snapshot in snapshots:
        if snapshot.after == _START and snapshot.pipeline and snapshot.before:
            first_passes.setdefault(snapshot.pipeline, set()).add(snapshot.before)
    return first_passes
