"""One side of a step: the changes in a module, and their neighbors."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.facts import facts_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.drawing import State
from xlareport.pictures.scene import Instance, opens_into, resolve

_TOLD_BY_USERS = frozenset({"constant", "get-tuple-element", "broadcast", "bitcast", "reshape"})


class PictureSide:
    """A module before or after a step, with a state for each instruction that changed."""

    def __init__(
        self,
        module: HloModule,
        states: Mapping[Place, State],
        renamed: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.module = module
        self._neighbors: dict[Place, Sequence[Place]] = {}
        self.renamed: dict[str, set[str]] = {}
        """Instructions that may be named as one with another name on the other side."""
        for home, instruction in renamed:
            self.renamed.setdefault(home, set()).add(instruction)
        self.states: dict[Place, State] = {}
        """Only instructions with a box: a new constant is shown in the box of its user, too."""
        self._foldings: dict[str, Folding] = {}
        for name, marked in _by_computation(module, states).items():
            folding = self._fold(name, _worth_a_box(module.by_name[name], marked))
            for place in (Place(name, text) for text in marked if not folding.is_folded(text)):
                self.states[place] = states[place]
        self._callers = _callers(module, self._foldings)
        self._opened = {place: name for name, [place] in self._callers.items()}
        self.computations = {*self._foldings, *(place.computation for place in self._opened)}
        """Computations with changes, and their callers."""

    def instruction(self, place: Place) -> Instruction:
        """Return the instruction at a place of this module."""
        return self.module.by_name[place.computation].by_name[place.instruction]

    def folding(self, computation: str) -> Folding:
        """Return the folding of a computation."""
        return self._foldings.get(computation) or self._fold(computation, ())

    def folding_without(self, computation: str, keep: Collection[str]) -> Folding:
        """Return the folding of a computation in which the named instructions have boxes."""
        return _default_folding(self.module.by_name[computation]).keeping(keep)

    def _fold(self, computation: str, keep: Collection[str]) -> Folding:
        folding = self._foldings[computation] = self.folding_without(computation, keep)
        return folding

    def caller(self, computation: str) -> Place | None:
        """Return the only caller of a computation; None if there are several or none."""
        return next(iter(self._callers.get(computation, ())), None)

    def home(self, place: Place) -> str:
        """Return the computation that a place belongs to, or opens; empty in the entry."""
        if place in self._opened:
            return self._opened[place]
        return "" if self.module.by_name[place.computation].is_entry else place.computation

    def neighbors(self, place: Place) -> Sequence[Place]:
        """Return the operands and users of an instruction, looking through folded ones."""
        known = self._neighbors.get(place)
        if known is None:
            known = self._neighbors[place] = [*self._find_neighbors(place)]
        return known

    def _find_neighbors(self, place: Place) -> Iterator[Place]:
        instance = Instance(self.folding(place.computation))
        for operand in self.instruction(place).operands:
            value = resolve(instance, operand)
            if value.producer is not None and not value.words:
                yield Place(place.computation, value.producer.name)
        waiting = [place.instruction]
        while waiting:
            for user in instance.computation.users.get(waiting.pop(), ()):
                if not instance.folding.is_folded(user.name):
                    yield Place(place.computation, user.name)
                elif user is not instance.computation.root:
                    waiting.append(user.name)


@lru_cache(maxsize=64)
def _default_folding(computation: Computation) -> Folding:
    """Return the default folding; cached, as the next step begins with it."""
    return Folding(computation, inputs=computation.is_entry)


def _by_computation(module: HloModule, states: Mapping[Place, State]) -> dict[str, list[str]]:
    """Return the names of changed instructions of this side by computation, in module order."""
    result: dict[str, set[str]] = {}
    for place in states:
        result.setdefault(place.computation, set()).add(place.instruction)
    return {
        computation.name: [
            instruction.name
            for instruction in computation.instructions
            if instruction.name in marked
        ]
        for computation in module.computations
        if (marked := result.get(computation.name))
    }


def _worth_a_box(computation: Computation, marked: list[str]) -> set[str]:
    """Return changed instructions that get a box although they would be folded otherwise."""
    among = set(marked)
    result = _TOLD_BY_USERS if computation.is_entry else _TOLD_BY_USERS | {"parameter"}
    return {
        name
        for name in marked
        if computation.by_name[name].opcode not in result
        or not any(user.name in among for user in computation.users.get(name, ()))
    }


def _callers(module: HloModule, wanted: Collection[str]) -> dict[str, list[Place]]:
    """Return who calls a computation that can be in its caller's place, where it is just one."""
    result: dict[str, list[Place]] = {}
    if all(module.by_name[name].is_entry for name in wanted):
        return result
    for computation in module.computations:
        calling = dict.fromkeys(call.instruction for call in facts_of(computation).calls)
        for instruction in calling:
            inner = opens_into(module, instruction)
            if inner is not None and inner.name in wanted:
                result.setdefault(inner.name, []).append(Place(computation.name, instruction.name))
    return {name: places for name, places in result.items() if len(places) == 1}
