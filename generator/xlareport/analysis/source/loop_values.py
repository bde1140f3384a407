"""Values on their way through the state of loops: what reads them there, and what computed them."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.whole_numbers import parse_whole_number

_MOST_VALUES = 2_000
"""Limit on the values that are followed from one."""
_DEEPEST = 8
"""Of loops and of tuples in tuples."""
_ELEMENT = "get-tuple-element"

_Path = tuple[int, ...]
_Followed = tuple[Computation, str, _Path]
"""A value, or an element of a tuple, by its computation and name."""


class Reading(Struct, frozen=True):
    """An instruction that reads a value, behind tuples and loops."""

    computation: Computation
    instruction: Instruction
    operand: str
    """As written: the name by which it reads the value, or an element of a tuple, `while.6#1`."""


class _Operand(Struct, frozen=True):
    """An operand of an instruction, with the element of a tuple that it is."""

    number: int
    text: str
    element: _Path

    def inside(self, path: _Path) -> _Path | None:
        """Return where in it an element of the tuple is; None where it is another one."""
        element = self.element
        if element[: len(path)] == path:  # it is the whole value, or a part of it
            return ()
        return path[len(element) :] if path[: len(element)] == element else None


class LoopValues:
    """The values that loops of one module carry."""

    def __init__(self, module: HloModule) -> None:
        """Index the loops by the names of their bodies."""
        self._module = module
        self._operands: dict[Instruction, Mapping[str, Sequence[_Operand]]] = {}
        self._elements: dict[tuple[Computation, str], Mapping[int | None, Sequence[int]]] = {}
        """The users of a tuple, by place, under the element that they are; None for others."""
        self._loops = {
            body.name: (computation, instruction)
            for computation, instruction in module.placed
            if (body := self._body(instruction)) is not None
        }

    def _body(self, loop: Instruction) -> Computation | None:
        """Return the body of a loop; None of other instructions."""
        if loop.opcode != "while":
            return None
        return self._module.callee(loop, "body")

    def readers(self, computation: Computation, name: str) -> Iterator[Reading]:
        """Yield the readers of a value, through elements of tuples and into the bodies of loops."""
        waiting: deque[_Followed] = deque([(computation, name, ())])
        seen: set[tuple[str, str, _Path]] = set()
        while waiting and len(seen) < _MOST_VALUES:
            place, value, path = waiting.popleft()
            key = place.name, value, path
            if key in seen or len(path) > _DEEPEST:
                continue
            seen.add(key)
            for user, operand, inside in self._uses(place, value, path):
                passed = list(self._passed(place, user, operand, inside))
                waiting += passed
                if not passed and not inside:
                    yield Reading(place, user, operand.text)
            waiting += self._next(place, value, path)

    def _uses(
        self, place: Computation, value: str, path: _Path
    ) -> Iterator[tuple[Instruction, _Operand, _Path]]:
        """Yield the users of a value or its element, each with the operand and the path in that."""
        users = place.users.get(value, ())
        if path and len(users) > 1:
            elements = self._elements_of(place, value)
            numbers = sorted((*elements.get(path[0], ()), *elements.get(None, ())))
            users = tuple(users[number] for number in numbers)
        for user in users:
            for operand in self._operands_of(user).get(value, ()):
                inside = operand.inside(path)
                if inside is not None:
                    yield user, operand, inside

    def _elements_of(self, place: Computation, value: str) -> Mapping[int | None, Sequence[int]]:
        cached = self._elements.get((place, value))
        if cached is None:
            elements: dict[int | None, list[int]] = {}
            for number, user in enumerate(place.users[value]):
                element = user.taken_element if user.opcode == _ELEMENT else None
                elements.setdefault(element, []).append(number)
            cached = self._elements[place, value] = elements
        return cached

    def _operands_of(self, user: Instruction) -> Mapping[str, Sequence[_Operand]]:
        """Return the operands by the names of their values: all of a tuple, else distinct ones."""
        cached = self._operands.get(user)
        if cached is None:
            operands: dict[str, list[_Operand]] = {}
            texts = user.operands if user.opcode == "tuple" else dict.fromkeys(user.operands)
            for number, text in enumerate(texts):
                name, *element = text.split("#")
                path = tuple(parse_whole_number(index) or 0 for index in element)
                operands.setdefault(name, []).append(_Operand(number, text, path))
            cached = self._operands[user] = operands
        return cached

    def _passed(
        self, place: Computation, user: Instruction, operand: _Operand, path: _Path
    ) -> Iterator[_Followed]:
        """Yield the values in which a user passes on an operand or an element of it."""
        if user.opcode == "tuple":
            yield place, user.name, (operand.number, *path)
        elif user.opcode == _ELEMENT:
            if path and user.taken_element == path[0]:
                yield place, user.name, path[1:]
        elif user.opcode == "opt-barrier":
            yield place, user.name, path
        elif body := self._body(user):
            for parameter in body.parameters:
                yield body, parameter.name, path

    def _next(self, place: Computation, value: str, path: _Path) -> Iterator[_Followed]:
        """Yield the next iteration's state and the loop's result, if a body returns a value."""
        loop = self._loops.get(place.name)
        if loop is None or place.root is None or place.root.name != value:
            return
        for parameter in place.parameters:
            yield place, parameter.name, path
        yield loop[0], loop[1].name, path

    def makers(self, computation: Computation, name: str) -> Sequence[tuple[Computation, str]]:
        """Return what computes an element of a loop's result: in the body, and before the loop.

        Empty of other values.
        """
        element = computation.by_name.get(name)
        if element is None or element.opcode != _ELEMENT or not element.operand_names:
            return ()
        number, loop = element.taken_element, computation.operand(element)
        body = self._body(loop) if loop is not None else None
        if number is None or loop is None or body is None or body.root is None:
            return ()
        before = computation.operand(loop)
        sources = ((body, body.root), (computation, before))
        return tuple(
            (place, line.operand_names[number])
            for place, line in sources
            if line is not None and line.opcode == "tuple" and number < len(line.operand_names)
        )
