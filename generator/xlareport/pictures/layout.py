"""Positions of the boxes as numbers, read from Graphviz's JSON."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

T = TypeVar("T")

Coordinates = tuple[float, float]


class Rectangle(Struct, frozen=True):
    """A rectangle by its upper left corner; x grows to the right, y downwards."""

    x: float
    y: float
    width: float
    height: float


class Layout(Struct, frozen=True):
    """Positions in SVG user units, in the order of the drawing's boxes, arrows and frames."""

    width: float
    height: float
    nodes: tuple[Rectangle, ...]
    edges: tuple[tuple[Coordinates, ...], ...]
    """Three points for each cubic curve after the start; the last point is the arrow's tip."""
    groups: tuple[Rectangle, ...] = ()


class LayoutFailure(Struct, frozen=True):
    """Why there are no positions: words that continue after `the layout`."""

    reason: str


def parse_layout(graphviz_json: bytes) -> Layout | LayoutFailure:
    """Read the positions of `n0`, `n1`..., `e0`..., `cluster_0`... from `dot -Tjson0`."""
    try:
        graph = json.loads(graphviz_json)
        return _layout(graph, graph.get("objects", ()), graph.get("edges", ()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return LayoutFailure(f"gave an answer that cannot be read ({error})")


def _layout(graph: Any, objects: Iterable[Any], edges: Iterable[Any]) -> Layout:
    left, low, right, high = _parse_floats(graph["bb"])
    page = _Page(left, high)
    objects = tuple(objects)
    return Layout(
        round(right - left, 1),
        round(high - low, 1),
        _sort_by_number(
            "n", ((item["name"], page.node(item)) for item in objects if "pos" in item)
        ),
        _sort_by_number("e", ((edge["id"], page.curve(edge["pos"])) for edge in edges)),
        _sort_by_number(
            "cluster_", ((item["name"], page.frame(item)) for item in objects if "bb" in item)
        ),
    )


class _Page(Struct, frozen=True):
    """Graphviz's page, whose y axis points up: its left and its upper border."""

    left: float
    high: float

    def point(self, x: float, y: float) -> Coordinates:
        return round(x - self.left, 1), round(self.high - y, 1)

    def node(self, value: Mapping[str, str]) -> Rectangle:
        width, height = 72 * float(value["width"]), 72 * float(value["height"])
        x, y = _parse_floats(value["pos"])
        corner = self.point(x - width / 2, y + height / 2)
        return Rectangle(*corner, round(width, 1), round(height, 1))

    def frame(self, value: Mapping[str, str]) -> Rectangle:
        left, low, right, high = _parse_floats(value["bb"])
        return Rectangle(*self.point(left, high), round(right - left, 1), round(high - low, 1))

    def curve(self, text: str) -> tuple[Coordinates, ...]:
        """Read `e,TIP START C1 C2 P ...`; there is a tip only with an arrow head."""
        points = [self.point(*_parse_floats(part)) for part in text.split()]
        return tuple(points)


def _parse_floats(text: str) -> tuple[float, ...]:
    """Read `1.5,2`; raises ValueError for anything else, infinities included."""
    numbers = tuple(float(part) for part in text.split(","))
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"no finite numbers: {text!r}")
    return numbers


def _sort_by_number(prefix: str, value: Iterable[tuple[str, T]]) -> tuple[T, ...]:
    """Sort by our numbering; raises KeyError where a number is missing."""
    by_name = dict(value)
    return tuple(by_name[f"{prefix}{number}"] for number in range(len(by_name)))
