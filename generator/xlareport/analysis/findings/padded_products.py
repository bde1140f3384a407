"""Matmul dimensions padded to the MXU.

TPU only. The MXU multiplies blocks of 128 x 128 up to v5p and of 256 x 256 from v6e on. A matmul is
padded to multiples of that in the contracting dimension and in one other, and to multiples of 8 in
the third; the cheaper choice counts. A convolution counts as the matmul of its patches. The finding
appears if the padded multiply-adds take longer than the roofline time at the MXU's peak rate, and
2% or more of the module. The time is that of the padding at this rate: a matmul that is limited by
something else may gain less or more. An LLO dump has what libtpu really executes:
[MXU padding](findings.md#tpu-padding-waste).
"""

from collections.abc import Iterator
from math import prod

from msgspec import Struct

from xlareport.analysis.cost.roofline import estimate_time
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import parse_integers
from xlareport.analysis.cost.windows import parse_window
from xlareport.analysis.findings.expanded import name_expanded
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import DENSE_PRODUCTS
from xlareport.knowledge.tpu_cores import TpuCore, tpu_cores
from xlareport.runtime import units
from xlareport.runtime.whole_numbers import round_up

LEAST_SHARE = 0.02
"""Of the module's roofline time, all of them together."""
_ROWS = 8
"""Rows of a tile: to a multiple of these the streamed dimension is padded."""
_OPERANDS = 2
_DEEPEST = 4
"""Fusions in fusions that are looked into."""


class Product(Struct, frozen=True):
    """A matmul, or a convolution as one: `rows` x `contracted` times `contracted` x `columns`."""

    rows: int
    contracted: int
    columns: int

    def padding(self, core: TpuCore) -> float:
        """Return the multiply-adds of the padded product over those of this one, at least.

        Either operand may stay in the MXU; the other is streamed through it by rows.
        """
        held, streamed = (self.columns, self.rows), (self.rows, self.columns)
        ways = (
            round_up(side, core.mxu) * round_up(other, _ROWS)
            for side, other in zip(held, streamed, strict=True)
        )
        whole = self.rows * self.contracted * self.columns
        return round_up(self.contracted, core.mxu) * min(ways) / whole

    def words(self, core: TpuCore) -> str:
        """Return the dimensions, and the padded one of the contracted dimension."""
        padded = round_up(self.contracted, core.mxu)
        return (
            f"{self.rows} x {self.contracted} by {self.contracted} x {self.columns}, "
            f"contracted dimension padded to {padded}"
        )


def padded_products(case: Case) -> Iterator[Finding]:
    """Report products that take longer than their roofline for the padding of their dimensions."""
    core = tpu_cores().get(case.device.key)
    if core is None:
        return
    result: list[tuple[float, InstructionKey, Product]] = []
    for computation, instruction, cost in case.scheduled:
        least = estimate_time(cost, case.device) if cost.matrix_flops else None
        products = [*_products(case.module, computation, instruction)] if least else []
        padded = sum(_seconds(case, where, product, core) for where, product in products)
        lost = (padded - (least.seconds if least else 0.0)) * max(cost.counted, 1)
        if cost.cycles is not None and case.basis.clock:
            lost = min(lost, case.least(cost))
        if lost > 0:
            worst = max(products, key=lambda product: product[1].padding(core))
            result.append((lost, (computation.name, instruction.name), worst[1]))
    seconds = sum(lost for lost, _, _ in result)
    if case.is_noticeable(seconds, LEAST_SHARE):
        yield _finding(case, sorted(result, key=lambda item: (-item[0], item[1])), core)


def _seconds(case: Case, where: InstructionKey, product: Product, core: TpuCore) -> float:
    cost = case.cost.instructions.get(where)
    flops = cost.matrix_flops if cost else ()
    plain = sum(count / case.device.matrix_peak(kind) for kind, count in flops)
    return plain * product.padding(core)


def _finding(
    case: Case, products: list[tuple[float, InstructionKey, Product]], core: TpuCore
) -> Finding:
    seconds = sum(lost for lost, _, _ in products)
    (_, place, largest), *_ = products
    names = join_names(name for _, (_, name), _ in products)
    return Finding(
        title="Matmul dimensions padded to the MXU",
        places=tuple(place for _, place, _ in products),
        evidence=(
            f"{units.plural(len(products), 'matmul')} ({names}): the MXU is {core.mxu} x "
            f"{core.mxu}; at its peak rate the padding takes {_share_words(case, seconds)}. "
            f"The first: {largest.words(core)}, {largest.padding(core):.1f} times the "
            "multiply-adds."
        ),
        suggestion=_advise(case, place, core),
        grade="guessed",
        weight=seconds,
        padding_seconds=seconds,
    )


def _share_words(case: Case, seconds: float) -> str:
    """Return the share of a time that has the padding, which the roofline time has not."""
    if case.basis.clock:
        return case.share_words(seconds)
    share = units.share(seconds / (case.seconds + seconds))
    return f"{share} of the module's roofline time with this padding added"


def _advise(case: Case, place: InstructionKey, core: TpuCore) -> str:
    instruction = case.module.find(*place)
    operation = name_expanded(instruction) if instruction else ""
    if operation:
        return (
            f"The sizes are the compiler's, which computes {operation} by matmuls. Another length "
            "may be factored otherwise."
        )
    return (
        f"Make the contracted dimension and one other a multiple of {core.mxu}: choose other "
        "sizes, merge small dimensions, or pad once outside the loop."
    )


def _products(
    module: HloModule, computation: Computation, instruction: Instruction, depth: int = 0
) -> Iterator[tuple[InstructionKey, Product]]:
    """Yield the matmuls of an instruction, those of what it fuses too."""
    if instruction.opcode == "fusion" and depth < _DEEPEST:
        for inside in module.callees(instruction):
            for inner in inside.instructions:
                yield from _products(module, inside, inner, depth + 1)
    try:
        product = _product(computation, instruction)
    except UncountableError:
        return
    if product is not None and min(product.rows, product.contracted, product.columns) > 0:
        yield (computation.name, instruction.name), product


def _product(computation: Computation, instruction: Instruction) -> Product | None:
    if instruction.opcode not in DENSE_PRODUCTS:
        return None
    operands = filter(None, computation.operands(instruction)[:2])
    shapes = [_dimensions(operand) for operand in operands]
    if len(shapes) < _OPERANDS or not all(shapes):
        return None
    left, right = shapes
    if instruction.opcode == "dot":
        return _dot(instruction, left, right)
    return _convolution(instruction, right)


def _dimensions(instruction: Instruction) -> tuple[int, ...]:
    """Return the dimensions of a result; none where one of them is not known."""
    sizes = tuple(size for size in instruction.shape.dimensions if size is not None)
    return sizes if len(sizes) == len(instruction.shape.dimensions) else ()


def _dot(instruction: Instruction, left: tuple[int, ...], right: tuple[int, ...]) -> Product:
    contracted = _sizes(instruction, "lhs_contracting_dims", left)
    batch = _sizes(instruction, "lhs_batch_dims", left)
    common = contracted * batch
    return Product(prod(left) // common, contracted, prod(right) // common)


def _sizes(instruction: Instruction, attribute: str, dimensions: tuple[int, ...]) -> int:
    places = parse_integers(instruction.attributes.get(attribute, "").strip("{}").replace(",", " "))
    return max(1, prod(dimensions[place] for place in places if 0 <= place < len(dimensions)))


def _convolution(instruction: Instruction, kernel: tuple[int, ...]) -> Product | None:
    """Return a convolution as a matmul of its patches; None where it is in groups."""
    attributes = instruction.attributes
    if {"feature_group_count", "batch_group_count"} & attributes.keys():
        return None
    operands, _, outputs = attributes.get("dim_labels", "").partition("->")
    _, _, labels = operands.partition("_")
    result = _dimensions(instruction)
    if len(labels) != len(kernel) or len(outputs) != len(result) or "i" not in labels:
        return None
    window = prod(dimension.size for dimension in parse_window(attributes.get("window", "")))
    columns = kernel[labels.index("o")] if "o" in labels else 1
    rows = prod(result) // max(1, columns)
    return Product(rows, kernel[labels.index("i")] * window, columns)
