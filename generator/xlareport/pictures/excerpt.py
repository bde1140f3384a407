"""Chosen instructions of one module, each in the frame of its computation."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeAlias

from xlareport.analysis.matching.pairing import Place
from xlareport.hlo.model import Computation
from xlareport.pictures.assembly import assemble
from xlareport.pictures.boxes import frame_title
from xlareport.pictures.change_regions import Naming
from xlareport.pictures.drawing import Drawing, Group, State
from xlareport.pictures.scene import Instance
from xlareport.pictures.side import PictureSide
from xlareport.pictures.uses import Item

Found: TypeAlias = Mapping[str, Mapping[str, str]]
"""The instructions of each computation by their names, the callers before what they call."""


def find_shown(
    side: PictureSide, naming: Naming, shown: Collection[str], computations: Collection[str]
) -> Found:
    """Return the instructions in some computations whose names are shown."""
    return {
        computation.name: chosen
        for computation in reversed(side.module.computations)
        if computation.name in computations and (chosen := _choose(computation, naming, shown))
    }


def _choose(computation: Computation, naming: Naming, shown: Collection[str]) -> dict[str, str]:
    """Return what is shown of a computation, each thing once."""
    result: dict[str, str] = {}
    for instruction in computation.instructions:
        name = naming(Place(computation.name, instruction.name))
        if name in shown:
            result.setdefault(name, instruction.name)
    return result


def draw_excerpt(side: PictureSide, naming: Naming, value: Found) -> Drawing:
    """Draw the instructions that were found."""
    return _Excerpt(side, naming, value).drawing()


class _Excerpt:
    """Collects instances, frames and items, the callers before what they call."""

    def __init__(self, side: PictureSide, naming: Naming, value: Found) -> None:
        self._side = side
        self._naming = naming
        self._instances: dict[str, Instance] = {}
        self._frames: dict[str, Group] = {}
        self._chosen = {computation: [*names.values()] for computation, names in value.items()}

    def drawing(self) -> Drawing:
        """Return the drawing."""
        for name in self._chosen:
            self._instance(name)
        items = [item for name in self._chosen for item in self._items(name)]
        frames = tuple(self._frames.values())
        return assemble(self._side.module, "", items, frames, excerpt=True)

    def _instance(self, name: str) -> Instance:
        """Return a computation in the place of its caller where that is shown, else by itself."""
        if name in self._instances:
            return self._instances[name]
        computation, caller = self._side.module.by_name[name], self._side.caller(name)
        folding = self._side.folding_without(name, self._chosen.get(name, ()))
        instance = self._instances[name] = Instance(folding)
        if computation.is_entry:
            return instance
        frame = Group(name, name, "computation", ())
        if caller is not None:
            outer = self._instance(caller.computation)
            instance.outer, instance.caller = outer, self._side.instruction(caller)
            outer.opened[caller.instruction] = instance
            frame = self._in_place_of(caller)
        taken = {frame.id for frame in self._frames.values()}
        while frame.id in taken:
            frame = replace(frame, id=f"{frame.id}'")
        self._frames[name] = frame
        return instance

    def _in_place_of(self, caller: Place) -> Group:
        """Return the frame that stands in place of a caller."""
        instruction, around = self._side.instruction(caller), self._frames.get(caller.computation)
        return Group(
            self._naming(caller),
            frame_title(instruction, None),
            "computation",
            (),
            around.id if around else None,
            self._state(caller),
            f"i={instruction.name}",
        )

    def _state(self, place: Place) -> State:
        return self._side.states.get(place, "context")

    def _items(self, name: str) -> list[Item]:
        """Return what is shown of a computation and not opened."""
        instance, frame = self._instances[name], self._frames.get(name)
        return [
            Item(
                instance,
                instance.computation.by_name[text],
                frame.id if frame else None,
                self._naming(Place(name, text)),
                self._state(Place(name, text)),
            )
            for text in self._chosen[name]
            if text not in instance.opened
        ]
