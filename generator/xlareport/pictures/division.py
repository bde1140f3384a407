"""A computation too large for one picture, divided into parts that make sense by themselves.

First by the framework's scopes; scopes alike but for their numbers become one part, `h_0 … h_11`;
what no scope holds is divided by its data flow (an optimiser updates each weight by itself), and
what is still too much by its place in the file.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xlareport.hlo.model import HloModule, Instruction
from xlareport.pictures.flow import FlowDivider
from xlareport.pictures.folding import Folding
from xlareport.pictures.parts import MOST_THINGS, InstructionGroup, InstructionGrouper, Thing
from xlareport.pictures.shade import scope_of, stem

_FEW_THINGS = 12
"""Boxes up to which nothing needs to be put together."""

_FEWEST_SCOPES = 4
"""Scopes alike that are put into one box."""

_LANDMARKS = frozenset({"while", "conditional"})
"""What a reader looks for: a box for each, unless they are many."""

_SMALLEST_SCOPE = 3
"""Instructions that make a scope worth a box."""


@dataclass(slots=True)
class _Scope:
    """A scope as the paths give it."""

    inner: "dict[str, _Scope]" = field(default_factory=dict)
    own: list[Instruction] = field(default_factory=list)


def divide(module: HloModule, folding: Folding) -> InstructionGroup:
    """Divide what is drawn of a computation."""
    whole = _Scope()
    for instruction in folding.computation.instructions:
        if not folding.is_folded(instruction.name):
            _scope_at(whole, scope_of(instruction)).own.append(instruction)
    name = folding.computation.name
    return _ScopeDivider(module, folding).part(whole, name, name)


def _scope_at(whole: _Scope, path: Iterable[str]) -> _Scope:
    for word in path:
        whole = whole.inner.setdefault(word, _Scope())
    return whole


class _ScopeDivider:
    """Makes parts of scopes."""

    def __init__(self, module: HloModule, folding: Folding) -> None:
        self._maker = InstructionGrouper(folding.computation)
        self._flow = FlowDivider(module, folding, self._maker)

    def part(self, scope: _Scope, title: str, path: str) -> InstructionGroup:
        """Make the part of a scope; scopes that hold nothing but one other become one with it."""
        while len(scope.inner) == 1 and not scope.own:
            [(word, scope)] = scope.inner.items()
            title, path = f"{title}/{word}", f"{path}/{word}"
        own, parts = list(scope.own), []
        for word, inner in scope.inner.items():
            part = self.part(inner, word, f"{path}/{word}")
            if part.size < _SMALLEST_SCOPE:
                own += part.instructions()
            else:
                parts.append(part)
        own.sort(key=self._maker.place)
        things = self._alike(parts, path)
        return self._maker.make("scope", title, path, [*things, *self._own(own, len(things), path)])

    def _own(self, own: Sequence[Instruction], others: int, path: str) -> Sequence[Thing]:
        """Put together what a scope itself holds, where it is too much."""
        if len(own) + others <= _FEW_THINGS:
            return own
        crowded = len(own) + others > MOST_THINGS
        landmarks = [instruction for instruction in own if instruction.opcode in _LANDMARKS]
        if len(landmarks) > _FEW_THINGS:
            return self._flow.divide(own, path, crowded=crowded)
        rest = [instruction for instruction in own if instruction.opcode not in _LANDMARKS]
        return [*landmarks, *self._flow.divide(rest, path, crowded=crowded)]

    def _alike(self, parts: Sequence[InstructionGroup], path: str) -> list[InstructionGroup]:
        """Put scopes alike but for their numbers into one part."""
        families: dict[str, list[InstructionGroup]] = {}
        for part in parts:
            families.setdefault(stem(part.title), []).append(part)
        groups: list[InstructionGroup] = []
        for name, members in families.items():
            if len(members) < _FEWEST_SCOPES:
                groups += members
                continue
            members.sort(key=self._maker.place)
            title = f"{members[0].title} … {members[-1].title}"
            groups.append(self._maker.make("alike", title, f"{path}/{name}", members))
        return groups
