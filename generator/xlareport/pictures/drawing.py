"""The content of a picture: boxes, arrows and frames, without positions."""

from collections.abc import Hashable, Iterable
from typing import Literal, NamedTuple, TypeVar

from msgspec import Struct

from xlareport.pictures.shade import UNKNOWN, Shade

NODE_LIMIT = 200
EDGE_LIMIT = 600

Family = Literal[
    "white",
    "yellow",
    "green",
    "dark-blue",
    "purple",
    "gray",
    "brown",
    "dark-green",
    "orange",
    "dark-orange",
    "dashed",
]
"""The color of a box, by the kind of its opcode as in XLA's own drawings (`knowledge.colors`)."""

State = Literal["same", "added", "removed", "changed", "context"]
"""Change of an item in a step; `context` is a neighbor of changes, `same` is for other pictures."""

Shape = Literal["rect", "round", "stack"]
"""`rect` is one instruction, `round` a box that opens into others, `stack` several similar ones."""

FrameKind = Literal["scope", "computation"]

EdgeStyle = Literal["normal", "thin", "control"]
"""`thin` carries a small value (under 4096 elements), `control` only orders."""


class Opening(NamedTuple):
    """Another picture that a mark on a box or frame opens."""

    target: str
    """`c=COMPUTATION`."""
    words: str
    """Its relation to the caller: `body region_0.5`."""


class Box(NamedTuple):  # as arrows and shades: made by the hundred thousand
    """A box: an instruction, or a group of them drawn as one."""

    id: str
    """Unique in the drawing; the same thing has the same id in the picture before and after."""
    lines: tuple[str, ...]
    """The text lines of the box; the first line is the name."""
    family: Family
    state: State = "same"
    tooltip: str = ""
    """Whole names, attributes and sources: what was too long for the box."""
    target: str | None = None
    """The target of a click: the details of `i=INSTRUCTION`, or the picture `g=PART`."""
    opens: tuple["Opening", ...] = ()
    """The computations that an instruction calls, each with a mark of its own."""
    shape: Shape = "rect"
    badge: str = ""
    """A short word on the border: `ROOT`, `OUT 3`, or LEAVES."""
    mix: tuple[tuple[Family, int], ...] = ()
    """For a box of many instructions: their number by color, drawn as a bar."""
    shade: Shade = UNKNOWN
    """The values of other color modes."""


class Arrow(NamedTuple):
    """An arrow from the producer of a value to its user."""

    source: str
    target: str
    label: str = ""
    """A few characters at the arrow's head: the number of the operand."""
    style: EdgeStyle = "normal"
    state: State = "same"


class Group(Struct, frozen=True):
    """A frame around boxes: a called computation or a scope of the framework."""

    id: str
    title: str
    kind: FrameKind
    members: tuple[str, ...]
    """Ids of the boxes inside, those of inner frames not repeated."""
    parent: str | None = None
    """The id of the frame around this one, which is earlier in the drawing."""
    state: State = "same"
    target: str | None = None
    opens: tuple[Opening, ...] = ()
    """As in `Node`: the computation by itself, the condition of a loop."""


LEAVES = "\N{RIGHTWARDS ARROW}"
"""The badge of a box whose value is used outside of the picture."""

_Key = TypeVar("_Key", bound=Hashable)


class DrawingError(ValueError):
    """A drawing that contradicts itself or is larger than may be laid out."""


class Drawing(Struct, frozen=True):
    """A picture before layout. Raises DrawingError beyond 200 boxes or 600 arrows."""

    title: str
    nodes: tuple[Box, ...]
    edges: tuple[Arrow, ...] = ()
    groups: tuple[Group, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences on what was folded or left out."""
    left_out: tuple[str, ...] = ()
    """The changes outside the picture, a line for each kind; shown on the page."""
    has_legend: bool = True
    """Whether the legend applies: it explains instructions, so other pictures have none."""

    def __post_init__(self) -> None:
        """Check the limits and that every id is unique and known."""
        if len(self.nodes) > NODE_LIMIT or len(self.edges) > EDGE_LIMIT:
            raise DrawingError(f"{len(self.nodes)} boxes and {len(self.edges)} arrows are too many")
        ids = _unique(node.id for node in self.nodes)
        ends = {end for edge in self.edges for end in (edge.source, edge.target)}
        _unique((edge.source, edge.target, edge.style) for edge in self.edges)
        members = _unique(member for group in self.groups for member in group.members)
        if unknown := (ends | members) - ids:
            raise DrawingError(f"unknown boxes: {sorted(unknown)}")
        self._check_frames()

    def _check_frames(self) -> None:
        """Check that every frame is after the frame around it."""
        seen: set[str | None] = {None}
        for group in self.groups:
            if group.parent not in seen or group.id in seen:
                raise DrawingError(f"frame {group.id!r} is given twice or before its parent")
            seen.add(group.id)


def _unique(keys: Iterable[_Key]) -> set[_Key]:
    """Return the keys as a set; raises DrawingError where one is given twice."""
    seen: set[_Key] = set()
    for key in keys:
        if key in seen:
            raise DrawingError(f"{key!r} is given twice")
        seen.add(key)
    return seen
