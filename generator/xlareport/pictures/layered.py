"""A plain layered layout without Graphviz, for when that is missing or fails."""

from collections.abc import Iterator, Mapping, Sequence

from xlareport.pictures.drawing import Drawing
from xlareport.pictures.layout import Coordinates, Layout, Rectangle
from xlareport.pictures.metrics import node_size
from xlareport.runtime.grouping import group_by_key

_GAP_X = 16.0
_GAP_Y = 34.0
_SWEEPS = 4
_MOST_WIDTH = 2400.0


def layered_layout(drawing: Drawing) -> Layout:
    """Return a layout with users below producers; frames are not drawn."""
    above = _above(drawing)
    layers = _layers(above)
    for _ in range(_SWEEPS):
        layers = _reordered(layers, above)
    sizes = {node.id: node_size(node) for node in drawing.nodes}
    boxes = _boxes([row for layer in layers for row in _wrapped(layer, sizes)], sizes)
    return Layout(
        max((box.x + box.width for box in boxes.values()), default=0.0),
        max((box.y + box.height for box in boxes.values()), default=0.0),
        tuple(boxes[node.id] for node in drawing.nodes),
        tuple(_curve(boxes[edge.source], boxes[edge.target]) for edge in drawing.edges),
    )


def _layers(above: Mapping[str, Sequence[str]]) -> list[list[str]]:
    layers = group_by_key((depth, name) for name, depth in _depths(above).items())
    return [layers[depth] for depth in sorted(layers)]


def _above(drawing: Drawing) -> dict[str, list[str]]:
    """Return the boxes that each box uses, without arrows back to earlier boxes."""
    order = {node.id: position for position, node in enumerate(drawing.nodes)}
    above: dict[str, list[str]] = {name: [] for name in order}
    for edge in drawing.edges:
        if order[edge.source] < order[edge.target]:
            above[edge.target].append(edge.source)
    return above


def _depths(above: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the layer of each box; `above` is sorted so that users follow."""
    depths: dict[str, int] = {}
    for name, sources in above.items():
        depths[name] = 1 + max((depths[source] for source in sources), default=-1)
    return depths


def _reordered(
    rows: Sequence[Sequence[str]], above: Mapping[str, Sequence[str]]
) -> list[list[str]]:
    """Return each row sorted by the mean position of the boxes that it uses."""
    places: dict[str, float] = {}
    result = []
    for row in rows:
        places |= {name: float(place) for place, name in enumerate(row)}
        means = {
            name: sum(places[text] for text in above[name]) / len(above[name])
            if above[name]
            else places[name]
            for name in row
        }
        result.append(sorted(row, key=means.__getitem__))
        places |= {name: float(place) for place, name in enumerate(result[-1])}
    return result


def _wrapped(layer: Sequence[str], sizes: Mapping[str, tuple[float, float]]) -> Iterator[list[str]]:
    """Yield a layer as rows that are not too wide to look at."""
    row: list[str] = []
    width = 0.0
    for name in layer:
        width += sizes[name][0] + _GAP_X
        if row and width > _MOST_WIDTH:
            yield row
            row, width = [], sizes[name][0] + _GAP_X
        row.append(name)
    yield row


def _boxes(
    rows: Sequence[Sequence[str]], sizes: Mapping[str, tuple[float, float]]
) -> dict[str, Rectangle]:
    """Place the rows one below the other, each in the middle of the widest."""
    widths = [sum(sizes[name][0] + _GAP_X for name in row) for row in rows]
    boxes: dict[str, Rectangle] = {}
    y = 0.0
    for row, width in zip(rows, widths, strict=True):
        x = (max(widths) - width) / 2
        for name in row:
            boxes[name] = Rectangle(x, y, *sizes[name])
            x += sizes[name][0] + _GAP_X
        y += max(sizes[name][1] for name in row) + _GAP_Y
    return boxes


def _curve(source: Rectangle, target: Rectangle) -> tuple[Coordinates, ...]:
    start = (source.x + source.width / 2, source.y + source.height)
    end = (target.x + target.width / 2, target.y)
    return start, (start[0], start[1] + _GAP_Y / 2), (end[0], end[1] - _GAP_Y / 2), end
