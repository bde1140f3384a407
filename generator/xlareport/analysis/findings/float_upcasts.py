"""bf16 matmul computed in f32.

All matmuls of an op_name have 16-bit operands in the program and 32-bit operands after
optimizations. The backend does not support the narrow type, and `float-normalization` converted
them.
"""

from collections import defaultdict
from collections.abc import Iterator

from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import DENSE_PRODUCTS
from xlareport.runtime import units

_NARROW = frozenset({"bf16", "f16"})
_WIDE = frozenset({"f32", "f64"})
LEAST_ELEMENTS = 1 << 14
"""Of the larger operand."""


def float_upcasts(case: Case) -> Iterator[Finding]:
    """Report products of an op_name whose operands were all narrow, and are all wide now."""
    if case.before is None:
        return
    asked = _operand_types(case.before)
    upcasts: list[tuple[int, InstructionKey, str]] = []
    for computation, instruction in _products(case.module):
        op_name = instruction.metadata.op_name
        types, narrow = _types(computation, instruction), asked.get(op_name, set())
        cost = case.cost.instructions.get((computation.name, instruction.name))
        if not op_name or cost is None or not cost.counted or not types or not narrow:
            continue
        size = max(
            operand.shape.element_count or 0 for operand in _operands(computation, instruction)
        )
        if narrow <= _NARROW and types <= _WIDE and size >= LEAST_ELEMENTS:
            upcasts.append((size, (computation.name, instruction.name), min(narrow)))
    if upcasts:
        yield _finding(case, sorted(upcasts, key=lambda item: (-item[0], item[1])))


def _finding(case: Case, upcasts: list[tuple[int, InstructionKey, str]]) -> Finding:
    _, _, narrow = upcasts[0]
    return Finding(
        title=f"{narrow} matmul computed in f32",
        places=tuple(place for _, place, _ in upcasts),
        evidence=(
            f"{units.plural(len(upcasts), 'matmul')} with {narrow} operands in the program and f32 "
            f"operands after optimizations: {join_names(name for _, (_, name), _ in upcasts)}. The "
            "backend does not support the narrow type there (float-normalization)."
        ),
        suggestion=(
            "Use a type that the device multiplies natively, or keep these operands in f32 and "
            "save the converts."
        ),
        grade="matched",
        weight=case.time_of_bytes(2.0 * sum(size for size, _, _ in upcasts)),
    )


def _operand_types(module: HloModule) -> dict[str, set[str]]:
    """Return the element types of the operands of all products, by op_name."""
    types: dict[str, set[str]] = defaultdict(set)
    for computation, instruction in _products(module):
        types[instruction.metadata.op_name] |= _types(computation, instruction)
    return types


def _products(module: HloModule) -> Iterator[tuple[Computation, Instruction]]:
    for computation, instruction in module.placed:
        if instruction.opcode in DENSE_PRODUCTS:
            yield computation, instruction


def _operands(computation: Computation, instruction: Instruction) -> list[Instruction]:
    return list(filter(None, computation.operands(instruction)[:2]))


def _types(computation: Computation, instruction: Instruction) -> set[str]:
    return {operand.shape.element_type for operand in _operands(computation, instruction)}
