"""Integers of a loop, followed through copies, tuples, fusions and calls without running them."""

from collections.abc import Mapping
from itertools import chain

from msgspec import Struct, field

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.whole_numbers import parse_whole_number

_TRANSPARENT = frozenset({"copy", "bitcast", "reshape", "convert", "broadcast", "opt-barrier"})
_CALLS = {"fusion": "calls", "call": "to_apply"}
_MOST_STEPS = 20_000
_DEEPEST = 60
_MOST_DIGITS = 19


class Affine(Struct, frozen=True):
    """An integer: an element of the loop's state plus a number, or a number alone."""

    path: tuple[int, ...] | None
    """Where the element is in the state; None for a number alone."""
    offset: int = 0


class IntegerComparison(Struct, frozen=True):
    """A comparison of two integers, as in `compare(a, b), direction=LT`."""

    left: Affine
    direction: str
    right: Affine


class Conjunction(Struct, frozen=True):
    """Comparisons of which all have to be true, among other tests."""

    comparisons: tuple[IntegerComparison, ...]


class Tuple(Struct, frozen=True):
    """A tuple whose elements are evaluated on access."""

    frame: "CallFrame"
    operands: tuple[str, ...]


Value = Affine | IntegerComparison | Conjunction | Tuple | None
"""A symbolic value; None if it is unknown."""


class Evaluator(Struct):
    """Follows values in one module; gives up, with None, after a bounded number of steps."""

    module: HloModule
    constants: Mapping[tuple[int, ...], int]
    """Elements of the state that are the same number in every iteration."""
    steps: int = 0

    def exhausted(self) -> bool:
        """Count a step and say whether there were too many."""
        self.steps += 1
        return self.steps > _MOST_STEPS


class CallFrame(Struct, frozen=True):
    """A computation with the values of its parameters."""

    evaluator: Evaluator
    computation: Computation
    parameters: Mapping[int, Value]
    depth: int = 0
    known: dict[str, Value] = field(default_factory=dict)

    def root(self, path: tuple[int, ...] = ()) -> Value:
        """Return the value of the root, or of one of its elements."""
        root = self.computation.root
        return element(self.value(root.name), path) if root is not None else None

    def value(self, operand: str) -> Value:
        """Return the value of an operand such as `add.3` or `while.6#1`."""
        name, *path = operand.split("#")
        if name not in self.known:
            self.known[name] = None
            self.known[name] = self._follow(self.computation.by_name.get(name))
        numbers = [parse_whole_number(text) for text in path]
        steps = tuple(number for number in numbers if number is not None)
        written = element(self.known[name], steps) if len(steps) == len(path) else None
        return self._with_constants(written)

    def _with_constants(self, value: Value) -> Value:
        if not isinstance(value, Affine) or value.path is None:
            return value
        constant = self.evaluator.constants.get(value.path)
        return value if constant is None else Affine(None, constant + value.offset)

    def _follow(self, instruction: Instruction | None) -> Value:
        if instruction is None or self.depth > _DEEPEST or self.evaluator.exhausted():
            return None
        opcode = instruction.opcode
        if opcode == "parameter":
            number = _integer(instruction.argument)
            return self.parameters.get(number) if number is not None else None
        if opcode == "constant":
            number = _integer(instruction.argument)
            return Affine(None, number) if number is not None else None
        if opcode == "tuple":
            return Tuple(self, instruction.operands)
        return self._computed(instruction)

    def _computed(self, instruction: Instruction) -> Value:
        opcode, deeper = instruction.opcode, self._deeper()
        values = [deeper.value(operand) for operand in instruction.operands]
        if opcode in _TRANSPARENT and len(values) == 1:
            return values[0]
        if opcode == "get-tuple-element" and len(values) == 1:
            index = instruction.taken_element
            return element(values[0], (index,)) if index is not None else None
        if opcode in _CALLS:
            return self._called(instruction, values)
        if len(values) == 2:
            return _combined(instruction, values[0], values[1])
        return None

    def _called(self, instruction: Instruction, values: list[Value]) -> Value:
        name = instruction.attributes.get(_CALLS[instruction.opcode], "").lstrip("%")
        computation = self.evaluator.module.by_name.get(name)
        if computation is None:
            return None
        inside = CallFrame(self.evaluator, computation, dict(enumerate(values)), self.depth + 1)
        return inside.root()

    def _deeper(self) -> "CallFrame":
        """Return this frame one level down: the depth of the recursion is bounded."""
        return CallFrame(
            self.evaluator, self.computation, self.parameters, self.depth + 1, self.known
        )


def element(value: Value, path: tuple[int, ...]) -> Value:
    """Return an element of a tuple or of the loop's state."""
    for number, step in enumerate(path):
        if isinstance(value, Affine):
            whole = value.path is not None and not value.offset
            return Affine((*(value.path or ()), *path[number:])) if whole else None
        if not isinstance(value, Tuple) or not 0 <= step < len(value.operands):
            return None
        value = value.frame.value(value.operands[step])
    return value


def _conjunction(*values: Value) -> Conjunction | None:
    """Return the comparisons of a logical and; None if it has none."""
    tests = [value for value in values if isinstance(value, IntegerComparison)]
    inner = [value.comparisons for value in values if isinstance(value, Conjunction)]
    comparisons = (*tests, *chain.from_iterable(inner))
    return Conjunction(comparisons) if comparisons else None


def _combined(instruction: Instruction, left: Value, right: Value) -> Value:
    if instruction.opcode == "and":
        return _conjunction(left, right)
    if not isinstance(left, Affine) or not isinstance(right, Affine):
        return None
    if instruction.opcode == "compare":
        return IntegerComparison(left, instruction.attributes.get("direction", ""), right)
    if instruction.opcode == "add" and (left.path is None or right.path is None):
        path = left.path if left.path is not None else right.path
        return Affine(path, left.offset + right.offset)
    if instruction.opcode == "subtract" and right.path is None:
        return Affine(left.path, left.offset - right.offset)
    return None


def _integer(text: str) -> int | None:
    digits = text.removeprefix("-")
    plain = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
    return int(text) if plain else None
