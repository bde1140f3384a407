"""The pictures behind those of a module's page: an index for the page script, and their bundles.

The page loads the index `KEY` when something in a picture is clicked on or asked for:

    {"graph": "m/x/graph", "targets": FOLDED, "titles": FOLDED, "in": [-1, 0, ...], "up": [-1, ...],
     "note": "why there are no more, with the command that draws them"}

`targets` are what boxes name in `data-target`, `in` the number of the bundle `KEY-N`, which holds
several records of `pages.picture_record` by their targets, and `up` the place of the picture that
leads here. The first one stands in the page. `KEY-where` says in which picture each instruction of
the graph is, in runs: picture, how many, picture, how many; -1 is none.

What has frames is laid out beforehand; the rest the page lays out itself. A row of a box that is
nothing but an instruction of the graph begins with its place there.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from xlareport.hlo.model import HloModule, Instruction
from xlareport.pages.pictures.graph import fitting
from xlareport.pages.pictures.record import Record, level_record
from xlareport.pictures.boxes import lines
from xlareport.pictures.draw import PictureRequest
from xlareport.pictures.drawing import Box
from xlareport.pictures.levels import LevelPicture, all_levels, whereabouts
from xlareport.pictures.overview import ModulePictures
from xlareport.pictures.shade import Known
from xlareport.storage.folding import fold_strings
from xlareport.storage.payloads import Payload, make_payload

CHEAP = 60_000
"""Boxes that a snapshot's pictures have together, unless all are asked for."""

_BOXES_IN_A_BUNDLE = 4_000

_NOTE = (
    "Only the pictures nearest to the first one are drawn; "
    "`xlareport build DUMP --pictures all` draws every one."
)


@dataclass(frozen=True, slots=True)
class Levels:
    """All pictures of a snapshot: the first, and what has to be drawn and written for the rest."""

    first: LevelPicture
    requests: tuple[PictureRequest, ...]
    payloads: tuple[Payload, ...]
    """Empty where the first shows all."""


def snapshot_levels(
    key: str, graph: str, module: HloModule, known: Known, *, every: bool
) -> Levels | None:
    """Make the pictures of a snapshot; None where it has no computation.

    `graph` is the key of its graph; `known` is what is known of its instructions;
    `every` lifts the limit of boxes.
    """
    levels = all_levels(module, ModulePictures(module, known), math.inf if every else CHEAP)
    if not levels:
        return None
    if len(levels) == 1:
        return Levels(levels[0], (), ())
    numbers = list(_bundles(levels))
    requests = tuple(
        PictureRequest(level.target, (level.drawing,), f"{key}-{number}")
        for level, number in zip(levels, numbers, strict=True)
        if number >= 0 and level.drawing.groups
    )
    missing = sum(len(level.drawing.nodes) for level in levels) >= CHEAP and not every
    index = {
        "graph": graph,
        "targets": fold_strings([level.target for level in levels]).listed(),
        "titles": fold_strings([_title(level, module.name) for level in levels]).listed(),
        "in": numbers,
        "up": [-1 if level.parent is None else level.parent for level in levels],
        "note": _NOTE if missing else "",
    }
    values = {key: index, f"{key}-where": _where(module, levels)}
    values |= _plain(key, levels, numbers, _Placed(module))
    files = tuple(make_payload(name, value) for name, value in values.items())
    return Levels(levels[0], requests, files)


def _title(level: LevelPicture, module: str) -> str:
    return level.drawing.title.removeprefix(f"{module}: ")


def _bundles(levels: Sequence[LevelPicture]) -> Iterator[int]:
    """Yield the number of each picture's bundle, -1 for the first picture.

    What is laid out beforehand and what is not stand apart.
    """
    ends = {True: _Shelf(0), False: _Shelf(1)}
    yield -1
    for level in levels[1:]:
        yield ends[bool(level.drawing.groups)].take(1 + len(level.drawing.nodes))


@dataclass(slots=True)
class _Shelf:
    """Every second number, one after the other, as bundles fill up."""

    number: int
    boxes: int = 0

    def take(self, boxes: int) -> int:
        """Return the bundle for a picture of so many boxes."""
        if self.boxes > _BOXES_IN_A_BUNDLE:
            self.number, self.boxes = self.number + 2, 0
        self.boxes += boxes
        return self.number


def _where(module: HloModule, levels: Sequence[LevelPicture]) -> list[int]:
    """Return the picture of each instruction, in the order of the graph."""
    result = whereabouts(module, levels)
    places = (
        result.get(line.name, -1)
        for computation in fitting(module)
        for line in computation.instructions
    )
    return [number for place, run in groupby(places) for number in (place, sum(1 for _ in run))]


def _plain(
    key: str, levels: Sequence[LevelPicture], numbers: Sequence[int], placed: "_Placed"
) -> dict[str, Any]:
    """Return the bundles of the pictures that the page lays out."""
    bundles: dict[str, dict[str, list[Record]]] = {}
    for level, number in zip(levels, numbers, strict=True):
        if number >= 0 and not level.drawing.groups:
            pictures = bundles.setdefault(f"{key}-{number}", {})
            pictures[level.target] = [level_record(level.drawing, placed.row)]
    return {name: {"pictures": pictures} for name, pictures in bundles.items()}


class _Placed:
    """Where the instructions of a module stand in its graph, but for names that are there twice."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        every = [line for computation in fitting(module) for line in computation.instructions]
        counts = Counter(line.name for line in every)
        self._places: Mapping[str, tuple[int, Instruction]] = {
            line.name: (place, line) for place, line in enumerate(every) if counts[line.name] == 1
        }

    def row(self, node: Box) -> list[Any] | None:
        """Return the place, lines on operands, badge and form of a box that the graph tells."""
        name = (node.target or "").removeprefix("i=")
        if name not in self._places or node.id != name or node.family == "dashed":
            return None
        place, instruction = self._places[name]
        usual = lines(instruction, self._module, ())
        operands = list(_operand_lines(node.lines))
        if instruction.opcode == "constant" or [*usual[:-1], *operands, usual[-1]] != list(
            node.lines
        ):
            return None
        return [place, operands, node.badge, node.shape]


def _operand_lines(written: Iterable[str]) -> Iterator[str]:
    for line in written:
        if line.startswith("operand ") or line.endswith(" more operands folded"):
            yield line
