"""Matmuls that run in another type than the program requests, by the lines of their ops."""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.compare.operations import key_of
from xlareport.analysis.cost.precision import name_product
from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost_report.precision_report import is_product
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.hlo.model import HloModule
from xlareport.runtime.grouping import group_by_key

_MOST = 10_000


class TypedProduct(Struct, frozen=True):
    """The matmuls and convolutions of one op on one source line that read one type."""

    op: str
    line: str
    """`model.py:12`; empty if unknown."""
    kind: str
    """The result of `name_product`: the type of the operands, or that of an algorithm."""
    count: int


def list_typed_products(module: HloModule) -> tuple[TypedProduct, ...]:
    """Return the products of a module, inside of fusions too, by op, line and type."""
    counts: Counter[tuple[str, str, str]] = Counter()
    place = places_of(module)
    for computation in module.computations:
        products = [line for line in computation.instructions if is_product(line)]
        shapes = shapes_of(computation) if products else {}
        for product in products:
            where = place(product)
            key = key_of(op_name_of(product, module), where.short if where else "")
            counts[key.op, key.line, name_product(Site(product, shapes))] += 1
    return tuple(TypedProduct(*key, count) for key, count in list(counts.items())[:_MOST])


class ConvertedProducts(Struct, frozen=True):
    """Matmuls that the program requests in one type and that run in another."""

    count: int
    """As the program has them."""
    kind: str
    """The type of most of them in the final module."""


def find_converted(
    given: Sequence[TypedProduct], final: Sequence[TypedProduct], requested: str
) -> ConvertedProducts | None:
    """Return the matmuls requested in a type of which the final module has none on their lines.

    A line whose matmuls became other opcodes, or where some still run in the type, shows nothing.
    """
    kinds: Counter[str] = Counter()
    count = 0
    after = _by_place(final)
    for place, asked in _by_place(given).items():
        run = after.get(place, [])
        if not place[1] or not run or any(not _has_type(product, requested) for product in asked):
            continue
        if not any(_has_type(product, requested) for product in run):
            count += sum(product.count for product in asked)
            for product in run:
                kinds[product.kind] += product.count
    return ConvertedProducts(count, kinds.most_common(1)[0][0]) if count else None


def _by_place(products: Sequence[TypedProduct]) -> Mapping[tuple[str, str], list[TypedProduct]]:
    return group_by_key(((product.op, product.line), product) for product in products)


def _has_type(product: TypedProduct, element_type: str) -> bool:
    return product.kind.split()[0] == element_type
