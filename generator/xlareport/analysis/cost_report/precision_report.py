"""The dots of a module by precision: the requested one and the device's implementation."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.precision import PRODUCTS, Precision, find_precision, name_product
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.model import HloModule, Instruction
from xlareport.knowledge.custom_calls import PRODUCT_WORK, find
from xlareport.knowledge.devices import Device


class ProductRow(Struct, frozen=True):
    """A dot, convolution or library call for one, inside a fusion or not."""

    computation: str
    instruction: str
    precision: Precision
    kind: str
    """The result of `name_product`."""
    unit: str
    """How the device computes it, in words."""
    flops: int
    """Of all its runs in one run of the module."""

    @property
    def operands(self) -> str:
        """Return the kind, or the types of the operands where they differ: `u8, bf16`."""
        types = dict.fromkeys(self.precision.operands)
        return ", ".join(types) if len(types) > 1 else self.kind


class PrecisionSum(Struct, frozen=True):
    """All products of one kind."""

    kind: str
    """The requested precision, or the types of the operands where they differ."""
    unit: str
    """How the device computes them, in words; several ways with semicolons between them."""
    products: int
    flops: int


def list_products(module: HloModule, cost: ModuleCost, device: Device) -> tuple[ProductRow, ...]:
    """Return the products of which the flops are known, those with most flops first."""
    rows = list(_product_rows(module, cost, device))
    return tuple(sorted(rows, key=lambda row: (-row.flops, row.computation, row.instruction)))


def sum_by_precision(rows: tuple[ProductRow, ...]) -> tuple[PrecisionSum, ...]:
    """Sum up products by their operands, the most flops first."""
    sums: dict[str, PrecisionSum] = {}
    for row in rows:
        former = sums.get(row.operands, PrecisionSum(row.operands, row.unit, 0, 0))
        sums[row.operands] = replace(
            former,
            unit="; ".join(dict.fromkeys([*former.unit.split("; "), row.unit])),
            products=former.products + 1,
            flops=former.flops + row.flops,
        )
    return tuple(sorted(sums.values(), key=lambda item: (-item.flops, item.kind)))


_CONVOLUTION = "__cudnn$conv"
_CHOSEN = "f32 or TF32, not known: the library chooses"
_ATTENTION = frozenset({"attention", "attention-backward"})


def is_product(instruction: Instruction) -> bool:
    """Return whether an instruction multiplies in the precision requested for it.

    Factorizations and solves of a library have a precision of their own, and so have kernels whose
    work is only an estimate.
    """
    if instruction.opcode != "custom-call":
        return instruction.opcode in PRODUCTS
    call = find(instruction.call_target)
    return call is not None and call.work in PRODUCT_WORK | _ATTENTION


def _unit_of(instruction: Instruction, device: Device, kind: str) -> str:
    """Return how the device computes a product; a dump does not show what cuDNN does with f32."""
    is_convolution = instruction.call_target.startswith(_CONVOLUTION)
    is_open = is_convolution and device.passes(kind)[0] == "tf32"
    return _CHOSEN if is_open else device.product_words(kind)


def _product_rows(module: HloModule, cost: ModuleCost, device: Device) -> Iterator[ProductRow]:
    for computation in module.computations:
        shapes = shapes_of(computation)
        for instruction in computation.instructions:
            if not is_product(instruction):
                continue
            figures = cost.instructions.get((computation.name, instruction.name))
            flops = figures.of_all_runs(figures.flops) if figures else None
            site = Site(instruction, shapes)
            try:
                precision = find_precision(site) if flops else None
            except UncountableError:
                precision = None
            if precision is not None and flops:
                kind = name_product(site)
                unit = _unit_of(instruction, device, kind)
                yield ProductRow(computation.name, instruction.name, precision, kind, unit, flops)
