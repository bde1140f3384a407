"""Finds the value that a copy copies, and the program argument that a loop carries."""

from collections.abc import Collection

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.graphs import reachable

_ALIKE = frozenset({"bitcast", "copy", "copy-done", "copy-start"})
_DEEPEST = 32
"""Loops that are followed."""


def copy_path(
    computation: Computation, value: Instruction | None, passed: Collection[str] = _ALIKE
) -> list[Instruction]:
    """Return a value and what it is a copy of, one after another; empty for None.

    `passed` are the opcodes that copy their first operand.
    """

    def source(copy: Instruction) -> list[Instruction]:
        operand = computation.operand(copy) if copy.opcode in passed else None
        return [operand] if operand is not None else []

    return [*reachable([value] if value else [], source)]


def name_argument(module: HloModule, computation: Computation, name: str) -> str:
    """Return the framework's name of the argument that a value is: `params['w1']`; empty if none.

    Looks through copies and into the initial state of loops, whose body leaves it as it is where
    the value is read.
    """
    place: Computation | None = computation
    value = computation.by_name.get(name)
    for _ in range(_DEEPEST):
        if place is None or value is None:
            return ""
        original = _joined_parts(place, copy_path(place, value)[-1])
        if original.opcode == "parameter" and place.is_entry:
            return original.metadata.op_name
        if original.opcode != "get-tuple-element" or not original.operand_names:
            return ""
        place, value = _element(module, place, original)
    return ""


def _joined_parts(computation: Computation, value: Instruction) -> Instruction:
    """Return the array whose parts a TPU joins after asynchronous slices; others as they are."""
    if value.call_target != "ConcatBitcast":
        return value
    starts = [
        computation.operand(part)
        for part in computation.operands(value)
        if part is not None and part.opcode == "async-done"
    ]
    sources = [computation.operand(start) for start in starts if start is not None]
    source = sources[0] if len({*map(id, sources)}) == 1 else None
    is_whole = source is not None and len(sources) == len(value.operand_names)
    if source is None or not is_whole or source.shape.dimensions != value.shape.dimensions:
        return value
    return source


def _element(
    module: HloModule, place: Computation, element: Instruction
) -> tuple[Computation | None, Instruction | None]:
    """Return the initial value of an element of a loop's state, and where it is."""
    number = element.taken_element
    state = place.operand(element)
    if number is None or state is None or state.opcode != "parameter":
        return None, None
    for role, home, loop in module.calls.get(place.name, ()):
        if loop.opcode == "while" and role == "body":
            given = home.operand(loop)
            is_tuple = given is not None and given.opcode == "tuple"
            return home, home.operand(given, number) if given and is_tuple else None
    return None, None
