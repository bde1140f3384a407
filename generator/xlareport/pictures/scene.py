"""The computations that are in one picture, and where in it a value comes from."""

from typing import NamedTuple

from msgspec import Struct, field

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.pictures.boxless_instructions import Folding
from xlareport.runtime.whole_numbers import parse_whole_number

_LONGEST_WAY = 1000
"""Hops from a use to its box; a text that sends us round in circles ends there."""

_OPENED_BY = {"fusion": "calls", "call": "to_apply", "async-start": "calls", "while": "body"}
"""Instructions whose computation can be in their place, and the attribute that names it."""


class Instance(Struct, eq=False):
    """A computation in a picture: by itself, or in place of its caller."""

    folding: Folding
    caller: Instruction | None = None
    outer: "Instance | None" = None
    opened: dict[str, "Instance"] = field(default_factory=dict)
    """The instances that replace calling instructions, by their names."""
    places: dict[str, str] = field(default_factory=dict)
    """The box of each instruction, by name."""

    @property
    def computation(self) -> Computation:
        """The computation that it is an instance of."""
        return self.folding.computation

    def drawn(self) -> list[Instruction]:
        """Return the instructions that are not folded, in order."""
        folding = self.folding
        return [
            instruction
            for instruction in self.computation.instructions
            if not folding.is_folded(instruction.name)
        ]


class Value(NamedTuple):
    """The source of an operand: a box, words for a folded one, or outside of the picture."""

    box: str | None
    words: str
    producer: Instruction | None
    element: str
    """Which element of a tuple: `1`, or `1#0` of a tuple in it; empty for the whole."""


def opens_into(module: HloModule, instruction: Instruction) -> Computation | None:
    """Return the computation that can replace an instruction."""
    wanted = _OPENED_BY.get(instruction.opcode)
    if wanted is None:
        return None
    names = [name for attribute, name in instruction.called if attribute == wanted]
    return module.by_name.get(names[0]) if names else None


def open_caller(instance: Instance, caller: Instruction, computation: Computation) -> Instance:
    """Let a computation replace the instruction that calls it."""
    inner = Instance(Folding(computation, inputs=False), caller, instance)
    instance.opened[caller.name] = inner
    return inner


def resolve(instance: Instance, operand: str) -> Value:
    """Follow an operand through elements of tuples and opened computations to its box."""
    name, _, element = operand.partition("#")
    for _ in range(_LONGEST_WAY):
        step = _hop(instance, name, element)
        if isinstance(step, Value):
            return step
        instance, name, element = step
    return Value(None, "a value that only names itself", None, "")


def _hop(instance: Instance, name: str, element: str) -> Value | tuple[Instance, str, str]:
    folding = instance.folding
    if name in instance.opened:
        return _into(instance.opened[name], element)
    if name in folding.elements:
        inner, _, index = folding.elements[name].partition("#")
        return instance, inner, f"{index}#{element}" if element else index
    producer = folding.computation.by_name.get(name)
    if name not in folding.words:
        return Value(instance.places.get(name), "", producer, element)
    outside = _operand_of_caller(instance, producer)
    if outside is not None and instance.outer is not None:
        text, _, index = outside.partition("#")
        return instance.outer, text, "#".join(text for text in (index, element) if text)
    words = folding.words[name]
    return Value(None, f"element {element} of {words}" if element else words, producer, element)


def _into(inner: Instance, element: str) -> tuple[Instance, str, str]:
    """Return the source of an opened caller's result: instance, instruction, element of a tuple.

    It is the root, or where the picture leaves out a root tuple, the operand for this element.
    """
    root = inner.computation.root
    if root is None:
        return inner, "", element
    first, _, rest = element.partition("#")
    index = parse_whole_number(first)
    if inner.folding.outputs and index is not None and index < len(root.operands):
        text, _, own = root.operands[index].partition("#")
        return inner, text, "#".join(text for text in (own, rest) if text)
    return inner, root.name, element


def _operand_of_caller(instance: Instance, parameter: Instruction | None) -> str | None:
    """Return the operand that the caller passes for a parameter."""
    if instance.caller is None or parameter is None or parameter.opcode != "parameter":
        return None
    operands = instance.caller.operands
    number = parse_whole_number(parameter.argument)
    return operands[number] if number is not None and number < len(operands) else None
