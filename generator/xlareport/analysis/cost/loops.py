"""Trip counts of while loops: from the compiler's own note, else from condition, start and step."""

import re
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

from msgspec import Struct, field

from xlareport.analysis.cost.symbolic import (
    Affine,
    CallFrame,
    Conjunction,
    Evaluator,
    IntegerComparison,
    Value,
    element,
)
from xlareport.hlo.model import Computation, HloModule, Instruction

_COLON = r'\\?"[ \t]*+:[ \t]*+'
_NOTED = re.compile(rf'known_trip_count{_COLON}\{{[ \t]*+\\?"n{_COLON}(?:\\?")?(\d{{1,18}})\b')
_INTEGERS = frozenset({"s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"})
_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}
_DEEPEST_NESTING = 30
_COMPARED = 2
"""Operands of a comparison; a drawing writes those that are constants into the node."""
_NOTHING: Mapping[tuple[int, ...], int] = MappingProxyType({})


class TripCount(Struct, frozen=True):
    """How often the body of a loop runs, and how that is known."""

    count: int | None
    """None if unknown."""
    grade: str
    """`exact` where the count is certain; `guessed` where it is not known."""
    reason: str
    """A sentence for users."""
    most: int | None = None
    """An upper bound of an unknown count; None without one."""


def stated_trip_count(loop: Instruction) -> int | None:
    """Return the trip count in the backend config of a while; None where it states none."""
    noted = _NOTED.search(loop.attributes.get("backend_config", ""))
    return int(noted[1]) if noted else None


def unevaluated_conditions(module: HloModule) -> frozenset[str]:
    """Return the names of the conditions of loops whose trip count the compiler states.

    XLA:GPU runs the bodies of such loops that often, without evaluating the condition.
    """
    conditions = (
        module.callee(line, "condition")
        for _, line in module.placed
        if line.opcode == "while" and stated_trip_count(line) is not None
    )
    return frozenset(condition.name for condition in conditions if condition)


class Loops(Struct, frozen=True, dict=True):
    """The loops of one module."""

    module: HloModule
    known: dict[tuple[str, str], TripCount] = field(default_factory=dict)
    """Counts found so far, by computation and instruction."""

    def trip_count(self, place: Computation, loop: Instruction) -> TripCount:
        """Return the trip count of a while that is in a computation."""
        key = (place.name, loop.name)
        if key not in self.known:
            noted = stated_trip_count(loop)
            self.known[key] = self.counted(place, loop) if noted is None else _noted(noted)
        return self.known[key]

    def counted(self, place: Computation, loop: Instruction) -> TripCount:
        """Return the trip count from condition, start and step, ignoring annotations."""
        constants = self._constants(place, loop)
        condition = self._state(loop, "condition", constants)
        body = self._state(loop, "body", constants)
        if condition is None or body is None:
            return _unknown("The condition or the body is not in this module.")
        compared = condition.root()
        if isinstance(compared, Conjunction):
            return self._limited(place, loop, body, compared)
        if not isinstance(compared, IntegerComparison):
            return _unknown(_not_compared(condition.computation))
        return self._compared(place, loop, body, compared)

    def _compared(
        self, place: Computation, loop: Instruction, body: CallFrame, compared: IntegerComparison
    ) -> TripCount:
        for test in (compared, _mirror(compared)):
            if test.left.path is not None and test.right.path is None:
                return self._progress(body, test, self._start(place, loop, test.left.path))
        return _unknown("The bound in the condition is not a constant.")

    def _limited(
        self, place: Computation, loop: Instruction, body: CallFrame, tests: Conjunction
    ) -> TripCount:
        """Return the limit of a loop that ends earlier if another test says so."""
        trip_counts = (self._compared(place, loop, body, test) for test in tests.comparisons)
        counts = [trips.count for trips in trip_counts if trips.count is not None]
        also = "the condition also tests what is not a loop counter."
        if not counts:
            return _unknown(also.capitalize())
        most = min(counts)
        return TripCount(None, "guessed", f"At most {most:,}: {also}", most)

    def _progress(self, body: CallFrame, test: IntegerComparison, start: int | None) -> TripCount:
        path, bound = test.left.path or (), test.right.offset
        after = body.root(path)
        if not isinstance(after, Affine) or after.path != path or not after.offset:
            return _unknown("The step of the loop counter is not a constant.")
        if start is None:
            return _unknown("The start of the loop counter is not a constant.")
        count = find_trip_counts(start + test.left.offset, after.offset, test.direction, bound)
        if count is None:
            return _unknown("The loop counter does not run towards its bound.")
        what = f"init {start}, step {after.offset}, {test.direction} {bound}"
        return TripCount(count, "exact", f"Inferred from the loop condition: {what}.")

    def _constants(self, place: Computation, loop: Instruction) -> Mapping[tuple[int, ...], int]:
        """Return the integers of the state that never change and start as a constant."""
        body = self._state(loop, "body")
        constants: dict[tuple[int, ...], int] = {}
        for number, shape in enumerate(loop.shape.elements):
            path = (number,)
            if shape.element_type not in _INTEGERS or shape.dimensions or body is None:
                continue
            start = self._start(place, loop, path) if body.root(path) == Affine(path) else None
            if start is not None:
                constants[path] = start
        return constants

    def _start(self, place: Computation, loop: Instruction, path: tuple[int, ...]) -> int | None:
        """Return the initial value of an element of a loop's state.

        Values are followed outward through the enclosing loops and calls.
        """
        operand, caller = 0, loop
        for _ in range(_DEEPEST_NESTING):
            value = self._passed(place, caller, operand, path)
            if not isinstance(value, Affine):
                return None
            if value.path is None:
                return value.offset
            outer = self._callers.get(place.name)
            if outer is None or value.offset:
                return None
            place, caller = outer
            operand, path = value.path[0], value.path[1:]
            if caller.opcode == "while" and not self._keeps(caller, path):
                return None
        return None

    def _passed(
        self, place: Computation, caller: Instruction, operand: int, path: tuple[int, ...]
    ) -> Value:
        """Return the value that a caller passes: a number or an element of its own parameters."""
        if operand >= len(caller.operands):
            return None
        parameters: dict[int, Value] = {
            number: Affine((number,)) for number in range(len(place.parameters))
        }
        frame = CallFrame(Evaluator(self.module, _NOTHING), place, parameters)
        return element(frame.value(caller.operands[operand]), path)

    def _keeps(self, loop: Instruction, path: tuple[int, ...]) -> bool:
        body = self._state(loop, "body")
        return body is not None and body.root(path) == Affine(path)

    def _state(
        self,
        loop: Instruction,
        attribute: str,
        constants: Mapping[tuple[int, ...], int] = _NOTHING,
    ) -> CallFrame | None:
        """Return the body or condition with its parameter standing for the loop's state."""
        name = loop.attributes.get(attribute, "").lstrip("%")
        computation = self.module.by_name.get(name)
        evaluator = Evaluator(self.module, constants)
        return CallFrame(evaluator, computation, {0: Affine(())}) if computation else None

    @cached_property
    def _callers(self) -> Mapping[str, tuple[Computation, Instruction]]:
        """Return the loop or call that runs a computation, for those that only one runs."""
        sole = self.module.sole_calls(lambda call: call.role != "condition")
        return {name: held for name, held in sole.items() if held[1].opcode in ("while", "call")}


def _not_compared(condition: Computation) -> str:
    root = condition.root
    if root is not None and root.opcode == "compare" and len(root.operands) < _COMPARED:
        return "The drawing of the condition omits its constants."
    return "The condition is not a comparison of two integers."


def find_trip_counts(start: int, step: int, direction: str, bound: int) -> int | None:
    """Count the iterations of `for (i = start; i DIRECTION bound; i += step)`; None if endless."""
    if step < 0:
        if direction not in ("GT", "GE", "NE"):
            return None
        start, step, bound = -start, -step, -bound
        direction = _MIRRORED[direction]
    distance = bound - start
    match direction:
        case "LT":
            return max(0, -(-distance // step))
        case "LE":
            return max(0, distance // step + 1)
        case "NE" if distance >= 0 and distance % step == 0:
            return distance // step
    return None


def _mirror(test: IntegerComparison) -> IntegerComparison:
    return IntegerComparison(test.right, _MIRRORED.get(test.direction, ""), test.left)


def _noted(count: int) -> TripCount:
    return TripCount(count, "exact", "From backend_config known_trip_count.")


def _unknown(reason: str) -> TripCount:
    return TripCount(None, "guessed", reason)
