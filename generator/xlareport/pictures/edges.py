"""The arrows of a picture: one path each, its head drawn with it, so that no marker needs an id."""

import math
from collections.abc import Iterator, Mapping

from xlareport.pictures.drawing import Arrow, Drawing
from xlareport.pictures.layout import Layout, Point
from xlareport.pictures.markup import number, text
from xlareport.pictures.style_values import sizes

_SIZES = sizes()


def edge_elements(drawing: Drawing, layout: Layout) -> Iterator[str]:
    """Yield the element of each arrow, with its label behind it."""
    positions = {node.id: position for position, node in enumerate(drawing.nodes)}
    for edge, curve in zip(drawing.edges, layout.edges, strict=True):
        yield _edge(edge, curve, positions)


def _edge(edge: Arrow, curve: tuple[Point, ...], positions: Mapping[str, int]) -> str:
    classes = " ".join(
        f"{prefix}-{name}"
        for prefix, name in (("e", edge.style), ("s", edge.state))
        if name not in {"normal", "same"}
    )
    ends = f"{positions[edge.source]} {positions[edge.target]}"
    path = f'<path class="{f"e {classes}".strip()}" data-e="{ends}" d="{_path(curve)}"/>'
    if not edge.label:
        return path
    x, y = _beside_head(curve)
    return f'{path}<text class="small" x="{number(x)}" y="{number(y)}">{text(edge.label)}</text>'


def _path(curve: tuple[Point, ...]) -> str:
    """Return the path of a curve and of the open head at its end."""
    (x, y), *rest = curve
    points = " ".join(f"{number(px)} {number(py)}" for px, py in rest)
    tip_x, tip_y = curve[-1]
    left, right = (_barb(curve, sign * _SIZES.head_angle) for sign in (1, -1))
    return f"M{number(x)} {number(y)}C{points}M{left}L{number(tip_x)} {number(tip_y)}L{right}"


def _direction(curve: tuple[Point, ...]) -> float:
    """Return the angle in which the curve arrives, in radians."""
    tip_x, tip_y = curve[-1]
    away = [point for point in curve if math.dist(point, curve[-1]) > 1]
    from_x, from_y = away[-1] if away else (tip_x, tip_y - 1)
    return math.atan2(tip_y - from_y, tip_x - from_x)


def _barb(curve: tuple[Point, ...], turn: float) -> str:
    angle = _direction(curve) + turn
    tip_x, tip_y = curve[-1]
    x, y = (
        tip_x - _SIZES.head_length * math.cos(angle),
        tip_y - _SIZES.head_length * math.sin(angle),
    )
    return f"{number(x)} {number(y)}"


def _beside_head(curve: tuple[Point, ...]) -> Point:
    """Return where the label of an arrow stands: beside its head, on the right or above."""
    angle = _direction(curve)
    tip_x, tip_y = curve[-1]
    along, across = math.cos(angle), math.sin(angle)
    return tip_x - 10 * along + 4 * across, tip_y - 10 * across - 4 * along
