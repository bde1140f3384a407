"""A drawing and its layout as one SVG file that shows itself without a page and its script.

It consists of numbers and escaped strings: no script, link, font, image or id. The page script
(frontend/src/pictures/svg.js) draws the same from the records of `pages.pictures.levels`, and adds
the interactive parts: targets, marks that open other pictures, tooltips and other color modes.
"""

import math
import textwrap
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape

from xlareport.pictures.drawing import LEAVES, Arrow, Box, Drawing, Group
from xlareport.pictures.layout import Coordinates, Layout, Rectangle
from xlareport.pictures.legend import LegendEntry, legend, sign
from xlareport.pictures.metrics import (
    BAR_HEIGHT,
    CHARACTER_WIDTH,
    LINE_HEIGHT,
    STACK_OFFSET,
    shorten,
)
from xlareport.pictures.style import dark_rules, style_sheet
from xlareport.pictures.style_values import sizes

_SIZES = sizes()


def svg_text(drawing: Drawing, layout: Layout) -> str:
    """Return the SVG; the layout must be of this drawing."""
    width = max(layout.width, _SIZES.narrowest) + 2 * _SIZES.margin
    top = layout.height + _SIZES.title_height + _SIZES.margin
    below, height = _footer(drawing, top, width)
    left = (width - layout.width) / 2
    box = f'viewBox="0 0 {number(width)} {number(height)}"'
    size = f'width="{number(width)}" height="{number(height)}"'
    families = {family for node in drawing.nodes for family in (node.family, *dict(node.mix))}
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="xg" role="img" {box} {size}>',
            f"<title>{text(drawing.title)}</title>",
            f"<desc>{text(_description(drawing))}</desc>",
            f"<style>{style_sheet(families)}{dark_rules()}</style>",
            '<rect class="paper" width="100%" height="100%"/>',
            _title(drawing.title, width),
            f'<g transform="translate({number(left)} {_SIZES.title_height:g})">',
            *map(_frame, drawing.groups, layout.groups),
            *map(_arrow, drawing.edges, layout.edges),
            *map(_frame_title, drawing.groups, layout.groups),
            *map(_node, drawing.nodes, layout.nodes),
            "</g>",
            *below,
            "</svg>\n",
        ]
    )


def text(value: str) -> str:
    """Return the text escaped, with characters replaced that are neither printable nor newlines."""
    if not value.replace("\n", "").isprintable():
        value = "".join(text if text.isprintable() or text == "\n" else " " for text in value)
    return escape(value)


@lru_cache(maxsize=1 << 16)
def number(value: float) -> str:
    """Return a length to a tenth of a unit, as short as it goes: `12`, `3.5`."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def _description(drawing: Drawing) -> str:
    """Return in words how much is drawn, and how much is left out."""
    counts = f"{len(drawing.nodes)} boxes, {len(drawing.edges)} arrows"
    return ". ".join((counts, *drawing.notes))


def _title(title: str, width: float) -> str:
    """Return the title above the picture, cut where it is wider."""
    columns = int((width - 2 * _SIZES.margin) / (CHARACTER_WIDTH * 14 / 12))
    return (
        f'<text class="title" x="{_SIZES.margin:g}" y="19">{text(shorten(title, columns))}</text>'
    )


def _frame(group: Group, box: Rectangle) -> str:
    size = f'width="{number(box.width)}" height="{number(box.height)}"'
    return (
        f'<g class="g g-{group.kind} s-{group.state}">'
        f'<rect class="frame" x="{number(box.x)}" y="{number(box.y)}" rx="6" {size}/></g>'
    )


def _frame_title(group: Group, box: Rectangle) -> str:
    """Return the title of a frame, which is above the arrows."""
    title = shorten(group.title, max(3, int((box.width - 12) / CHARACTER_WIDTH)))
    words = f'<text class="b" x="{number(box.x + 8)}" y="{number(box.y + 13)}">{text(title)}</text>'
    return f'<g class="gt">{words}{_sign(group.state, box.x, box.y)}</g>'


def _sign(state: str, x: float, y: float) -> str:
    """Return the round sign of a state around a point; nothing for what stayed."""
    mark = sign(state)
    if not mark:
        return ""
    return (
        f'<circle class="sign-{state}" cx="{number(x)}" cy="{number(y)}" r="7"/>'
        f'<text class="on" x="{number(x)}" y="{number(y + 3.5)}">{mark}</text>'
    )


def _arrow(edge: Arrow, curve: tuple[Coordinates, ...]) -> str:
    """Return the path of an arrow, its head drawn with it, and its label."""
    classes = " ".join(
        f"{prefix}-{name}"
        for prefix, name in (("e", edge.style), ("s", edge.state))
        if name not in {"normal", "same"}
    )
    tip_x, tip_y = curve[-1]
    angle = _direction(curve)
    points = " ".join(map(_point, curve[1:]))
    left, right = (
        _point(
            (tip_x - _SIZES.head_length * math.cos(at), tip_y - _SIZES.head_length * math.sin(at))
        )
        for at in (angle + _SIZES.head_angle, angle - _SIZES.head_angle)
    )
    path = f"M{_point(curve[0])}C{points}M{left}L{_point(curve[-1])}L{right}"
    element = f'<path class="{f"e {classes}".strip()}" d="{path}"/>'
    if not edge.label:
        return element
    # Beside the head, on the right or above.
    along, across = math.cos(angle), math.sin(angle)
    x, y = tip_x - 10 * along + 4 * across, tip_y - 10 * across - 4 * along
    return f'{element}<text class="small" x="{number(x)}" y="{number(y)}">{text(edge.label)}</text>'


def _point(point: Coordinates) -> str:
    return f"{number(point[0])} {number(point[1])}"


def _direction(curve: tuple[Coordinates, ...]) -> float:
    """Return the angle in which the curve arrives, in radians."""
    tip_x, tip_y = curve[-1]
    away = [point for point in curve if math.dist(point, curve[-1]) > 1]
    from_x, from_y = away[-1] if away else (tip_x, tip_y - 1)
    return math.atan2(tip_y - from_y, tip_x - from_x)


def _node(node: Box, box: Rectangle) -> str:
    """Return a box with its text, the sign of its state and its badge."""
    behind = STACK_OFFSET if node.shape == "stack" else 0.0
    width, height = box.width - behind, box.height - behind
    return (
        f'<g class="n n-{node.family} s-{node.state}"'
        f' transform="translate({number(box.x)} {number(box.y)})">'
        f"{''.join(_shapes(node, width, height))}{_text_element(node, width, height)}"
        f"{_sign(node.state, 0, 0)}{_badge(node.badge, width)}</g>"
    )


def _shapes(node: Box, width: float, height: float) -> Iterator[str]:
    """Yield the rectangle, a second one behind it for a stack, and the bar of colors."""
    round_corners = "2" if node.shape == "rect" else "7"
    size = f'width="{number(width)}" height="{number(height)}" rx="{round_corners}"'
    if node.shape == "stack":
        yield f'<rect class="box" x="{STACK_OFFSET:g}" y="{STACK_OFFSET:g}" {size}/>'
    yield f'<rect class="box" {size}/>'
    total = sum(count for _, count in node.mix)
    x, y = 8.0, height - BAR_HEIGHT - 4
    for family, count in node.mix:
        part = (width - 16) * count / total
        place = f'x="{number(x)}" y="{number(y)}" width="{number(part)}"'
        yield f'<rect class="mix f-{family}" {place} height="{BAR_HEIGHT:g}"/>'
        x += part


def _text_element(node: Box, width: float, height: float) -> str:
    bar = BAR_HEIGHT + 2 if node.mix else 0.0
    first = (height - bar - len(node.lines) * LINE_HEIGHT) / 2 + _SIZES.baseline
    x = number(width / 2)
    spans = [f'<tspan x="{x}" dy="{LINE_HEIGHT:g}">{text(line)}</tspan>' for line in node.lines[1:]]
    head = f'<tspan class="b" x="{x}" y="{number(first)}">{text(node.lines[0])}</tspan>'
    return f"<text>{head}{''.join(spans)}</text>"


def _badge(badge: str, box_width: float) -> str:
    if not badge:
        return ""
    width = 6.8 * len(badge) + 8
    x = box_width - width + 5
    quiet = " quiet" if badge == LEAVES else ""
    return (
        f'<rect class="badge{quiet}" x="{number(x)}" y="-8" width="{number(width)}"'
        f' height="14" rx="7"/><text class="tag" x="{number(x + width / 2)}" y="2.5">'
        f"{text(badge)}</text>"
    )


def _footer(drawing: Drawing, top: float, width: float) -> tuple[list[str], float]:
    """Return the notes and the legend below a picture, as wide as it is, and where they end."""
    left, right = _SIZES.margin, width - _SIZES.margin
    columns = int((right - left) / _SIZES.legend_character)
    lines = [line for note in drawing.notes for line in textwrap.wrap(note, columns)]
    notes = [
        f'<text class="note" x="{number(left)}" y="{number(top + 12 + _SIZES.legend_line * row)}">'
        f"{text(line)}</text>"
        for row, line in enumerate(lines)
    ]
    top += _SIZES.legend_line * len(lines) + 6
    placed = list(_flow(legend(drawing), left, right))
    entries = [_entry(entry, x, top + 12 + _SIZES.legend_line * row) for entry, x, row in placed]
    rows = placed[-1][2] + 1 if placed else 0
    return [*notes, *entries], top + _SIZES.legend_line * rows + 8


def _flow(
    entries: Sequence[LegendEntry], left: float, right: float
) -> Iterator[tuple[LegendEntry, float, int]]:
    """Yield each entry with its position; families and outliers begin a new row."""
    x, row, kind = left, 0, ""
    for entry in entries:
        width = _SIZES.legend_swatch + _SIZES.legend_character * len(entry.words)
        is_new = entry.kind == "families" != kind
        kind = entry.kind
        if x > left and (is_new or x + width > right):
            x, row = left, row + 1
        yield entry, x, row
        x += width + _SIZES.legend_gap


def _entry(entry: LegendEntry, x: float, y: float) -> str:
    place = f'x="{number(x + _SIZES.legend_swatch)}" y="{number(y)}"'
    return f'<g>{_swatch(entry, x, y)}<text class="note" {place}>{text(entry.words)}</text></g>'


def _swatch(entry: LegendEntry, x: float, y: float) -> str:
    place = f'x="{number(x)}" y="{number(y - 9)}" width="16" height="10"'
    if entry.kind == "families":
        return f'<rect class="f-{entry.name}" {place} rx="1"/>'
    if entry.kind == "edges":
        return f'<path class="e e-{entry.name}" d="M{number(x)} {number(y - 4)}h16"/>'
    mark = _sign(entry.name, x + 8, y - 4)
    return mark or f'<g class="s-{entry.name}"><rect class="box frame" {place}/></g>'
