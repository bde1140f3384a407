"""Timelines of a module's computations for the page script: forms and the snapshots they last.

`KEY` lists the timelines that are shown; `KEY-N` are files of forms: first those that are shown,
one each, then the others, several in each. `KEY-all` names every computation that any snapshot
has, so that the page can put together each snapshot between the first and the last one:

    {"names": FOLDED, "renamed": {"3": [[0, "main"], [12, "main.1"]]}, "in": [0, -1, ...],
     "sizes": [120, 0, ...], "first": [0, ...], "end": [44, ...], "texts": ["0012", ...]}

`names` are the last ones. `in` is the number of the file, -1 where the graph of the module as it
was left tells of it, -2 where that of the module as it came in does, -3 where there is no room.
`sizes` is how many forms it has in its file, in the order of this list.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import sub
from typing import Any

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.node_timelines import (
    NOBODY,
    ComputationTimeline,
    NodeVersion,
    build_timelines,
    most_at_once,
)
from xlareport.hlo.model import HloModule
from xlareport.pages import navigation
from xlareport.pages.pictures.graph import Interned, Seen, columns, flat
from xlareport.pictures.shade import NOTHING
from xlareport.storage.folding import fold_strings
from xlareport.storage.payloads import Payload, make_payload

_MOST_TIMELINES = 24
_MOST_FORMS = 120_000
"""In all timelines of a module; those with fewer changes are left out, and the page says so."""
_FEWEST_INSTRUCTIONS = 3
_MOST_IN_ALL = 200_000
"""Forms of a module; computations beyond that are left out, and the page says so."""
_PIECE = 8_000
"""Forms from which on a file of timelines that are not shown is full."""
_AT_THE_END, _AT_THE_START, _NOWHERE = -1, -2, -3


@dataclass(frozen=True, slots=True)
class _Chosen:
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
    places = _places(computation_timelines, chosen.timelines, len(snapshots.modules))
    files: dict[int, list[ComputationTimeline]] = {}
    for timeline, place in zip(computation_timelines, places, strict=True):
        files.setdefault(place, []).append(timeline)
    for place, some in sorted(files.items()):
        if place >= 0:
            name = f"{key}-{place}"
            yield make_payload(name, _collect_versions(some, snapshots.modules))
    if len(snapshots.modules) > 1:
        every = _all(computation_timelines, places) | {
            "texts": [text for text, _ in stages if text in texts]
        }
        yield make_payload(f"{key}-all", every)


def _places(
    computation_timelines: Sequence[ComputationTimeline],
    shown: Sequence[ComputationTimeline],
    snapshots: int,
) -> list[int]:
    """Return the file of each timeline, or where else it can be found."""
    own = {computation_timeline.number: place for place, computation_timeline in enumerate(shown)}
    room = _MOST_IN_ALL - sum(len(computation_timeline.forms) for computation_timeline in shown)
    file, filled = len(shown), 0
    places: list[int] = []
    for computation_timeline in computation_timelines:
        place = own.get(computation_timeline.number, _elsewhere(computation_timeline, snapshots))
        if place is None:
            room -= len(computation_timeline.forms)
            if filled > _PIECE:
                file, filled = file + 1, 0
            filled += len(computation_timeline.forms)
            place = file if room >= 0 else _NOWHERE
        places.append(place)
    return places


def _elsewhere(timeline: ComputationTimeline, snapshots: int) -> int | None:
    """Return which graph tells of a computation that never changed; None where none does."""
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
            len(computation_timeline.forms) if place >= 0 else 0
            for computation_timeline, place in zip(computation_timelines, places, strict=True)
        ],
        "first": [
            computation_timeline.names[0][0] for computation_timeline in computation_timelines
        ],
        "end": [computation_timeline.end for computation_timeline in computation_timelines],
    }


def _choose(computation_timelines: Sequence[ComputationTimeline], last: HloModule) -> _Chosen:
    """Take the entry, then what changes most often, as long as there is room."""
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
            -len(computation_timeline.forms),
        )
    )
    room = _MOST_FORMS
    taken: list[ComputationTimeline] = []
    for computation_timeline in shown[:_MOST_TIMELINES]:
        room -= len(computation_timeline.forms)
        if room >= 0:
            taken.append(computation_timeline)
    return _Chosen(tuple(taken), len(shown) - len(taken))


def _collect_versions(
    timelines: Sequence[ComputationTimeline], modules: Sequence[HloModule]
) -> dict[str, Any]:
    """Return the forms; lives are numbered anew in the order in which they begin.

    A life is told by its distance from that before it, what it uses by the distance above it. By
    the places of forms stand the lives that run before them, and the timelines that they call.
    """
    forms = [form for timeline in timelines for form in timeline.forms]
    lives = Interned()
    numbers = [lives.number(form.life) for form in forms]
    seen = (Seen(form.instruction, modules[form.first]) for form in forms)
    return {
        "lives": list(map(sub, numbers, [0, *numbers[:-1]])),
        "first": [form.first for form in forms],
        "end": [form.end for form in forms],
        "operands": flat(_operands(form, lives) for form in forms),
        "roots": [place for place, form in enumerate(forms) if form.instruction.is_root],
        "controls": {
            place: [lives.number(control) for control in form.controls if control != NOBODY]
            for place, form in enumerate(forms)
            if form.controls
        },
        "calls": {place: form.called for place, form in enumerate(forms) if form.called},
        **columns(seen, NOTHING),
    }


def _operands(form: NodeVersion, lives: Interned) -> list[int | str]:
    """Return how far above it the lives are that a form uses; `3#1` is element 1 of a tuple."""
    operands: list[int | str] = []
    own = lives.number(form.life)
    for operand, life in zip(form.instruction.operands, form.operands, strict=True):
        if life != NOBODY:
            element = operand.partition("#")[2]
            above = own - lives.number(life)
            operands.append(f"{above}#{element}" if element else above)
    return operands
