"""Several drawings with one layout, so that common boxes have the same position."""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice, zip_longest

from msgspec.structs import replace

from xlareport.pictures.drawing import EDGE_LIMIT, NODE_LIMIT, Arrow, Box, Drawing, Group
from xlareport.pictures.layout import Layout, Rectangle
from xlareport.pictures.metrics import text_width
from xlareport.runtime.grouping import group_by_key


def only(drawing: Drawing, keep: Collection[str]) -> Drawing:
    """Return the drawing without other boxes, their arrows and empty frames."""
    return replace(
        drawing,
        nodes=tuple(node for node in drawing.nodes if node.id in keep),
        edges=tuple(edge for edge in drawing.edges if edge.source in keep and edge.target in keep),
        groups=frames_in_use(
            replace(group, members=tuple(member for member in group.members if member in keep))
            for group in drawing.groups
        ),
    )


def frames_in_use(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Return the frames with a box or another frame inside."""
    result: list[Group] = []
    parents: set[str | None] = set()
    for group in reversed(tuple(groups)):
        if group.members or group.id in parents:
            result.append(group)
            parents.add(group.parent)
    return tuple(reversed(result))


_FRAME_MARGIN = 18.0


def union(drawings: Sequence[Drawing]) -> Drawing:
    """Return a drawing with the boxes, arrows and frames of all; the frames of the last one win.

    A box is as large as where it is largest. What goes beyond the limits is left out.
    """
    if len(drawings) == 1:
        return drawings[0]
    nodes: dict[str, Box] = {}
    for box in (node for drawing in drawings for node in drawing.nodes):
        nodes[box.id] = _larger(nodes.get(box.id, box), box)
    keep = dict(islice(nodes.items(), NODE_LIMIT))
    edges = {_arrow_key(edge): edge for drawing in drawings for edge in drawing.edges}
    inside = (edge for edge in edges.values() if edge.source in keep and edge.target in keep)
    return Drawing(
        drawings[-1].title,
        tuple(keep.values()),
        tuple(islice(inside, EDGE_LIMIT)),
        _frames(drawings, keep),
    )


def _arrow_key(edge: Arrow) -> tuple[str, str, str]:
    return edge.source, edge.target, edge.style


def _larger(box: Box, other: Box) -> Box:
    """Return a box in which the text of either has room."""
    if box == other:
        return other
    rows = zip_longest(box.lines, other.lines, fillvalue="")
    return other._replace(
        lines=tuple(max(row, key=text_width) for row in rows),
        shape="stack" if "stack" in (box.shape, other.shape) else other.shape,
        mix=box.mix or other.mix,
        opens=max(box.opens, other.opens, key=len),
    )


def _frames(drawings: Sequence[Drawing], keep: Iterable[str]) -> tuple[Group, ...]:
    """Return all frames, each box in the last one that a drawing has for it."""
    frames = {group.id: group for drawing in drawings for group in drawing.groups}
    homes: dict[str, str] = {}
    for drawing in drawings:
        homes |= {member: group.id for group in drawing.groups for member in group.members}
    members = group_by_key((homes.get(box), box) for box in keep)
    return frames_in_use(
        replace(
            frame,
            members=tuple(members.get(frame.id, ())),
            parent=frame.parent if frame.parent in frames else None,
        )
        for frame in sorted(frames.values(), key=lambda frame: _depth(frame, frames))
    )


def _depth(group: Group, frames: dict[str, Group]) -> int:
    """Return the number of frames around a frame."""
    depth = 0
    while group.parent is not None and depth < len(frames):
        group, depth = frames[group.parent], depth + 1
    return depth


def restrict(drawing: Drawing, whole: Drawing, layout: Layout) -> tuple[Drawing, Layout]:
    """Return one of the drawings with its part of the layout of their union."""
    if drawing is whole:
        return drawing, layout
    boxes = {node.id: box for node, box in zip(whole.nodes, layout.nodes, strict=True)}
    curves = {
        _arrow_key(edge): curve for edge, curve in zip(whole.edges, layout.edges, strict=True)
    }
    frames = {group.id: box for group, box in zip(whole.groups, layout.groups, strict=True)}
    kept = only(drawing, boxes)
    kept = replace(kept, edges=tuple(edge for edge in kept.edges if _arrow_key(edge) in curves))
    return kept, replace(
        layout,
        nodes=tuple(boxes[node.id] for node in kept.nodes),
        edges=tuple(curves[_arrow_key(edge)] for edge in kept.edges),
        groups=tuple(frames.get(group.id) or _around(kept, group, boxes) for group in kept.groups),
    )


def _around(drawing: Drawing, group: Group, boxes: dict[str, Rectangle]) -> Rectangle:
    """Return a frame around the boxes in it and in the frames in it."""
    inside = [group.id]
    for this_group in drawing.groups:
        if this_group.parent in inside:
            inside.append(this_group.id)
    rectangles = [
        boxes[name] for group in drawing.groups if group.id in inside for name in group.members
    ]
    left, top = min(box.x for box in rectangles), min(box.y for box in rectangles)
    right = max(box.x + box.width for box in rectangles)
    low = max(box.y + box.height for box in rectangles)
    margin = _FRAME_MARGIN
    return Rectangle(left - margin, top - margin, right - left + 2 * margin, low - top + 2 * margin)
