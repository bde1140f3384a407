"""Names for values as a program has them: an argument that was only converted or rearranged."""

from msgspec import Struct

from xlareport.analysis.source.argument_names import name_arguments
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS

_REARRANGED = REARRANGEMENTS | {"convert", "copy-done"}
_SLICES = frozenset({"dynamic-slice", "slice"})
_BARRIER = "opt-barrier"
_FARTHEST = 40


class ProgramArgument(Struct, frozen=True):
    """The argument that a value is, apart from type and form."""

    parameter: Instruction
    """Of the entry."""
    is_slice: bool
    """Whether the value is only a part of it, such as the weights of one layer of a scan."""


def describe_value(module: HloModule, home: Computation, value: Instruction) -> str:
    """Return a value in words: an argument with its type, `p['embed']` (bf16), else its name.

    Names are in backticks. The type is written where the value was converted from another one.
    """
    argument = find_argument(module, home, value)
    name = name_arguments(module).get(argument.parameter.name, "") if argument else ""
    if argument is None or not name or "`" in name:
        return f"`{value.name}`"
    element_type, written = value.shape.element_type, argument.parameter.shape.element_type
    part = "a slice of " if argument.is_slice else ""
    return f"{part}`{name}`" + (f" ({element_type})" if element_type != written else "")


def find_argument(
    module: HloModule, home: Computation, value: Instruction
) -> ProgramArgument | None:
    """Return the argument that a value is: through barriers, and into what loops only read."""
    is_slice = False
    place: tuple[Computation, Instruction] | None = (home, value)
    for _ in range(_FARTHEST):
        if place is None:
            return None
        home, value = place
        if value.opcode == "parameter" and home.is_entry:
            return ProgramArgument(value, is_slice)
        is_slice |= value.opcode in _SLICES
        place = _before(module, home, value)
    return None


def _before(
    module: HloModule, home: Computation, value: Instruction
) -> tuple[Computation, Instruction] | None:
    """Return the value from which a rearrangement, slice, barrier or tuple takes this one."""
    operand = home.operand(value)
    if value.opcode in _REARRANGED | _SLICES | {_BARRIER}:
        return (home, operand) if operand is not None else None
    number = value.taken_element
    if value.opcode != "get-tuple-element" or operand is None or number is None:
        return None
    if operand.opcode == _BARRIER:
        given = home.operand(operand)
        return _state_element(home, given, number)
    if operand.opcode == "parameter" and _is_kept(home, operand, number):
        outer, loop = module.only_loops.get(home.name) or (home, None)
        return _state_element(outer, outer.operand(loop), number) if loop is not None else None
    return None


def _state_element(
    home: Computation, state: Instruction | None, number: int
) -> tuple[Computation, Instruction] | None:
    is_tuple = state is not None and state.opcode == "tuple"
    value = home.operand(state, number) if is_tuple and state is not None else None
    return (home, value) if value is not None else None


def _is_kept(body: Computation, state: Instruction, number: int) -> bool:
    """Return whether the body of a loop hands an element of its state on as it is."""
    element = _state_element(body, body.root, number)
    if element is None or element[1].opcode != "get-tuple-element":
        return False
    index = element[1].taken_element
    return body.operand(element[1]) is state and index == number
