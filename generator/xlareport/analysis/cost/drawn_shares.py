"""Random numbers that every device generates as a whole, of which it uses a share."""

from collections.abc import Mapping

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import without_layout

_DRAWING = "rng-bit-generator"
_RENAMES = frozenset({"bitcast", "copy", "get-tuple-element"})
_DEEPEST = 16
"""Renames and fusions that are followed."""


def find_drawn_shares(module: HloModule) -> Mapping[str, str]:
    """Return the shape of the slice that alone uses the numbers of a generator, by generator."""
    found_shares: dict[str, str] = {}
    for computation in module.computations:
        for drawing in computation.instructions:
            if drawing.opcode == _DRAWING:
                slices = _slices(module, computation, drawing, 0)
                shapes = {without_layout(line.shape.text) for line in slices or ()}
                if len(shapes) == 1:
                    found_shares[drawing.name] = shapes.pop()
    return found_shares


def _slices(
    module: HloModule, computation: Computation, value: Instruction, depth: int
) -> list[Instruction] | None:
    """Return the dynamic slices that use a value; None if anything else does."""
    if depth > _DEEPEST or (value.is_root and depth):
        return None
    result: list[Instruction] = []
    for user in computation.users.get(value.name, ()):
        if user.opcode == "dynamic-slice":
            result.append(user)
            continue
        if user.opcode in _RENAMES:
            if user.opcode == "get-tuple-element" and user.attributes.get("index") == "0":
                continue  # the state, not the numbers
            further = _slices(module, computation, user, depth + 1)
        elif user.opcode == "fusion" and user.called:
            further = _in_fusion(module, user, value, depth)
        else:
            further = None
        if further is None:
            return None
        result += further
    return result


def _in_fusion(
    module: HloModule, fusion: Instruction, value: Instruction, depth: int
) -> list[Instruction] | None:
    body = module.by_name.get(fusion.called[0][1])
    if body is None:
        return None
    result: list[Instruction] = []
    for number, name in enumerate(fusion.operand_names):
        if name == value.name:
            further = _slices(module, body, body.parameters[number], depth + 1)
            if further is None:
                return None
            result += further
    return result
