"""Element types of the operands of matmuls: a pass that changes them changes numerics.

The line of a matmul stays the same when only the type of an operand changes.
"""

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.families import family_of
from xlareport.hlo.model import Computation, HloModule, Instruction

_PRODUCT = "product"
_FACTORS = 2
_PRODUCTS: WeakKeyDictionary[Computation, tuple[Instruction, ...]] = WeakKeyDictionary()


def retyped_products(matching: Matching) -> Iterator[tuple[Place, Place]]:
    """Yield the matmuls, old and new, whose operands have other element types now."""
    for computation in matching.after.computations:
        former = matching.computation_before(computation.name)
        if matching.before.by_name.get(former) is computation:
            continue
        for line in _products_of(computation):
            after = Place(computation.name, line.name)
            before = matching.partner_before(after)
            if before is not None and operand_types(matching, before, after):
                yield before, after


def operand_types(matching: Matching, before: Place, after: Place) -> str:
    """Return the types of a product's factors, as `operands f32, f32 → bf16, f32`; '' if equal."""
    old = _types(matching.before, before)
    new = _types(matching.after, after)
    if old is None or new is None or old == new:
        return ""
    return f"operands {', '.join(old)} → {', '.join(new)}"


def _types(module: HloModule, place: Place) -> list[str] | None:
    """Return the operands' element types; None for other opcodes and tuple operands."""
    line = module.find(*place)
    if line is None or family_of(line) != _PRODUCT:
        return None
    near = module.by_name[place.computation].by_name
    factors = [near.get(name) for name in [*line.operand_names][:_FACTORS]]
    types = [factor.shape.element_type for factor in factors if factor is not None]
    return types if len(types) == _FACTORS and all(types) else None


def _products_of(computation: Computation) -> tuple[Instruction, ...]:
    products = _PRODUCTS.get(computation)
    if products is None:
        lines = (line for line in computation.instructions if family_of(line) == _PRODUCT)
        products = _PRODUCTS[computation] = tuple(lines)
    return products
