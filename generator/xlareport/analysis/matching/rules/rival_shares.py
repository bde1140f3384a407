"""Whether an equal shape is a coincidence, because a share of other work has it too.

Where work is divided, `f32[256,128]` may be a device's share of the `f32[256,256]` of another layer
rather than the undivided `f32[256,128]` of before.
"""

from collections.abc import Hashable, Iterable

from xlareport.analysis.matching.search.nodes import origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, opcode_of
from xlareport.analysis.matching.sides.parameters import is_part
from xlareport.hlo.shape import Shape

_Shapes = dict[Hashable, dict[tuple[int | None, ...], Shape]]
"""The distinct shapes of unpaired work, by opcode and framework op."""


class RivalShares:
    """The shapes of the unpaired work of each framework op, on both sides."""

    def __init__(self, search: Search) -> None:
        self._divided = search.divided
        sides = (search.before.open(), search.after.open()) if search.divided else ((), ())
        self._before, self._after = map(_shapes_by_op, sides)

    def has_any(self, node: Node, other: Node) -> bool:
        """Return whether work of the same framework op and another shape may be in a pair too."""
        if not self._divided:
            return False
        whole, part = node.instruction.shape, other.instruction.shape
        old = self._before.get(_operation(node), {}).values()
        new = self._after.get(_operation(other), {}).values()
        is_share_of_rival = any(_is_other(rival, whole) and is_part(rival, part) for rival in old)
        return is_share_of_rival or any(
            _is_other(rival, part) and is_part(whole, rival) for rival in new
        )


def _is_other(rival: Shape, shape: Shape) -> bool:
    return rival.dimensions != shape.dimensions


def _shapes_by_op(nodes: Iterable[Node]) -> _Shapes:
    shapes: _Shapes = {}
    for node in nodes:
        shape = node.instruction.shape
        shapes.setdefault(_operation(node), {}).setdefault(shape.dimensions, shape)
    return shapes


def _operation(node: Node) -> Hashable:
    return (opcode_of(node), origin(node))
