"""The content of one picture, and which of its boxes are drawn open."""

from collections.abc import Callable, Sequence

from xlareport.hlo.model import Computation, HloModule
from xlareport.pictures.assembly import assemble
from xlareport.pictures.boxes import frame_title, loop_count, openings
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.drawing import Drawing, FrameKind, Group, Opening
from xlareport.pictures.operand_uses import Item
from xlareport.pictures.parts import FIRST_VIEW, InstructionGroup, Things, alike_words, size_of
from xlareport.pictures.scene import Instance, open_caller, opens_into
from xlareport.pictures.shade import ColorData

MOST_BOXES = 150
"""A computation with no more instructions, after folding, is drawn whole, unless it comes first."""

_TOO_FEW_PARTS = 16
"""A picture of parts with fewer boxes opens even those that are mere neighbors."""

_TOO_FEW = 12
"""Number of boxes below which the largest box is opened, in whole or in part."""


class PictureLevel:
    """The boxes and frames of one picture."""

    def __init__(
        self,
        module: HloModule,
        items: Sequence[Item],
        divided: Callable[[Computation], InstructionGroup],
        known: ColorData,
    ) -> None:
        self._module = module
        self._known = known
        self._items = list(items)
        self._divided = divided
        self._frames: list[Group] = []
        self._called: dict[str, Things] = {}

    def drawing(self, title: str, *notes: str) -> Drawing:
        """Draw what is here now."""
        return assemble(self._module, title, self._items, self._frames, notes, known=self._known)

    def open_parts(self) -> None:
        """Open parts while there is room, those with most instructions first.

        Of similar parts, the first is opened, and only if there is hardly anything else.
        """
        while result := self._fitting(_inside_part, FIRST_VIEW):
            self._open(max(result, key=self._weight))
        while len(self._items) < _TOO_FEW_PARTS and (
            result := self._fitting(_inside_row, FIRST_VIEW)
        ):
            self._open(max(result, key=self._weight))
        while len(self._items) < _TOO_FEW and (result := self._fitting(_inside_alike, FIRST_VIEW)):
            self._open(max(result, key=self._weight))

    def _weight(self, place: int) -> tuple[int, int]:
        """Order boxes by how many instructions they represent, then by their place."""
        return size_of(self._items[place].thing), -place

    def open_callers(self) -> None:
        """Draw called computations in place of their callers: all, or in a poor picture some."""
        more = sum(len(self._inside_caller(item)) for item in self._items)
        poor = len(self._items) < _TOO_FEW
        if len(self._items) + more > FIRST_VIEW and not poor:
            return
        while result := self._fitting(self._inside_caller, FIRST_VIEW):
            self._open(max(result, key=lambda place: (len(self._things_at(place)), -place)))

    def _fitting(self, inside: Callable[[Item], Things], most: int) -> list[int]:
        """Return which boxes can be opened so that there are not more than `most`."""
        room = most - len(self._items) + 1
        return [n for n, item in enumerate(self._items) if 0 < len(inside(item)) <= room]

    def _things_at(self, place: int) -> Things:
        item = self._items[place]
        if not isinstance(item.thing, InstructionGroup):
            return self._inside_caller(item)
        return _inside_alike(item) or item.thing.things

    def _inside_caller(self, item: Item) -> Things:
        """Return the boxes that would replace a caller; empty if that is no gain."""
        if isinstance(item.thing, InstructionGroup):
            return ()
        computation = opens_into(self._module, item.thing)
        if computation is None:
            return ()
        if computation.name not in self._called:
            self._called[computation.name] = self._content(computation)
        return self._called[computation.name]

    def _content(self, computation: Computation) -> Things:
        drawn = Instance(Folding(computation, inputs=False)).drawn()
        if len(drawn) > FIRST_VIEW:
            return self._divided(computation).things
        return drawn if len(drawn) > 1 else ()

    def _open(self, place: int) -> None:
        """Replace a box with a frame and its contents."""
        item, things = self._items[place], self._things_at(place)
        frame = f"frame {len(self._frames)}"
        instance = item.instance
        kind: FrameKind = "scope"
        opens: tuple[Opening, ...] = ()
        if isinstance(item.thing, InstructionGroup):
            title, target = _frame_words(item.thing), item.thing.target
        elif computation := opens_into(self._module, item.thing):
            times = loop_count(self._module, instance.computation, item.thing)
            instance = open_caller(instance, item.thing, computation)
            title, target = frame_title(item.thing, times), f"i={item.thing.name}"
            kind, opens = "computation", openings(item.thing, self._module, computation.name)
        self._frames.append(Group(frame, title, kind, (), item.frame, target=target, opens=opens))
        self._items[place : place + 1] = [Item(instance, thing, frame) for thing in things]


def _inside_part(item: Item) -> Things:
    """Return the boxes that would replace a part; similar or merely adjacent ones stay closed."""
    part = item.thing
    if not isinstance(part, InstructionGroup) or part.kind not in {"scope", "flow"}:
        return ()
    runs = all(isinstance(group, InstructionGroup) and group.kind == "run" for group in part.things)
    return () if runs else part.things


def _inside_row(item: Item) -> Things:
    """Return the boxes that would replace a part of adjacent items."""
    part = item.thing
    return part.things if isinstance(part, InstructionGroup) and part.kind == "run" else ()


def _inside_alike(item: Item) -> Things:
    """Return the boxes that would replace several similar parts: the contents of the first."""
    part = item.thing
    if not isinstance(part, InstructionGroup) or part.kind != "alike":
        return ()
    first = next(part.members())
    return first.things if isinstance(first, InstructionGroup) else ()


def _frame_words(part: InstructionGroup) -> str:
    """Return the title of the frame of a part."""
    return ", ".join((part.title, *(f"{words}: the first" for words in alike_words(part))))
