"""Values that are converted to a narrower float and straight back."""

from collections.abc import Iterator

from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding
from xlareport.analysis.findings.wrapped import operation
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime import units

LEAST_ELEMENTS = 1024
_FLOATS = ("f", "bf")


def convert_pairs(case: Case) -> Iterator[Finding]:
    """Report converts whose operand is a convert from the very float that comes out, together.

    What is between must have no other use: a value that is kept in a narrow type is no detour.
    Inside a fusion such a pair costs next to nothing, but it still rounds.
    """
    found, moved = [], 0.0
    for computation, one, cost in case.reached(case.module):
        inner = _pair(case.module, computation, one)
        if inner is None or not cost.counted:
            continue
        found.append((computation.name, one, inner))
        if not cost.fused:
            moved += 2.0 * cost.counted * (one.shape.byte_size or 0)
    if not found:
        return
    name, outer, inner = found[0]
    there, between = outer.shape.element_type, inner.shape.element_type
    price = f"{units.byte_size(moved)} are moved for it" if moved else "fused, it only rounds"
    yield Finding(
        rule="convert-pairs",
        title="Values are converted and straight back",
        places=tuple((name, one.name) for name, one, _ in found[:MOST_PLACES]),
        evidence=(
            f"{units.plural(len(found), 'time')} a value is converted and straight back, as in "
            f"`{name}`: {there} becomes {between} in `{inner.name}` and {there} again in "
            f"`{outer.name}`; {price}."
        ),
        suggestion=(
            "Keep one type over this stretch of the program; if the rounding is wanted, "
            "jax.lax.reduce_precision says so."
        ),
        grade="exact",
        weight=case.time_of_bytes(moved),
    )


def _pair(module: HloModule, computation: Computation, one: Instruction) -> Instruction | None:
    """Return the inner convert of a pair of floats that ends in the type that it began in."""
    inner = _converted(module, computation, one)
    first = _operand(computation, inner) if inner is not None else None
    if inner is None or first is None or (one.shape.element_count or 0) < LEAST_ELEMENTS:
        return None
    there, between = first.shape.element_type, inner.shape.element_type
    floats = there.startswith(_FLOATS) and between.startswith(_FLOATS)
    alone = len(computation.users.get(inner.name, ())) == 1 and not inner.is_root
    return inner if floats and alone and there == one.shape.element_type else None


def _converted(module: HloModule, computation: Computation, one: Instruction) -> Instruction | None:
    if operation(module, one).opcode != "convert":
        return None
    inner = _operand(computation, one)
    return inner if inner is not None and operation(module, inner).opcode == "convert" else None


def _operand(computation: Computation, one: Instruction) -> Instruction | None:
    return computation.by_name.get(one.operands[0]) if len(one.operands) == 1 else None
