"""The certain facts about each boundary between snapshots: the pass that ran, or may have run."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise

from msgspec import Struct

from xlareport.dump.modules import SnapshotFiles

START = "pipeline-start"
END = "pipeline-end"


class DumpMode(StrEnum):
    """Which boundaries XLA was asked to write."""

    CHANGED = "changed"
    """`--xla_dump_hlo_pass_re=.*`: pipeline starts, and passes that reported a change."""
    EVERY = "every"
    """Another regex that matches all: every boundary is written."""
    SOME = "some"
    """A regex that matches some passes only."""
    NONE = "none"
    """No passes."""
    UNKNOWN = "unknown"


class ModeFinding(Struct, frozen=True):
    """How the passes were dumped, and how we know."""

    mode: DumpMode
    evidence: str


class Boundary(Struct, frozen=True):
    """From one snapshot to the next."""

    number: int
    """The index of the snapshot after it."""
    ran: str | None
    """The pass that ran last, or is at work; None where the files do not say."""
    certain: bool
    """Whether only that pass ran."""
    pipeline_start: bool
    """The snapshot was written because a pipeline began; `ran` is the pass inside which it did."""
    identical: bool
    actor: str
    """Who made the change, as the subject of a sentence: `` `algsimp` ``."""
    note: str
    """In words: what is known; names are in backticks."""
    inside: tuple[tuple[str, bool], ...] = ()
    """Every pass that ran, in order, and whether it reported a change; known from metadata only."""

    @property
    def many_passes(self) -> bool:
        """Whether the files do not say which passes ran: a whole compilation, as a rule."""
        return self.ran is None


def boundaries(stages: Sequence[SnapshotFiles], identical: Sequence[bool]) -> tuple[Boundary, ...]:
    """Return the boundary of each step; `identical[i]` is true if stages i and i+1 are equal."""
    mode = dump_mode(stages).mode
    around = _passes_around(stages)
    return tuple(
        _boundary(number, stages[number - 1], stages[number], mode, around[number], same=same)
        for number, same in enumerate(identical, 1)
    )


def _passes_around(stages: Sequence[SnapshotFiles]) -> list[str | None]:
    """Return for each file the pass that wrote it or files before it while it ran, if known.

    Files that a helper of a pass wrote are named after the helper alone. The files around them
    name the pass, as next and as done.
    """
    result: list[str | None] = [None] * len(stages)
    outside = [number for number, stage in enumerate(stages) if not is_inside(stage)]
    for first, last in pairwise(outside):
        before, after = stages[first], stages[last]
        if after.after and before.pipeline == after.pipeline and before.before == after.after:
            result[first + 1 : last + 1] = [after.after] * (last - first)
    for number, ran in passes_that_begin_pipelines(stages):
        result[number] = ran
    return result


def passes_that_begin_pipelines(stages: Sequence[SnapshotFiles]) -> Iterator[tuple[int, str]]:
    """Yield the starts of pipelines that a pass runs while it works, each with that pass.

    The file before names the pass as next, the next file of that pipeline as done. The name alone
    of the cleanup that only the SPMD partitioner runs says that it runs in it. A pipeline that is
    itself the next pass made no change before it began.
    """
    later: dict[str, SnapshotFiles] = {}
    for number in range(len(stages) - 1, 0, -1):
        before, start = stages[number - 1], stages[number]
        end = later.get(before.pipeline or "") if before.pipeline != start.pipeline else None
        if start.after == START and end is not None and end.after not in (None, START):
            is_named = before.before == end.after != start.pipeline
            if end.after and (is_named or start.pipeline == _CLEANUP_OF_PARTITIONER):
                yield number, end.after
        later[start.pipeline or ""] = start


_CLEANUP_OF_PARTITIONER = "spmd-cleanup"


def _boundary(
    number: int,
    before: SnapshotFiles,
    after: SnapshotFiles,
    mode: DumpMode,
    around: str | None,
    *,
    same: bool,
) -> Boundary:
    starts = after.after == START
    inside = is_inside(after)
    at_work = after.pipeline if after.after else around
    ran = at_work if inside else around if starts else after.after
    together = after.pipeline is not None and after.pipeline == before.pipeline
    alone = ran is not None and is_inside(before) and before.pipeline == ran
    named = not starts or before.before == ran
    known = alone or (around is not None and ran == around and named)
    certain = known or (ran is not None and mode is DumpMode.EVERY and together)
    within = f" in `{around}`" if inside and around not in (None, ran) else ""
    return Boundary(
        number=number,
        ran=ran,
        certain=certain,
        pipeline_start=starts,
        identical=same,
        actor=actor(ran, certain=certain) + within if ran else _before_what(after),
        note=_attribution(before, after, ran, certain=certain, same=same, mode=mode, around=around),
    )


def is_inside(stage: SnapshotFiles) -> bool:
    """Return whether a pass wrote a snapshot while it ran, as copy-insertion does."""
    return stage.pipeline is not None and (stage.after is None) != (stage.before is None)


def actor(ran: str, *, certain: bool) -> str:
    """Return the subject of a sentence about what a pass did, alone or after others."""
    return f"`{ran}`" if certain else f"Passes up to and including `{ran}`"


def _before_what(after: SnapshotFiles) -> str:
    if after.after == START:
        return f"Passes before `{after.pipeline}`"
    if is_inside(after):
        return f"Passes up to {_words(after.before)} in `{after.pipeline}`"
    if after.pipeline is None and after.sequence is None:
        return f"Passes up to the snapshot {after.label}"
    return NOBODY


NOBODY = "Passes between the two snapshots"
"""Subject of sentences about changes by unknown passes."""


def _attribution(
    before: SnapshotFiles,
    after: SnapshotFiles,
    ran: str | None,
    *,
    certain: bool,
    same: bool,
    mode: DumpMode,
    around: str | None,
) -> str:
    if after.after == START:
        began = f"The file was written because `{after.pipeline}` began"
        if around is None:
            return f"{began}{_unnamed(before, same=same)}."
        return f"{began} inside `{around}`{_named_around(before, around)}."
    if is_inside(after):
        moment = f"after {_words(after.after)}" if after.after else f"before {_words(after.before)}"
        within = f" in `{around}`" if around not in (None, after.pipeline) else ""
        return f"Written inside `{after.pipeline}`{within}, {moment}."
    files = f"the files {before.key} and {after.key}"
    if ran is None:
        return f"The names of {files} do not say which passes ran between them."
    if certain:
        return f"Only `{ran}` ran."
    others = "passes that report no change are not written" if mode is DumpMode.CHANGED else ""
    reason = f" ({others})" if others else ""
    return (
        f"Attributed to `{ran}`, the last pass between {files}; earlier passes are possible"
        f"{reason}."
    )


def _named_around(before: SnapshotFiles, around: str) -> str:
    """Return how sure it is that a pass alone made the change before its pipeline began."""
    if before.before != around:
        return "; earlier passes are possible"
    return f" (matched: the file {before.key} names it as the next pass, a later file as done)"


def _unnamed(before: SnapshotFiles, *, same: bool) -> str:
    if same:
        return "; nothing changed since the last file"
    known = before.after if before.after not in (None, START) and not is_inside(before) else None
    since = f"; the last that did is `{known}`" if known else ""
    return f". Passes that ran before it made the change and left no file of their own{since}"


def _words(name: str | None) -> str:
    return (name or "").replace("_", " ")


def dump_mode(stages: Sequence[SnapshotFiles]) -> ModeFinding:
    """Find out which boundaries were written, from the names of what follows what.

    A dump of every boundary chains: what a file names as next, the next file names as done. The
    literal `.*` (since April 2021) leaves out what reported no change, so few files chain.
    """
    passes = [stage for stage in stages if stage.sequence is not None and stage.after is not None]
    if not passes:
        return ModeFinding(DumpMode.NONE, "No file is named after a pass.")
    if passes[0].sequence == 0 and passes[0].after != START:
        return ModeFinding(DumpMode.SOME, "The first file is not the start of a pipeline.")
    linked, possible = _chain_count(passes)
    if possible < _FEW:
        return ModeFinding(DumpMode.UNKNOWN, "Too few files to decide.")
    share = (
        f"for {linked} of {possible} files the pass that a file names as next is the one that the "
        "following file names as done"
    )
    if not any(pass_.after == START for pass_ in passes):
        return ModeFinding(DumpMode.SOME, "No file marks the start of a pipeline.")
    if linked >= _NEARLY_ALL * possible:
        return ModeFinding(DumpMode.EVERY, f"{share}, so no pass in between was left out.")
    return ModeFinding(
        DumpMode.CHANGED, f"{share}; in between, passes ran that left no file of their own."
    )


_FEW = 5
_NEARLY_ALL = 0.9


def _chain_count(passes: Sequence[SnapshotFiles]) -> tuple[int, int]:
    """Return how many adjacent pairs of one pipeline chain, and how many pairs there are."""
    pairs = [
        (pass_, other)
        for pass_, other in pairwise(passes)
        if pass_.pipeline == other.pipeline
        and other.after != START
        and pass_.before not in (None, END)
    ]
    return sum(snapshot.before == other.after for snapshot, other in pairs), len(pairs)
