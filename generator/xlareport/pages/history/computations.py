"""Timelines of a module's computations for the page script: versions and their snapshots.

`KEY` lists the timelines that are shown; `KEY-N` are files of versions: first those that are shown,
one each, then the others, several in each. `KEY-all` names every computation that any snapshot
has, so that the page can put together each snapshot between the first and the last one:

    {"names": FOLDED, "renamed": {"3": [[0, "main"], [12, "main.1"]]}, "in": [0, -1, ...],
     "sizes": [120, 0, ...], "first": [0, ...], "end": [44, ...], "texts": ["0012", ...]}

`names` are the last ones. `in` is the number of the file, -1 where the graph of the module as it
was left tells of it, -2 where that of the module as it came in does, -3 where there is no room.
`sizes` is how many versions it has in its file, in the order of this list.
"""

from collections.abc import Collection, Iterator, Sequence
from operator import sub
from typing import Any

from msgspec import Struct

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.node_timelines import (
    NO_NODE,
    ComputationTimeline,
    NodeVersion,
    build_timelines,
    most_at_once,
)
from xlareport.hlo.model import HloModule
from xlareport.pages import navigation
from xlareport.pages.pictures.snapshot_graph import Interned, ShownInstruction, columns
from xlareport.pictures.shade import NO_COLOR_DATA
from xlareport.runtime.grouping import group_by_key
from xlareport.storage.payloads import Payload, make_payload
from xlareport.storage.rows import flat
from xlareport.storage.string_folding import fold_strings

_MOST_TIMELINES = 24
_MOST_FORMS = 120_000
"""Limit on versions over all timelines of a module; timelines with fewer changes are left out."""
_FEWEST_INSTRUCTIONS = 3
_MOST_IN_ALL = 200_000
"""Limit on versions of a module; further computations are left out, as the page says."""
_PIECE = 8_000
"""Forms from which on a file of timelines that are not shown is full."""
_AT_THE_END, _AT_THE_START, _NOWHERE = -1, -2, -3


class _Chosen(Struct, frozen=True):
    """The timelines that are shown, and how many are not."""

    timelines: tuple[ComputationTimeline, ...]
    others: int


def computation_payloads(
    slug: str,
    snapshots: SnapshotSequence,
    stages: Sequence[tuple[str, str]],
    texts: Collection[str] = (),
) -> Iterator[Payload]:
    """Yield the list and the timelines as files.

    `stages` are keys and labels of the snapshots, `texts` the keys of those that have a text.
    """
    computation_timelines = build_timelines(snapshots)
    chosen = _choose(computation_timelines, snapshots.modules[-1])
    key = navigation.module_key(slug, "versions")
    index = {
        "stages": list(stages),
        "timelines": [
            [timeline.name, timeline.frames, timeline.end, most_at_once(timeline)]
            for timeline in chosen.timelines
        ],
        "others": chosen.others,
    }
    yield make_payload(key, index)
    places = _stored_places(computation_timelines, chosen.timelines, len(snapshots.modules))
    files = group_by_key(zip(places, computation_timelines, strict=True))
    for place, some in sorted(files.items()):
        if place >= 0:
            name = f"{key}-{place}"
            yield make_payload(name, _collect_versions(some, snapshots.modules))
    if len(snapshots.modules) > 1:
        every = _all(computation_timelines, places) | {
            "texts": [text for text, _ in stages if text in texts]
        }
        yield make_payload(f"{key}-all", every)


def _stored_places(
    computation_timelines: Sequence[ComputationTimeline],
    shown: Sequence[ComputationTimeline],
    snapshots: int,
) -> list[int]:
    """Return the file number of each timeline, or a negative number for another place."""
    where = {computation_timeline.number: place for place, computation_timeline in enumerate(shown)}
    room = _MOST_IN_ALL - sum(len(computation_timeline.versions) for computation_timeline in shown)
    file, filled = len(shown), 0
    places: list[int] = []
    for computation_timeline in computation_timelines:
        place = where.get(computation_timeline.number, _elsewhere(computation_timeline, snapshots))
        if place is None:
            room -= len(computation_timeline.versions)
            if filled > _PIECE:
                file, filled = file + 1, 0
            filled += len(computation_timeline.versions)
            place = file if room >= 0 else _NOWHERE
        places.append(place)
    return places


def _elsewhere(timeline: ComputationTimeline, snapshots: int) -> int | None:
    """Return which graph has a computation that never changed; None if none does."""
    if len(timeline.frames) > 1 or len(timeline.names) > 1:
        return None
    if timeline.end == snapshots:
        return _AT_THE_END
    return _AT_THE_START if timeline.frames == [0] else None


def _all(
    computation_timelines: Sequence[ComputationTimeline], places: Sequence[int]
) -> dict[str, Any]:
    """Return where the versions of each computation are stored, and its range of snapshots."""
    return {
        "names": fold_strings(
            [computation_timeline.name for computation_timeline in computation_timelines]
        ).listed(),
        "renamed": {
            computation_timeline.number: computation_timeline.names
            for computation_timeline in computation_timelines
            if len(computation_timeline.names) > 1
        },
        "in": places,
        "sizes": [
            len(computation_timeline.versions) if place >= 0 else 0
            for computation_timeline, place in zip(computation_timelines, places, strict=True)
        ],
        "first": [
            computation_timeline.names[0][0] for computation_timeline in computation_timelines
        ],
        "end": [computation_timeline.end for computation_timeline in computation_timelines],
    }


def _choose(computation_timelines: Sequence[ComputationTimeline], last: HloModule) -> _Chosen:
    """Return the entry and the most changed computations, up to a limit."""
    entry = last.entry.name if last.entry else ""
    shown = [
        computation_timeline
        for computation_timeline in computation_timelines
        if len(computation_timeline.frames) > 1
        and most_at_once(computation_timeline) >= _FEWEST_INSTRUCTIONS
    ]
    shown.sort(
        key=lambda computation_timeline: (
            computation_timeline.name != entry,
            -len(computation_timeline.frames),
            -len(computation_timeline.versions),
        )
    )
    room = _MOST_FORMS
    taken: list[ComputationTimeline] = []
    for computation_timeline in shown[:_MOST_TIMELINES]:
        room -= len(computation_timeline.versions)
        if room >= 0:
            taken.append(computation_timeline)
    return _Chosen(tuple(taken), len(shown) - len(taken))


def _collect_versions(
    timelines: Sequence[ComputationTimeline], modules: Sequence[HloModule]
) -> dict[str, Any]:
    """Return the versions; nodes are numbered anew in the order in which they begin.

    A node is given by its distance from the one before it, its operands by their distance above it.
    Control predecessors and called timelines are given by the place of the version.
    """
    versions = [version for timeline in timelines for version in timeline.versions]
    nodes = Interned()
    numbers = [nodes.number(version.node) for version in versions]
    seen = (ShownInstruction(version.instruction, modules[version.first]) for version in versions)
    return {
        "lives": list(map(sub, numbers, [0, *numbers[:-1]])),
        "first": [version.first for version in versions],
        "end": [version.end for version in versions],
        "operands": flat(_operands(version, nodes) for version in versions),
        "roots": [place for place, version in enumerate(versions) if version.instruction.is_root],
        "controls": {
            place: [nodes.number(control) for control in version.controls if control != NO_NODE]
            for place, version in enumerate(versions)
            if version.controls
        },
        "calls": {
            place: version.called for place, version in enumerate(versions) if version.called
        },
        **columns(seen, NO_COLOR_DATA),
    }


def _operands(version: NodeVersion, nodes: Interned) -> list[int | str]:
    """Return how far above it the nodes are that a version uses; `3#1` is element 1 of a tuple."""
    operands: list[int | str] = []
    number = nodes.number(version.node)
    for operand, node in zip(version.instruction.operands, version.operands, strict=True):
        if node != NO_NODE:
            element = operand.partition("#")[2]
            above = number - nodes.number(node)
            operands.append(f"{above}#{element}" if element else above)
    return operands
