"""Convert round-trip.

A float is converted and converted back, and the intermediate value has no other use. Unfused, this
accesses memory. Fused, it costs almost nothing, but still rounds. Converts without an op_name come
from the compiler: a backend that computes a narrow type in a wide one rounds after each operation,
as the program's type does. A pair is not reported if one of its converts is there only because the
compiler computes the neighbor in a wider type, which `float_type_correction_info` says on TPUs.
"""

from collections.abc import Iterable, Iterator

from xlareport.analysis.findings.finding import Case, Finding
from xlareport.analysis.findings.wrapped import unwrap_operation
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime import units

LEAST_ELEMENTS = 1024
_FLOATS = ("f", "bf")
_CORRECTED = "float_type_correction_info"
"""In the backend_config of what the program computes in a narrower type."""


def convert_pairs(case: Case) -> Iterator[Finding]:
    """Report converts whose operand is a convert from the very float that comes out, together.

    What is between must have no other use: a value that is kept in a narrow type is no detour.
    Inside a fusion such a pair costs next to nothing, but it still rounds.
    """
    result, moved = [], 0.0
    for computation, instruction, cost in case.cost.placed(case.module):
        inner = _pair(case.module, computation, instruction)
        if inner is None or not cost.counted:
            continue
        if _is_correction(computation, instruction, inner):
            continue
        result.append((computation.name, instruction, inner))
        if not cost.fused:
            moved += 2.0 * cost.counted * (instruction.shape.byte_size or 0)
    if not result:
        return
    name, outer, inner = result[0]
    there, between = outer.shape.element_type, inner.shape.element_type
    added = _count_added(case.module, [(outer, inner) for _, outer, inner in result])
    theirs = f" Without an op_name, as the compiler's own are: {added:,}." if added else ""
    price = f"{units.byte_size(moved)} accessed" if moved else "fused: no access, but a rounding"
    yield Finding(
        title="Convert round-trip",
        places=tuple((name, instruction.name) for name, instruction, _ in result),
        evidence=(
            f"{units.plural(len(result), 'convert round-trip')}, such as {there} to {between} "
            f"(`{inner.name}`) and back to {there} (`{outer.name}`) in `{name}`; {price}." + theirs
        ),
        suggestion=(
            "The program need not convert: the backend computes its narrow type in a wide one. "
            "Where the rounding is not wanted, compute in the wide type."
            if added == len(result)
            else "Keep one type; if the rounding is intended, use jax.lax.reduce_precision."
        ),
        grade="exact",
        weight=case.time_of_bytes(moved),
        seconds=case.time_of_bytes(moved),
    )


def _count_added(module: HloModule, pairs: Iterable[tuple[Instruction, Instruction]]) -> int:
    """Return how many pairs are the compiler's: without op_names in a module that has some."""
    if not any(instruction.metadata.op_name for instruction in module.instructions):
        return 0
    return sum(not (outer.metadata.op_name or inner.metadata.op_name) for outer, inner in pairs)


def _is_correction(computation: Computation, outer: Instruction, inner: Instruction) -> bool:
    """Return whether the compiler added one of two converts to compute a neighbor in a wide type.

    The program has no such convert, so that it has no round-trip.
    """
    before = [] if inner.metadata.op_name else computation.operands(inner)
    after = [] if outer.metadata.op_name else computation.users.get(outer.name, ())
    return any(
        neighbor is not None and _CORRECTED in neighbor.attributes.get("backend_config", "")
        for neighbor in (*before, *after)
    )


def _pair(
    module: HloModule, computation: Computation, instruction: Instruction
) -> Instruction | None:
    """Return the inner convert of a pair of floats that ends in the type that it began in."""
    inner = _converted(module, computation, instruction)
    first = _operand(computation, inner) if inner is not None else None
    if inner is None or first is None or (instruction.shape.element_count or 0) < LEAST_ELEMENTS:
        return None
    there, between = first.shape.element_type, inner.shape.element_type
    floats = there.startswith(_FLOATS) and between.startswith(_FLOATS)
    alone = len(computation.users.get(inner.name, ())) == 1 and not inner.is_root
    return inner if floats and alone and there == instruction.shape.element_type else None


def _converted(
    module: HloModule, computation: Computation, instruction: Instruction
) -> Instruction | None:
    if unwrap_operation(module, instruction).opcode != "convert":
        return None
    inner = _operand(computation, instruction)
    if inner is None or unwrap_operation(module, inner).opcode != "convert":
        return None
    return inner


def _operand(computation: Computation, instruction: Instruction) -> Instruction | None:
    return computation.operand(instruction) if len(instruction.operands) == 1 else None
