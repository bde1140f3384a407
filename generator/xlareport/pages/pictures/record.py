"""A picture for the page script, which writes the SVG: what it shows and where that lies.

A payload `{"pictures": [RECORD, ...]}` holds those that are looked at together; one of several such
has them by their names, `{"pictures": {NAME: [RECORD, ...], ...}}`. Positions are whole
units; a curve is its start, and then steps from point to point.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TypeAlias

from xlareport.pages.pictures.columns import short
from xlareport.pictures.drawing import Arrow, Box, Drawing, Group, Opening
from xlareport.pictures.layout import Layout, Point, Rectangle
from xlareport.pictures.shade import Shade

Record: TypeAlias = dict[str, Any]


def picture_record(drawing: Drawing, layout: Layout) -> Record:
    """Return one picture; what is as usual at the end of a row is left out."""
    record = _shown(drawing, map(_node_row, drawing.nodes))
    record["size"] = [round(layout.width), round(layout.height)]
    record["boxes"] = [_corners(node) for node in layout.nodes]
    record["curves"] = [_steps(edge) for edge in layout.edges]
    if drawing.groups:
        record["groups"] = [_group_row(group) for group in drawing.groups]
        record["frames"] = [_corners(group) for group in layout.groups]
    return record


def _untold(_: Box) -> None:
    """Stand in where the page has no graph of what is drawn."""


def level_record(drawing: Drawing, row: Callable[[Box], list[Any] | None] = _untold) -> Record:
    """Return a picture without frames that the page lays out.

    `row` tells boxes that the page knows from a graph: its place there, lines, badge and form.
    """
    known = (_graph_row(row(node)) or _node_row(node) for node in drawing.nodes)
    return _shown(drawing, known)


def _shown(drawing: Drawing, nodes: Iterable[list[Any]]) -> Record:
    """Return what a picture shows."""
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
    return [place, *_short(lines or 0, badge or 0, 0 if shape == "rect" else shape)]


def _node_row(node: Box) -> list[Any]:
    """Return lines, family, target, id where the target does not say it, and what is unusual."""
    known = node.id in (node.target, (node.target or "").removeprefix("i="))
    return _short(
        list(node.lines),
        node.family,
        node.target or 0,
        0 if known else node.id,
        0 if node.state == "same" else node.state,
        node.tooltip or 0,
        _openings(node.opens),
        0 if node.shape == "rect" else node.shape,
        node.badge or 0,
        list(chain(*node.mix)) or 0,
        _shade(node.shade),
    )


def _edge_row(edge: Arrow, places: dict[str, int]) -> list[Any]:
    """Return the places of both ends, the label, style and state."""
    style = 0 if edge.style == "normal" else edge.style
    state = 0 if edge.state == "same" else edge.state
    return _short(places[edge.source], places[edge.target], edge.label or 0, style, state)


def _group_row(group: Group) -> list[Any]:
    state = 0 if group.state == "same" else group.state
    opens = _openings(group.opens)
    return _short(group.id, group.title, group.kind, group.target or 0, state, opens)


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


def _short(*row: Any) -> list[Any]:
    """Return a row without the zeros at its end."""
    kept = list(row)
    while kept and kept[-1] == 0:
        kept.pop()
    return kept


def _corners(box: Rectangle) -> list[int]:
    return [round(box.x), round(box.y), round(box.width), round(box.height)]


def _steps(curve: Iterable[Point]) -> list[int]:
    """Return the start of a curve and its steps, x and y in turn."""
    steps: list[int] = []
    x = y = 0
    for point in curve:
        to_x, to_y = round(point[0]), round(point[1])
        steps += (to_x - x, to_y - y)
        x, y = to_x, to_y
    return steps
