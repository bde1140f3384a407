"""The pictures linked from those of a module's page: an index for the page script, and bundles.

The page loads the index `KEY` when something in a picture is clicked on or asked for:

    {"graph": "m/x/graph", "targets": FOLDED, "titles": FOLDED, "in": [-1, 0, ...], "up": [-1, ...],
     "note": "why there are no more, with the command that draws them"}

`targets` are what boxes name in `data-target`, `in` the number of the bundle `KEY-N`, which holds
several records by their targets, and `up` the place of the picture that
leads here. The first one is in the page. `KEY-where` says in which picture each instruction of
the graph is, in runs: picture, how many, picture, how many; -1 is none.

What has frames is laid out beforehand; the rest the page lays out itself. A row of a box that is
nothing but an instruction of the graph begins with its place there.

A record is one picture, of which the page script writes the SVG. A payload
`{"pictures": [RECORD, ...]}` holds those that are looked at together; one of several such has them
by their names, `{"pictures": {NAME: [RECORD, ...], ...}}`. Positions are whole units; a curve is
its start, and then steps from point to point.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, TypeAlias

from msgspec import Struct

from xlareport.hlo.model import HloModule, Instruction
from xlareport.knowledge import colors
from xlareport.pages.pictures.snapshot_graph import fitting, short
from xlareport.pictures.boxes import lines
from xlareport.pictures.draw import PictureRequest
from xlareport.pictures.drawing import Arrow, Box, Drawing, Group, Opening
from xlareport.pictures.layout import Coordinates, Layout, Rectangle
from xlareport.pictures.legend import words_by_kind
from xlareport.pictures.levels import LevelPicture, ModulePictures, all_levels, whereabouts
from xlareport.pictures.scales import limits
from xlareport.pictures.shade import ColorData, Shade
from xlareport.pictures.style import dark_rules, filled, style_sheet
from xlareport.storage.payloads import Payload, make_payload
from xlareport.storage.string_folding import fold_strings

Record: TypeAlias = dict[str, Any]


def picture_record(drawing: Drawing, layout: Layout) -> Record:
    """Return the record of one picture; default values at the end of a row are left out."""
    record = _picture_content(drawing, map(_node_row, drawing.nodes))
    record["size"] = [round(layout.width), round(layout.height)]
    record["boxes"] = [_corners(node) for node in layout.nodes]
    record["curves"] = [_steps(edge) for edge in layout.edges]
    if drawing.groups:
        record["groups"] = [_group_row(group) for group in drawing.groups]
        record["frames"] = [_corners(group) for group in layout.groups]
    return record


def _no_row(_: Box) -> None:
    """Return None: the page has no graph of the drawing."""


def level_record(drawing: Drawing, row: Callable[[Box], list[Any] | None] = _no_row) -> Record:
    """Return a picture without frames that the page lays out itself.

    `row` returns the row of a box that is in a graph of the page: its index there, lines, badge and
    form.
    """
    node_rows = (_graph_row(row(node)) or _node_row(node) for node in drawing.nodes)
    return _picture_content(drawing, node_rows)


def _picture_content(drawing: Drawing, nodes: Iterable[list[Any]]) -> Record:
    """Return the content of a picture."""
    places = {node.id: place for place, node in enumerate(drawing.nodes)}
    record: Record = {
        "title": drawing.title,
        "nodes": list(nodes),
        "edges": [_edge_row(edge, places) for edge in drawing.edges],
    }
    if drawing.notes:
        record["notes"] = list(drawing.notes)
    if not drawing.has_legend:
        record["plain"] = True
    return record


def _graph_row(value: list[Any] | None) -> list[Any] | None:
    if value is None:
        return None
    place, lines, badge, shape = value
    return [place, *_without_zeros(lines or 0, badge or 0, 0 if shape == "rect" else shape)]


def _node_row(node: Box) -> list[Any]:
    """Return lines, family, target, id if the target lacks it, and unusual properties."""
    is_target = node.id in (node.target, (node.target or "").removeprefix("i="))
    return _without_zeros(
        list(node.lines),
        node.family,
        node.target or 0,
        0 if is_target else node.id,
        0 if node.state == "same" else node.state,
        node.tooltip or 0,
        _openings(node.opens),
        0 if node.shape == "rect" else node.shape,
        node.badge or 0,
        list(chain(*node.mix)) or 0,
        _shade(node.shade),
    )


def _edge_row(edge: Arrow, places: dict[str, int]) -> list[Any]:
    """Return the indices of both ends, the label, style and state."""
    style = 0 if edge.style == "normal" else edge.style
    state = 0 if edge.state == "same" else edge.state
    return _without_zeros(places[edge.source], places[edge.target], edge.label or 0, style, state)


def _group_row(group: Group) -> list[Any]:
    state = 0 if group.state == "same" else group.state
    opens = _openings(group.opens)
    return _without_zeros(group.id, group.title, group.kind, group.target or 0, state, opens)


def _openings(opens: Sequence[Opening]) -> list[str] | int:
    return list(chain(*((opening.target, opening.words) for opening in opens))) or 0


def _shade(shade: Shade) -> list[Any] | int:
    row: list[Any] = [
        short(shade.cost),
        shade.memory,
        shade.sharding or 0,
        "\n".join(shade.scope) or 0,
    ]
    if shade.time is not None:
        row.append(short(shade.time))
    return row if any(item not in (None, 0) for item in row) else 0


def _without_zeros(*row: Any) -> list[Any]:
    """Return a row without the zeros at its end."""
    shortened = list(row)
    while shortened and shortened[-1] == 0:
        shortened.pop()
    return shortened


def _corners(box: Rectangle) -> list[int]:
    return [round(box.x), round(box.y), round(box.width), round(box.height)]


def _steps(curve: Iterable[Coordinates]) -> list[int]:
    """Return the start of a curve and its steps, x and y in turn."""
    steps: list[int] = []
    x = y = 0
    for point in curve:
        to_x, to_y = round(point[0]), round(point[1])
        steps += (to_x - x, to_y - y)
        x, y = to_x, to_y
    return steps


_OWN = filled("""\
.xg .n.focus>.box{stroke:$ink;stroke-width:4}
.xg .e-call{stroke:$edge;stroke-dasharray:6 3}
""")
"""Styles of these pictures only: the requested box, and arrows through calls."""


def picture_look() -> dict[str, Any]:
    """Return the style sheet, the words of the legend in their order, where colors begin.

    `dark` are the rules that a picture has only in a file of its own.
    """
    words = {kind: list(names.items()) for kind, names in words_by_kind().items()}
    css = style_sheet(colors.all_entries(), has_modes=True) + _OWN
    return {"css": css, "dark": dark_rules(), "scales": limits(), **words}


CHEAP = 60_000
"""Limit on boxes of a snapshot's pictures, unless all are requested."""

_BOXES_IN_A_BUNDLE = 4_000

_NOTE = "Only graphs near the first one are drawn; `xlareport build DUMP --pictures all` draws all."


class Levels(Struct, frozen=True):
    """All pictures of a snapshot: the first one, and requests and payloads for the rest."""

    first: LevelPicture
    requests: tuple[PictureRequest, ...]
    payloads: tuple[Payload, ...]
    """Empty where the first shows all."""


def snapshot_levels(
    key: str, graph: str, module: HloModule, known: ColorData, *, every: bool
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
        "titles": fold_strings(
            [level.drawing.title.removeprefix(f"{module.name}: ") for level in levels]
        ).listed(),
        "in": numbers,
        "up": [-1 if level.parent is None else level.parent for level in levels],
        "note": _NOTE if missing else "",
    }
    values = {key: index, f"{key}-where": _where(module, levels)}
    values |= _page_bundles(key, levels, numbers, _Placed(module))
    files = tuple(make_payload(name, value) for name, value in values.items())
    return Levels(levels[0], requests, files)


def _bundles(levels: Sequence[LevelPicture]) -> Iterator[int]:
    """Yield the number of each picture's bundle, -1 for the first picture.

    Pictures with and without a layout are in separate bundles.
    """
    ends = {True: _Bundle(0), False: _Bundle(1)}
    yield -1
    for level in levels[1:]:
        yield ends[bool(level.drawing.groups)].take(1 + len(level.drawing.nodes))


class _Bundle(Struct):
    """Every second number, one after the other, as bundles fill up."""

    number: int
    boxes: int = 0

    def take(self, boxes: int) -> int:
        """Return the bundle for a picture with `boxes` boxes."""
        if self.boxes > _BOXES_IN_A_BUNDLE:
            self.number, self.boxes = self.number + 2, 0
        self.boxes += boxes
        return self.number


def _where(module: HloModule, levels: Sequence[LevelPicture]) -> list[int]:
    """Return the picture of each instruction, in the order of the graph."""
    place_of = whereabouts(module, levels)
    places = (
        place_of.get(line.name, -1)
        for computation in fitting(module)
        for line in computation.instructions
    )
    return [number for place, run in groupby(places) for number in (place, sum(1 for _ in run))]


def _page_bundles(
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
    """Where the instructions of a module are in its graph, but for names that are there twice."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        every = [line for computation in fitting(module) for line in computation.instructions]
        counts = Counter(line.name for line in every)
        self._places: Mapping[str, tuple[int, Instruction]] = {
            line.name: (place, line) for place, line in enumerate(every) if counts[line.name] == 1
        }

    def row(self, node: Box) -> list[Any] | None:
        """Return the index, lines on operands, badge and form of a box that is in the graph."""
        name = (node.target or "").removeprefix("i=")
        if name not in self._places or node.id != name or node.family == "dashed":
            return None
        place, instruction = self._places[name]
        usual = lines(instruction, self._module, ())
        operands = node.lines[len(usual) - 1 : -1]
        if instruction.opcode == "constant" or (*usual[:-1], *operands, usual[-1]) != node.lines:
            return None
        return [place, list(operands), node.badge, node.shape]
