"""A part of a drawing: some of its boxes, with the arrows and frames that these need."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from xlareport.pictures.drawing import Drawing, Group


def only(drawing: Drawing, keep: Collection[str]) -> Drawing:
    """Return the drawing without the other boxes, their arrows and the frames left empty."""
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
    """Return the frames that hold a box or another frame."""
    result: list[Group] = []
    parents: set[str | None] = set()
    for group in reversed(tuple(groups)):
        if group.members or group.id in parents:
            result.append(group)
            parents.add(group.parent)
    return tuple(reversed(result))
