"""The pictures below a module's first one, each linked from another."""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from msgspec import Struct

from xlareport.hlo.model import Computation, HloModule
from xlareport.pictures.boxes import is_worth_opening
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.division import divide
from xlareport.pictures.drawing import Box, Drawing, Group
from xlareport.pictures.labels import PathFinder
from xlareport.pictures.level import MOST_BOXES, PictureLevel
from xlareport.pictures.operand_uses import Item
from xlareport.pictures.parts import FIRST_VIEW, InstructionGroup
from xlareport.pictures.scene import Instance
from xlareport.pictures.shade import NO_COLOR_DATA, ColorData
from xlareport.runtime.units import plural


class _Divided(Struct, frozen=True, dict=True):
    """A computation in parts, by their targets; its folding serves all their pictures."""

    whole: InstructionGroup
    folding: Folding

    @cached_property
    def parts(self) -> Mapping[str, InstructionGroup]:
        """The whole and all parts in it."""
        return {part.target: part for part in self.whole.parts()}


class ModulePictures:
    """All pictures of one module, made on request; `known` has the cost of its instructions.

    A picture is requested by its target, as in the boxes of others: `c=COMPUTATION`, `g=PART`.
    """

    def __init__(self, module: HloModule, known: ColorData = NO_COLOR_DATA) -> None:
        self._module = module
        self._known = known
        self._divisions: dict[str, _Divided] = {}

    @cached_property
    def _finder(self) -> PathFinder:
        return PathFinder(self._module)

    def overview(self) -> Drawing:
        """Return the picture of the entry; an empty drawing for a module without computations."""
        entry = self._module.entry
        return self._whole_drawing(entry) if entry else Drawing(self._module.name, ())

    def picture(self, target: str) -> Drawing:
        """Return the picture of a target. Raises KeyError if the module does not have it."""
        kind, _, name = target.partition("=")
        if kind == "c":
            return self._whole_drawing(self._module.by_name[name])
        divided = self._divided(self._module.by_name[name.partition("/")[0]])
        return self._level(divided, divided.parts[target])

    def _divided(self, computation: Computation) -> _Divided:
        if computation.name not in self._divisions:
            folding = Folding(computation, inputs=False)
            whole = divide(self._module, folding, self._finder)
            self._divisions[computation.name] = _Divided(whole, folding)
        return self._divisions[computation.name]

    def _division(self, computation: Computation) -> InstructionGroup:
        return self._divided(computation).whole

    def _whole_drawing(self, computation: Computation) -> Drawing:
        instance = Instance(Folding(computation))
        drawn = instance.drawn()
        if len(drawn) > (FIRST_VIEW if computation.is_entry else MOST_BOXES):
            divided = self._divided(computation)
            return self._level(divided, divided.whole)
        level = self._new([Item(instance, instruction) for instruction in drawn])
        level.open_callers()
        return level.drawing(f"{self._module.name}: {_words(computation)}")

    def _new(self, items: Sequence[Item]) -> PictureLevel:
        return PictureLevel(self._module, items, self._division, self._known)

    def _level(self, divided: _Divided, part: InstructionGroup) -> Drawing:
        instance = Instance(divided.folding)
        level = self._new([Item(instance, thing) for thing in part.things])
        level.open_parts()
        whole = _words(instance.computation)
        title = whole if part is divided.whole else part.title
        size = f"{plural(part.size, 'instruction')} of {whole}."
        return level.drawing(f"{self._module.name}: {title}", size)


def _words(computation: Computation) -> str:
    return f"{'entry ' if computation.is_entry else ''}{computation.name}"


class LevelPicture(Struct, frozen=True):
    """One picture of a module."""

    target: str
    """As the boxes of other pictures name it: `c=COMPUTATION` or `g=PART`."""
    drawing: Drawing
    parent: int | None
    """The place, in the sequence of all, of the picture that first leads here; None without one."""


def all_levels(
    module: HloModule, pictures: ModulePictures, most_boxes: float = math.inf
) -> tuple[LevelPicture, ...]:
    """Return the pictures of a module: those fewest clicks away first, the first one leading.

    Behind them come computations that nothing calls and that are more than one operation. None is
    begun once there are `most_boxes` boxes.
    """
    if module.entry is None:
        return ()
    level_pictures: list[LevelPicture] = []
    seen: set[str] = set()
    alone = (
        f"c={computation.name}"
        for computation in module.computations
        if is_worth_opening(computation)
    )
    for start in (f"c={module.entry.name}", *alone):
        waiting: deque[tuple[str, int | None]] = deque([(start, None)])
        while waiting and most_boxes > 0:
            target, parent = waiting.popleft()
            if target not in seen:
                seen.add(target)
                drawing = pictures.picture(target)
                most_boxes -= len(drawing.nodes)
                waiting.extend((text, len(level_pictures)) for text in opened_by(drawing))
                level_pictures.append(LevelPicture(target, drawing, parent))
    return tuple(level_pictures)


def opened_by(drawing: Drawing) -> Iterator[str]:
    """Yield the targets of the pictures that a click in a drawing opens."""
    things: Sequence[Box | Group] = (*drawing.nodes, *drawing.groups)
    for thing in things:
        if thing.target is not None and thing.target.startswith("g="):
            yield thing.target
        yield from (opening.target for opening in thing.opens)


def whereabouts(module: HloModule, levels: Sequence[LevelPicture]) -> Mapping[str, int]:
    """Return the place of the first picture that shows each instruction.

    What has no box of its own is shown by its user, or by what calls its computation.
    """
    whereabouts: dict[str, int] = {}
    for place, level in enumerate(levels):
        for name in _drawn_names(level.drawing):
            whereabouts.setdefault(name, place)
    whole = {level.target: place for place, level in enumerate(levels)}
    for computation in reversed(module.computations):
        calls = module.calls.get(computation.name)
        caller = calls[0].instruction.name if calls else ""
        outside = whole.get(f"c={computation.name}", whereabouts.get(caller))
        _place_folded(computation, outside, whereabouts)
    return whereabouts


def _drawn_names(drawing: Drawing) -> Iterator[str]:
    """Yield the names of the instructions that have a box or a frame."""
    boxes = (node.target for node in drawing.nodes if node.family != "dashed")
    frames = (group.target for group in drawing.groups)
    for target in chain(boxes, frames):
        if target is not None and target.startswith("i="):
            yield target.removeprefix("i=")


def _place_folded(computation: Computation, outside: int | None, value: dict[str, int]) -> None:
    """Assign instructions without a box to the picture of their user, else to `outside`."""
    for instruction in reversed(computation.instructions):
        if instruction.name in value:
            continue
        users = computation.users.get(instruction.name, ())
        place = next((value[user.name] for user in users if user.name in value), outside)
        if place is not None:
            value[instruction.name] = place
