"""The pictures that lie behind a module's first one, each reached by clicking from another."""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from xlareport.hlo.model import Computation, HloModule
from xlareport.pictures.boxes import is_worth_opening
from xlareport.pictures.drawing import Box, Drawing, Group
from xlareport.pictures.overview import ModulePictures


@dataclass(frozen=True, slots=True)
class LevelPicture:
    """One picture of a module."""

    target: str
    """As the boxes of other pictures name it: `c=COMPUTATION` or `g=PART`."""
    drawing: Drawing
    parent: int | None
    """The place, in the sequence of all, of the picture that first leads here; None without one."""


def all_levels(
    module: HloModule, pictures: ModulePictures, most_boxes: float = math.inf
) -> tuple[LevelPicture, ...]:
    """Return the pictures of a module: those fewest clicks away first, the first one leading.

    Behind them come computations that nothing calls and that are more than one operation. None is
    begun once there are `most_boxes` boxes.
    """
    if module.entry is None:
        return ()
    found: list[LevelPicture] = []
    seen: set[str] = set()
    alone = (f"c={one.name}" for one in module.computations if is_worth_opening(one))
    for start in (f"c={module.entry.name}", *alone):
        waiting: deque[tuple[str, int | None]] = deque([(start, None)])
        while waiting and most_boxes > 0:
            target, parent = waiting.popleft()
            if target not in seen:
                seen.add(target)
                drawing = pictures.picture(target)
                most_boxes -= len(drawing.nodes)
                waiting.extend((one, len(found)) for one in opened_by(drawing))
                found.append(LevelPicture(target, drawing, parent))
    return tuple(found)


def opened_by(drawing: Drawing) -> Iterator[str]:
    """Yield the targets of the pictures that a click in a drawing opens."""
    things: Sequence[Box | Group] = (*drawing.nodes, *drawing.groups)
    for thing in things:
        if thing.target is not None and thing.target.startswith("g="):
            yield thing.target
        yield from (one.target for one in thing.opens)


def whereabouts(module: HloModule, levels: Sequence[LevelPicture]) -> Mapping[str, int]:
    """Return the place of the first picture that shows each instruction.

    What has no box of its own is shown by its user, or by what calls its computation.
    """
    found: dict[str, int] = {}
    for place, level in enumerate(levels):
        for name in _shown(level.drawing):
            found.setdefault(name, place)
    whole = {level.target: place for place, level in enumerate(levels)}
    callers = _callers(module)
    for computation in reversed(module.computations):
        caller = callers.get(computation.name, "")
        outside = whole.get(f"c={computation.name}", found.get(caller))
        _place_folded(computation, outside, found)
    return found


def _shown(drawing: Drawing) -> Iterator[str]:
    """Yield the names of the instructions that have a box or a frame."""
    boxes = (one.target for one in drawing.nodes if one.family != "dashed")
    frames = (one.target for one in drawing.groups)
    for target in chain(boxes, frames):
        if target is not None and target.startswith("i="):
            yield target.removeprefix("i=")


def _callers(module: HloModule) -> Mapping[str, str]:
    """Return the first instruction that calls each computation."""
    callers: dict[str, str] = {}
    for computation in module.computations:
        for one in computation.instructions:
            for _, name in one.called:
                callers.setdefault(name, one.name)
    return callers


def _place_folded(computation: Computation, outside: int | None, found: dict[str, int]) -> None:
    """Place what has no box where its user is, users first; else in the picture given."""
    for one in reversed(computation.instructions):
        if one.name in found:
            continue
        users = computation.users.get(one.name, ())
        place = next((found[user.name] for user in users if user.name in found), outside)
        if place is not None:
            found[one.name] = place
