"""Runs of a module as timelines, which the page script draws (frontend/src/profile/timeline.js).

    {"page": "m/x.html",
     "steps": [{"title", "start", "length", "lanes": [[thread, depth], ...], "merged", "left_out",
                "bars": [[lane, start, length, instruction or -1, count], ...]}, ...],
     "instructions": [[name, opcode, colour, scope or -1], ...],
     "families": [[colour, words], ...], "scopes": [words, ...]}

All times are microseconds.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xlareport.analysis.profile.measured import instructions_by_name
from xlareport.analysis.profile.timeline import Bar, Timeline
from xlareport.analysis.profile.times import ModuleTimes
from xlareport.hlo.model import HloModule, Instruction
from xlareport.pages import navigation
from xlareport.pictures.boxes import family
from xlareport.pictures.drawing import Box, Drawing
from xlareport.pictures.legend import words_by_kind
from xlareport.pictures.scales import scales
from xlareport.pictures.shade import NOTHING, shade_of
from xlareport.runtime import units
from xlareport.storage.payloads import Payload, make_payload

_MICROSECOND = 1e6
"""Picoseconds."""
_WORDS = ("median", "slowest")
"""The runs that are shown, in their order."""
_UNKNOWN = "gray"
"""The colour of what the module does not have."""


def timeline_payload(slug: str, module: HloModule, times: ModuleTimes) -> Iterator[Payload]:
    """Yield the file with the runs that are shown; none where of no run every event is known."""
    names = sorted({bar.instruction for step in times.steps for bar in step.bars if bar.count == 1})
    places = {name: place for place, name in enumerate(names)}
    result = instructions_by_name(module)
    known = {name: result[name][1] for name in names if name in result}
    colours = {name: family(instruction, module) for name, instruction in known.items()}
    levels, scopes = _scopes(known)
    used = {colours.get(name, _UNKNOWN) for name in names}
    value = {
        "page": navigation.address(navigation.module_page(slug)),
        "steps": [
            _step(step, _title(step, word, len(times.runs)), places)
            for step, word in zip(times.steps, _WORDS, strict=False)
        ],
        "instructions": [
            [
                name,
                known[name].opcode if name in known else "",
                colours.get(name, _UNKNOWN),
                levels.get(name, -1),
            ]
            for name in names
        ],
        "families": [item for item in words_by_kind()["families"].items() if item[0] in used],
        "scopes": scopes,
    }
    key = navigation.timeline_key(slug)
    yield make_payload(key, value)


def _scopes(known: Mapping[str, Instruction]) -> tuple[Mapping[str, int], Sequence[str]]:
    """Return the colours of scopes and their words, as pictures have them."""
    shades = {name: shade_of(instruction, NOTHING) for name, instruction in known.items()}
    nodes = tuple(Box(name, (), "white", shade=shade) for name, shade in shades.items())
    result = [scale for scale in scales(Drawing("", nodes)) if scale.mode == "scope"]
    return (result[0].levels, list(result[0].words.values())) if result else ({}, ())


def _step(step: Timeline, title: str, places: Mapping[str, int]) -> dict[str, Any]:
    return {
        "title": title,
        "start": step.start / _MICROSECOND,
        "length": step.length / _MICROSECOND,
        "lanes": [[lane.thread, lane.depth] for lane in step.lanes],
        "bars": [_bar(bar, places) for bar in step.bars],
        "merged": step.merged,
        "left_out": step.left_out,
    }


def _title(step: Timeline, word: str, runs: int) -> str:
    took = units.seconds(step.length / 1e12)
    if runs == 1:
        return f"the only run, {took}" if step.run else f"all that the profiler saw, {took}"
    if step.among < runs:
        word += f" of the first {units.count(step.among)}"
    return f"{word}: run {units.count(step.number)} of {units.count(runs)}, {took}"


def _bar(bar: Bar, places: Mapping[str, int]) -> list[int | float]:
    instruction = places[bar.instruction] if bar.count == 1 else -1
    return [bar.lane, bar.start / _MICROSECOND, bar.length / _MICROSECOND, instruction, bar.count]
