"""Instructions without a box: constants, broadcast scalars, parameters, tuple elements.

As in XLA's own drawings, they are named in the boxes of their users (`operand 1 = constant 3`). XLA
folds fewer parameters; here a parameter has a box only if sharing it is worth an arrow.
"""

from collections.abc import Collection, Iterator
from copy import copy
from functools import lru_cache

from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shape import Shape
from xlareport.pictures.metrics import shorten
from xlareport.pictures.style_values import folding_rules
from xlareport.runtime.graphs import reachable

_LONGEST_LITERAL = 12
_LONGEST_SHAPE = 22
_MOST_SHARED = 4
"""An input with more users is folded again: its arrows would cover the picture."""

_FEWEST_OUTPUTS = 4
"""A root tuple of so many is folded: what makes its elements is marked instead."""

_SPREADING = folding_rules().spreading
_FOLDED = {"constant", "get-tuple-element", "parameter", *_SPREADING}
"""Opcodes of what may have no box, apart from the root."""


class Folding:
    """The folded instructions of one computation.

    `keep` names instructions that get a box in any case; without `inputs` no other parameter does.
    """

    def __init__(
        self, computation: Computation, keep: Collection[str] = (), *, inputs: bool = True
    ) -> None:
        self.computation = computation
        self.words: dict[str, str] = {}
        """The words for a folded instruction in the boxes of its users; without tuple elements."""
        self.elements: dict[str, str] = {}
        """A folded get-tuple-element and the operand it takes, as `while.6#1`."""
        self.outputs: dict[str, list[int]] = {}
        """If the root tuple is folded: its operands, and their indices."""
        self._root = computation.root
        self._inputs = inputs
        for instruction in computation.instructions:
            if instruction.opcode in _FOLDED or instruction is self._root:
                self._fold(instruction)
        self.keep(keep)

    def keeping(self, names: Collection[str]) -> "Folding":
        """Return the same, but that instructions of these names get a box in any case."""
        other = copy(self)
        other.words, other.elements = {**self.words}, {**self.elements}
        other.keep(names)
        return other

    def is_folded(self, name: str) -> bool:
        """Whether the instruction has no box."""
        if name in self.words or name in self.elements:
            return True
        return bool(self.outputs) and self._root is not None and name == self._root.name

    def keep(self, names: Collection[str]) -> None:
        """Give instructions of these names a box."""
        for name in names:
            self.elements.pop(name, None)
            self._unfold(name)
        if self._root is not None and self._root.name in names:
            self.outputs = {}

    def _unfold(self, name: str) -> None:
        """Give an instruction a box, and with it what only spreads it or reads it otherwise."""
        if name not in self.words:
            return

        def spread(name: str) -> Iterator[str]:
            users = self.computation.users.get(name, ()) if name in self.words else ()
            return (user.name for user in users if user.opcode in _SPREADING)

        for unfolded in [*reachable([name], spread)]:
            self.words.pop(unfolded, None)

    def _fold(self, instruction: Instruction) -> None:
        if instruction is self._root:
            self._fold_root(instruction)
        elif instruction.opcode == "constant":
            self.words[instruction.name] = constant_words(instruction)
        elif instruction.opcode == "parameter":
            self._fold_parameter(instruction)
        elif instruction.opcode == "get-tuple-element" and instruction.operands:
            self.elements[instruction.name] = (
                f"{instruction.operands[0]}#{instruction.attributes.get('index', '')}"
            )
        elif instruction.opcode in _SPREADING and len(instruction.operands) == 1:
            self._fold_spread(instruction)

    def _fold_root(self, root: Instruction) -> None:
        if root.opcode != "tuple" or len(root.operands) < _FEWEST_OUTPUTS:
            return
        for number, operand in enumerate(root.operands):
            self.outputs.setdefault(operand, []).append(number)

    def _fold_parameter(self, instruction: Instruction) -> None:
        users = len(self.computation.users.get(instruction.name, ()))
        shared = 1 < users <= _MOST_SHARED and instruction.shape.element_count != 1
        if not (self._inputs and shared):
            self.words[instruction.name] = parameter_words(instruction)

    def _fold_spread(self, instruction: Instruction) -> None:
        """Fold a constant that is only spread or read in another shape."""
        made_of = self.computation.operand(instruction)
        if made_of is not None and made_of.opcode != "parameter" and made_of.name in self.words:
            self.words[instruction.name] = self.words[made_of.name]


def constant_words(instruction: Instruction) -> str:
    """Return `constant 3`, or its shape where the literal is long."""
    if 0 < len(instruction.argument) <= _LONGEST_LITERAL:
        return f"constant {instruction.argument}"
    return f"constant {shape_words(instruction)}"


def parameter_words(instruction: Instruction) -> str:
    """Return `parameter 3 f32[64,128]`."""
    return f"parameter {instruction.argument} {shape_words(instruction)}"


def shape_words(instruction: Instruction) -> str:
    """Return the shape without layouts, short enough for a line with other words."""
    return short_shape(instruction.shape, _LONGEST_SHAPE)


@lru_cache(maxsize=1 << 13)
def short_shape(shape: Shape, columns: int) -> str:
    """Return a shape without layouts in at most so many columns."""
    elements = shape.elements
    if not elements:
        return shorten(shape.text.partition("{")[0], columns)
    inner = ", ".join(element.text.partition("{")[0] for element in elements[:3])
    return shorten(f"({inner}, … {len(elements)})" if len(elements) > 3 else f"({inner})", columns)
