"""The snapshots of one module: their order, and the selection of one compilation."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from xlareport.dump.modules import Artifact, SnapshotFiles
from xlareport.dump.snapshot_order import place_of_contents, place_of_time, places_of_contents
from xlareport.hlo.model import HloModule
from xlareport.hlo.same_compilation import contradiction, parameter_contradiction

OPTIMIZED = "after_optimizations"
"""The name of the snapshot that ends a compilation."""


def has_repeated_numbers(stages: Sequence[SnapshotFiles]) -> bool:
    """Return whether a number represents several snapshots: a compilation gives it once."""
    return any(len(same) > 1 for same in _by_number(stages).values())


def snapshots_of_same_run(
    stages: Sequence[SnapshotFiles], last: SnapshotFiles
) -> Sequence[SnapshotFiles] | None:
    """Return the snapshots of the run that wrote `last`; None if file times do not show it.

    They show it if one moment separates each two snapshots with the same number: one run ended
    before another began. That moment is the longest pause.
    """
    times = {stage: time for stage in stages if (time := _last_write(stage)) is not None}
    if len(times) < len(stages):
        return None
    shared = [sorted(map(times.__getitem__, same)) for same in _by_number(stages).values()]
    parted = [same for same in shared if len(same) > 1]
    begin, end = max(same[0] for same in parted), min(same[-1] for same in parted)
    moments = [time for time in sorted(times.values()) if begin <= time <= end]
    if begin >= end or any(len(same) > 2 for same in parted):
        return None
    pause = max(pairwise(moments), key=lambda pair: pair[1] - pair[0])
    is_later = times[last] >= pause[1]
    return [stage for stage in stages if (times[stage] >= pause[1]) is is_later]


def _by_number(stages: Sequence[SnapshotFiles]) -> dict[int, list[SnapshotFiles]]:
    numbered: dict[int, list[SnapshotFiles]] = defaultdict(list)
    for stage in stages:
        if stage.sequence is not None:
            numbered[stage.sequence].append(stage)
    return numbered


def _last_write(stage: SnapshotFiles) -> float | None:
    """Return when the last form of a snapshot was written, in seconds."""
    times = [artifact.entry.modified for artifact in stage.artifacts]
    return max((time for time in times if time is not None), default=None)


class ParsedSnapshot(Struct, frozen=True):
    """A stage and what its best readable form holds."""

    stage: SnapshotFiles
    hlo: HloModule
    read_from: Artifact
    """The file that was read."""


def final_snapshot(snapshots: Sequence[ParsedSnapshot]) -> ParsedSnapshot | None:
    """Return the optimized module: `after_optimizations`, else the last snapshot."""
    named = (snapshot for snapshot in snapshots if snapshot.stage.name == OPTIMIZED)
    return next(named, snapshots[-1] if snapshots else None)


def order_snapshots(
    snapshots: Sequence[ParsedSnapshot], *, numbers_restart: bool = False
) -> tuple[ParsedSnapshot, ...]:
    """Return the snapshots in order: by number and name, by file times, by contents.

    A snapshot whose name implies no position is inserted where its contents fit best. Numbered
    snapshots after one that may precede passes are ordered by file times, else by contents.
    `numbers_restart` is for a compilation that restarts the numbers of its snapshots.
    """
    placed = [snapshot for snapshot in snapshots if snapshot.stage.is_placed]
    if numbers_restart or not has_repeated_numbers([ordered.stage for ordered in placed]):
        placed = _before_passes(placed)
    for snapshot in snapshots if placed else ():
        if not snapshot.stage.is_placed:
            placed.insert(*_placed_by_content(snapshot, placed))
    return tuple(placed) or tuple(snapshots)


def _before_passes(snapshots: list[ParsedSnapshot]) -> list[ParsedSnapshot]:
    """Put a snapshot that may precede passes before those that the evidence puts behind it."""
    early = (at for at, snapshot in enumerate(snapshots) if snapshot.stage.may_precede_passes)
    at = next(early, None)
    if at is None:
        return snapshots
    others = [*snapshots[:at], *snapshots[at + 1 :]]
    place, placed_by = _evident_place(snapshots[at], others, at)
    if place >= at or others[place].stage.sequence is None:
        return snapshots
    moved = replace(snapshots[at].stage, placed_by=placed_by)
    return [*others[:place], replace(snapshots[at], stage=moved), *others[place:]]


def _evident_place(
    snapshot: ParsedSnapshot, others: Sequence[ParsedSnapshot], named: int
) -> tuple[int, Literal["time", "content"]]:
    """Return the index at which a snapshot belongs, and the evidence; else `named`."""
    times = [other.read_from.entry.modified for other in others]
    at = place_of_time(snapshot.read_from.entry.modified, times)
    if at is not None and at <= named:
        return at, "time"
    if len({candidate.read_from.name.kind for candidate in (snapshot, *others)}) > 1:
        return named, "content"  # lines of different forms are never one object
    best = places_of_contents(
        _instruction_numbers(snapshot), [_instruction_numbers(other) for other in others]
    )
    return named if named in best else best[-1], "content"


def _placed_by_content(
    snapshot: ParsedSnapshot, others: Sequence[ParsedSnapshot]
) -> tuple[int, ParsedSnapshot]:
    """Return the index of a snapshot by its contents, and the snapshot marked accordingly."""
    contents = [(_instruction_numbers(other), other.read_from.entry.modified) for other in others]
    at = place_of_contents(
        _instruction_numbers(snapshot), snapshot.read_from.entry.modified, contents
    )
    return at, replace(snapshot, stage=replace(snapshot.stage, placed_by="content"))


def _instruction_numbers(snapshot: ParsedSnapshot) -> frozenset[int]:
    """Return numbers for the instructions; readers make equal lines of a module one object."""
    return frozenset(id(instruction) for instruction in snapshot.hlo.instructions)


def mark_foreign_snapshots(
    snapshots: Sequence[ParsedSnapshot], *, numbers_restart: bool
) -> tuple[ParsedSnapshot, ...]:
    """Return all snapshots; those of another compilation than the final one get `left_out`.

    Runs and ranks that write under the same names overwrite each other's files. `numbers_restart`
    is for a compilation that restarts the numbers of its snapshots.
    """
    final = final_snapshot(snapshots)
    if final is None:
        return ()
    by_content = _marked_by_content(snapshots, final)
    stages = [snapshot.stage for snapshot in by_content if not snapshot.stage.left_out]
    if numbers_restart or not has_repeated_numbers(stages):
        return by_content
    together = snapshots_of_same_run(stages, final.stage)
    reason = _NO_TELLING if together is None else _OTHER_TIME
    belong = together or [stage for stage in stages if stage.sequence is None]
    return tuple(
        snapshot if snapshot.stage in belong else _left_out(snapshot, reason)
        for snapshot in by_content
    )


_OTHER_TIME = (
    "two snapshots have this number, and by the file times this one belongs to another run"
)
_NO_TELLING = (
    "two snapshots have this number, and neither contents nor file times show which of them "
    "belongs to this compilation"
)


def _marked_by_content(
    snapshots: Sequence[ParsedSnapshot], final: ParsedSnapshot
) -> tuple[ParsedSnapshot, ...]:
    """Mark what contradicts the final snapshot; lines are looked at where the first one does."""
    compare = _contradiction if _contradiction(snapshots[0], final) else _by_parameters
    end = snapshots.index(final)
    return tuple(
        _left_out(snapshot, compare(snapshot, final) if place <= end else compare(final, snapshot))
        for place, snapshot in enumerate(snapshots)
    )


def _contradiction(earlier: ParsedSnapshot, later: ParsedSnapshot) -> str:
    """Return the contradiction of two snapshots, with source lines if both formats have them."""
    kinds = {snapshot.read_from.name.kind for snapshot in (earlier, later)}
    if len(kinds) > 1 or "hlo-dot" in kinds:
        return _by_parameters(earlier, later)
    return contradiction(earlier.hlo, later.hlo)


def _by_parameters(earlier: ParsedSnapshot, later: ParsedSnapshot) -> str:
    return parameter_contradiction(earlier.hlo, later.hlo)


def _left_out(snapshot: ParsedSnapshot, reason: str) -> ParsedSnapshot:
    if not reason or snapshot.stage.left_out:
        return snapshot
    return replace(snapshot, stage=replace(snapshot.stage, left_out=reason))


class PassStep(Struct, frozen=True):
    """The step of a pass between two snapshots."""

    name: str
    """Of the pass; empty if not known."""
    number: str
    """Of the snapshot after it, as in its file name: `0017`; empty if it has none."""


def list_pass_steps(
    snapshots: Sequence[ParsedSnapshot],
) -> Iterator[tuple[PassStep, HloModule, HloModule]]:
    """Yield the numbered steps of passes, each with the module before and after it."""
    for earlier, later in pairwise(snapshots):
        stage = later.stage
        if stage.name == "pass" and stage.after and stage.sequence is not None:
            yield PassStep(stage.after, stage.key), earlier.hlo, later.hlo
