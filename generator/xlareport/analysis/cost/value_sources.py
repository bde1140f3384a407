"""Finds the instruction that computes a value, looking through data movement.

XLA names such instructions after their user, or not at all: an all-gather of a forward result for
the backward pass has an op_name of the backward pass.
"""

from collections.abc import Iterator

from xlareport.analysis.source.locations import fused_root, op_name_of
from xlareport.hlo.model import Computation, HloModule, Instruction

_PASSES_ON = frozenset(
    {"all-gather", "bitcast", "convert", "copy", "dynamic-slice", "get-tuple-element", "reshape"}
    | {"slice", "transpose", "all-gather-start", "all-gather-done", "copy-start", "copy-done"}
)
"""Opcodes that only move or convert their first operand, or a part of it."""
_INSIDE = _PASSES_ON | {"parameter", "constant", "tuple"}
_DEEPEST = 16


class ValueSources:
    """The instructions that compute the values of one module."""

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self._moving: dict[str, bool] = {}
        self.places: dict[str, tuple[Computation, Instruction]] = {
            instruction.name: (computation, instruction)
            for computation, instruction in module.placed
        }
        """Each instruction by name, with its computation."""

    def find(self, name: str) -> tuple[Computation, Instruction] | None:
        """Return the computation and instruction that compute a value; None for an unknown name.

        The search ends at the first instruction that computes, or after a limit of steps.
        """
        return next(reversed([*self.trail(name)]), None)

    def trail(self, name: str) -> Iterator[tuple[Computation, Instruction]]:
        """Yield an instruction and those that its value is moved from, as far as `find` looks."""
        place = self.places.get(name)
        for _ in range(_DEEPEST + 1):
            if place is None:
                return
            yield place
            computation, instruction = place
            operand = computation.by_name.get(self._passed_on(computation, instruction))
            place = (computation, operand) if operand is not None else None

    def op_name(self, instruction: Instruction) -> str:
        """Return the op_name of an instruction.

        Of a fusion that ends in moves without an op_name, such as the cast of a result, it is that
        of what they move.
        """
        op_name, root = op_name_of(instruction, self.module), fused_root(instruction, self.module)
        if op_name or root is None:
            return op_name
        moved = (op_name_of(inner, self.module) for _, inner in self.trail(root.name))
        return next(filter(None, moved), "")

    def _passed_on(self, computation: Computation, instruction: Instruction) -> str:
        """Return the operand that an instruction passes on; empty if it computes."""
        names = instruction.operand_names
        if instruction.opcode in _PASSES_ON:
            return self._start(computation, instruction) or (names[0] if names else "")
        if instruction.opcode != "fusion" or not self._only_moves(instruction):
            return ""
        operands = (computation.by_name[name] for name in names if name in computation.by_name)
        arrays = [operand.name for operand in operands if operand.shape.dimensions]
        return arrays[0] if len(arrays) == 1 else ""

    def _start(self, computation: Computation, element: Instruction) -> str:
        """Return the value with which a loop starts an element that its body passes on unchanged.

        Empty for what is no such element of a loop.
        """
        loop, number = computation.operand(element), element.taken_element
        if loop is None or loop.opcode != "while" or number is None:
            return ""
        body, start = self.module.callee(loop, "body"), computation.operand(loop)
        if body is None or start is None or start.opcode != "tuple":
            return ""
        given, names = _given(body, number), start.operand_names
        is_kept = given is not None and given.taken_element == number and _is_state(body, given)
        return names[number] if is_kept and number < len(names) else ""

    def _only_moves(self, fusion: Instruction) -> bool:
        name = next((name for _, name in fusion.called), "")
        if name not in self._moving:
            called = self.module.by_name.get(name)
            self._moving[name] = called is not None and all(
                instruction.opcode in _INSIDE for instruction in called.instructions
            )
        return self._moving[name]


def _given(body: Computation, number: int) -> Instruction | None:
    """Return what the body of a loop gives as an element of its next state."""
    root = body.root
    if root is None or root.opcode != "tuple" or number >= len(root.operand_names):
        return None
    return body.by_name.get(root.operand_names[number])


def _is_state(body: Computation, element: Instruction) -> bool:
    """Return whether an instruction takes an element of the state that a body begins with."""
    state = body.operand(element)
    return state is not None and state.opcode == "parameter"
