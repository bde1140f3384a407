"""Pictures of a module of any size: the whole where it fits, else level by level.

Each picture is asked for by its target, as the boxes of other pictures name it: `c=COMPUTATION` or
`g=PART`. The first one is of the entry.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xlareport.hlo.model import Computation, HloModule
from xlareport.pictures.division import divide
from xlareport.pictures.drawing import Drawing
from xlareport.pictures.folding import Folding
from xlareport.pictures.level import MOST_BOXES, PictureLevel
from xlareport.pictures.parts import InstructionGroup
from xlareport.pictures.scene import Instance
from xlareport.pictures.shade import NOTHING, Known
from xlareport.pictures.uses import Item
from xlareport.runtime.units import plural


@dataclass(frozen=True)
class _Divided:
    """A computation in parts, by their targets; its folding serves all their pictures."""

    whole: InstructionGroup
    folding: Folding

    @cached_property
    def parts(self) -> Mapping[str, InstructionGroup]:
        """The whole and all parts in it."""
        return {part.target: part for part in self.whole.parts()}


class ModulePictures:
    """All pictures of one module, made when asked for; `known` say what its instructions cost."""

    def __init__(self, module: HloModule, known: Known = NOTHING) -> None:
        self._module = module
        self._known = known
        self._divisions: dict[str, _Divided] = {}

    def overview(self) -> Drawing:
        """Return the picture of the entry; an empty drawing for a module without computations."""
        entry = self._module.entry
        return self._whole(entry) if entry else Drawing(self._module.name, ())

    def picture(self, target: str) -> Drawing:
        """Return what a box opens. Raises KeyError for a target that the module does not have."""
        kind, _, name = target.partition("=")
        if kind == "c":
            return self._whole(self._module.by_name[name])
        divided = self._divided(self._module.by_name[name.partition("/")[0]])
        return self._level(divided, divided.parts[target])

    def _divided(self, computation: Computation) -> _Divided:
        if computation.name not in self._divisions:
            folding = Folding(computation, inputs=False)
            self._divisions[computation.name] = _Divided(divide(self._module, folding), folding)
        return self._divisions[computation.name]

    def _division(self, computation: Computation) -> InstructionGroup:
        return self._divided(computation).whole

    def _whole(self, computation: Computation) -> Drawing:
        instance = Instance(Folding(computation))
        drawn = instance.drawn()
        if len(drawn) > MOST_BOXES:
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
