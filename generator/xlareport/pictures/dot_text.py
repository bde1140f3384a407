"""A drawing as DOT text: structure and sizes for Graphviz, and nothing else.

Graphviz sees no label, so it opens no font, and nothing of a dump reaches it. Pictures that differ
only in their names have the same DOT: the layers of a model are laid out once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from xlareport.pictures.drawing import Arrow, Box, Drawing, Group
from xlareport.pictures.metrics import node_size, shorten, text_width
from xlareport.runtime.grouping import group_by_key

_POINTS_PER_INCH = 72
_FRAME_MARGIN = 18
_LEAVES_IN_A_ROW = 5

_HEAD = """\
digraph g {
graph [rankdir=TB, nodesep=0.2, ranksep=0.32, margin=0];
node [shape=box, fixedsize=true, label=""];
edge [arrowhead=none];
"""


def dot_text(drawing: Drawing) -> str:
    """Return the DOT of a drawing; equal drawings give equal texts."""
    numbers = {node.id: number for number, node in enumerate(drawing.nodes)}
    widths = _least_widths(drawing.groups)
    lines = [*_frames(drawing.groups, numbers)]
    nodes = enumerate(drawing.nodes)
    lines += [_node(number, box, widths.get(box.id, 0.0)) for number, box in nodes]
    lengths = _lengths(drawing.edges)
    edges = enumerate(drawing.edges)
    lines += [_edge(number, arrow, numbers, lengths.get(number, 1)) for number, arrow in edges]
    return _HEAD + "\n".join(lines) + "\n}\n"


def turned(dot: str) -> str:
    """Return the DOT of the same drawing from left to right."""
    return dot.replace("rankdir=TB", "rankdir=LR", 1)


def _least_widths(groups: Sequence[Group]) -> dict[str, float]:
    """Return how wide a frame's first box has to be for the frame's title to fit."""
    return {
        group.members[0]: text_width(shorten(group.title)) - _FRAME_MARGIN
        for group in groups
        if group.members
    }


def _node(number: int, node: Box, least_width: float) -> str:
    width, height = node_size(node)
    inches = max(width, least_width) / _POINTS_PER_INCH, height / _POINTS_PER_INCH
    return f"n{number} [width={inches[0]:.3f}, height={inches[1]:.3f}];"


def _edge(number: int, edge: Arrow, numbers: dict[str, int], length: int) -> str:
    weight = ", weight=0" if edge.style == "control" else ""
    far = f", minlen={length}" if length > 1 else ""
    return f"n{numbers[edge.source]} -> n{numbers[edge.target]} [id=e{number}{weight}{far}];"


def _lengths(edges: Sequence[Arrow]) -> dict[int, int]:
    """Return the minimum number of rows of arrows to leaves, where there are many.

    Otherwise all leaves of a box are in one row, and the picture becomes too wide.
    """
    makes, uses = Counter(edge.source for edge in edges), Counter(edge.target for edge in edges)
    leaves: Counter[tuple[str, str]] = Counter()
    lengths: dict[int, int] = {}
    for number, edge in enumerate(edges):
        if uses[edge.target] == 1 and not makes[edge.target]:
            hub = ("makes", edge.source)
        elif makes[edge.source] == 1 and not uses[edge.source]:
            hub = ("uses", edge.target)
        else:
            continue
        lengths[number] = 1 + leaves[hub] // _LEAVES_IN_A_ROW
        leaves[hub] += 1
    return lengths


def _frames(groups: Sequence[Group], numbers: dict[str, int]) -> Iterator[str]:
    """Yield the clusters, inner ones inside outer ones, in the order of the drawing."""
    order = {group.id: number for number, group in enumerate(groups)}
    inner = group_by_key((this_group.parent, this_group) for this_group in groups)
    waiting: list[Group | None] = list(reversed(inner.get(None, [])))
    while waiting:
        group = waiting.pop()
        if group is None:
            yield "}"
            continue
        yield f"subgraph cluster_{order[group.id]} {{"
        yield f"margin={_FRAME_MARGIN};"
        yield " ".join(f"n{numbers[member]};" for member in group.members)
        waiting += [None, *reversed(inner.get(group.id, []))]
