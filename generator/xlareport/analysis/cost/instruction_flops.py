"""Flops and transcendentals of single instructions, by the rules of XLA's HloCostAnalysis.

XLA counts a complex operation as one; our own count has the real operations that it takes. It also
counts transforms, triangular solves and sorts by their published formulas, where XLA takes whole
matrices, the product of the logarithms of a transform's lengths, and all elements as one sort.
"""

from collections.abc import Callable, Mapping
from math import log2, prod

from msgspec import Struct

from xlareport.analysis.cost.shape_sizes import UncountableError, count_elements, iterate_leaves
from xlareport.analysis.cost.site import Site
from xlareport.analysis.cost.windows import (
    FMA_FLOPS,
    count_convolution_flops,
    count_reduce_window,
    parse_window,
)
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS
from xlareport.hlo.shape import Shape
from xlareport.knowledge.opcodes import opcode_work

_FLOPS_PER_COMPLEX_PRODUCT = 4 * FMA_FLOPS
_REAL_POINT = 2.5
"""Flops of a transform for each point and halving, of real numbers."""
_REAL_PRODUCTS = 4
"""(a + bi)(c + di) added up takes 4 multiplications and 4 additions, where a real one takes 2."""
_BY_PRODUCTS = MATRIX_PRODUCTS | {"cholesky", "triangular-solve"}
"""Opcodes whose FLOPs are multiply-adds."""


class Work(Struct, frozen=True):
    """The work of an instruction itself, without the computations that it calls."""

    flops: int = 0
    transcendentals: int = 0


NOTHING = Work()
COMPONENTS = {"c64": "f32", "c128": "f64"}
"""The types of the real and the imaginary part."""


def count_work(site: Site) -> Work:
    """Return an instruction's own work; complex operations count as their real operations.

    Raises UncountableError without a rule.
    """
    opcode = site.instruction.opcode
    work = _OWN_RULES.get(opcode, _count_work)(site)
    if work == NOTHING or not _is_complex(site):
        return work
    table = opcode_work()
    if opcode == "fft":
        return work  # counted in real operations
    if opcode in _BY_PRODUCTS:
        return convert_to_real(site, work)
    flops = table.complex_flops.get(opcode, table.complex_flops["default"])
    transcendentals = table.complex_transcendentals.get(
        opcode, table.complex_transcendentals["default"]
    )
    is_counted = opcode in table.elementwise or opcode in table.complex_flops
    elements = work.flops or work.transcendentals
    return Work(
        flops=flops * elements if is_counted else work.flops,
        transcendentals=transcendentals * work.transcendentals,
    )


def _is_complex(site: Site) -> bool:
    """Return whether an instruction computes with complex numbers, even if its result is real."""
    shapes = (*site.operands[:2], site.shape)
    return any(shape.element_type in COMPONENTS for shape in shapes)


def convert_to_real(site: Site, products: Work) -> Work:
    """Return work that is products added up in real operations, where the numbers are complex."""
    return Work(flops=_REAL_PRODUCTS * products.flops) if _is_complex(site) else products


def find_arithmetic_type(site: Site) -> str:
    """Return the type that an instruction computes in: of its operands, parts for complex ones."""
    try:
        element_type = site.operands[-1].element_type if site.instruction.operands else ""
    except UncountableError:
        element_type = ""
    element_type = element_type or site.shape.element_type
    return COMPONENTS.get(element_type, element_type)


def _count_work(site: Site) -> Work:
    """Return the work as XLA counts it, for any type. Raises UncountableError without a rule."""
    opcode, table = site.instruction.opcode, opcode_work()
    if opcode in table.movement or opcode in CALLING:
        return NOTHING
    if opcode in table.elementwise:
        return Work(flops=count_elements(site.shape))
    if opcode in table.transcendental:
        return Work(transcendentals=count_elements(site.shape))
    rule = _RULES.get(opcode)
    if rule is None:
        raise UncountableError(f"no rule for {opcode[:40]}")
    return rule(site)


def count_as_xla(site: Site) -> Work:
    """Count as XLA does, which takes as many leading dimensions off a ragged dot as it has groups.

    Raises UncountableError where no rule fits.
    """
    work = _count_work(site)
    if site.instruction.opcode != "ragged-dot":
        return work
    groups = len(site.numbers("rhs_group_dims"))
    dropped = prod(site.dimension(site.shape, number) for number in range(groups))
    return Work(flops=work.flops // max(dropped, 1))


def count_applications(site: Site) -> Mapping[str, int]:
    """Return how often an instruction applies each computation to scalars, by attribute name.

    Empty for instructions that call no computation element by element.
    """
    rule = _APPLICATIONS.get(site.instruction.opcode)
    return rule(site) if rule is not None else {}


def count_dot_flops(site: Site) -> int:
    """Return two flops for each product of a dot: result elements times contracted elements."""
    lhs = site.operand(0)
    contracted = prod(
        site.dimension(lhs, number) for number in site.numbers("lhs_contracting_dims")
    )
    return FMA_FLOPS * count_elements(site.shape) * contracted


def _convolution(site: Site) -> Work:
    return Work(flops=count_convolution_flops(site.operand(0), site.operand(1), site.shape, site))


def _fft(site: Site) -> Work:
    factors = prod(max(length.bit_length() - 1, 0) for length in site.numbers("fft_length"))
    return Work(flops=_FLOPS_PER_COMPLEX_PRODUCT * factors * count_elements(site.operand(0)))


def _published_fft(site: Site) -> Work:
    """Return 5 N log2 N FLOPs for N points of all dimensions; half if one side is real.

    The usual count for radix 2 (Van Loan, Computational Frameworks for the Fast Fourier Transform).
    """
    is_back = site.instruction.attributes.get("fft_type", "") == "IRFFT"
    points = count_elements(site.shape if is_back else site.operand(0))
    is_real = site.instruction.attributes.get("fft_type", "") in {"RFFT", "IRFFT"}
    per_point = _REAL_POINT if is_real else 2 * _REAL_POINT
    lengths = prod(site.numbers("fft_length"))
    return Work(flops=round(per_point * points * log2(max(lengths, 1))))


def _published_sort(site: Site) -> Work:
    """Count n log2 n comparisons for each row that is sorted by itself."""
    keys = site.operand(0)
    dimension = next(iter(site.numbers("dimensions")), 0)
    length = site.dimension(keys, dimension)
    return Work(flops=count_elements(keys) * max(length - 1, 0).bit_length())


def _substitution(site: Site) -> Work:
    """Count n^2 for each right-hand side, as BLAS does (LAWN 41): one triangle is read."""
    width = _last_dimension(site, site.operand(0))
    return Work(flops=width * count_elements(site.operand(1)))


def _sort(site: Site) -> Work:
    elements = count_elements(site.operand(0))
    return Work(flops=elements * max(elements - 1, 0).bit_length())


def _cholesky(site: Site) -> Work:
    matrix = site.operand(0)
    return Work(flops=_last_dimension(site, matrix) * count_elements(matrix) // 3)


def _triangular_solve(site: Site) -> Work:
    width = _last_dimension(site, site.operand(0))
    return Work(flops=FMA_FLOPS * width * count_elements(site.operand(1)))


def _all_reduce(site: Site) -> Work:
    """Assume two replicas, as XLA does: one combination for each element."""
    return Work(flops=sum(count_elements(leave) for leave in iterate_leaves(site.shape)))


def _last_dimension(site: Site, shape: Shape) -> int:
    return site.dimension(shape, len(shape.dimensions) - 1)


def _map(site: Site) -> Mapping[str, int]:
    return {"to_apply": count_elements(site.shape)}


def _reduce(site: Site) -> Mapping[str, int]:
    result = site.shape.first
    return {"to_apply": count_elements(site.operand(0)) - count_elements(result)}


def _scatter(site: Site) -> Mapping[str, int]:
    updates = site.operand(len(site.instruction.operands) // 2 + 1)
    return {"to_apply": count_elements(updates)}


def _select_and_scatter(site: Site) -> Mapping[str, int]:
    source = count_elements(site.operand(1))
    window = prod(
        window_dimension.size
        for window_dimension in parse_window(site.instruction.attributes.get("window", ""))
    )
    return {"select": source * (window - 1), "scatter": source}


_RULES: dict[str, Callable[[Site], Work]] = {
    "dot": lambda site: Work(flops=count_dot_flops(site)),
    "convolution": _convolution,
    "rng-bit-generator": lambda site: Work(transcendentals=count_elements(site.shape)),
    "ragged-dot": lambda site: Work(flops=count_dot_flops(site)),
    "scaled-dot": lambda site: Work(flops=count_dot_flops(site)),
    "fft": _fft,
    "sort": _sort,
    "cholesky": _cholesky,
    "triangular-solve": _triangular_solve,
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
}
_OWN_RULES: dict[str, Callable[[Site], Work]] = {
    "fft": _published_fft,
    "sort": _published_sort,
    "triangular-solve": _substitution,
}
"""Rules of the report's own count that differ from XLA's."""
_APPLICATIONS: dict[str, Callable[[Site], Mapping[str, int]]] = {
    "map": _map,
    "reduce": _reduce,
    "reduce-window": lambda site: {"to_apply": count_reduce_window(site)},
    "scatter": _scatter,
    "select-and-scatter": _select_and_scatter,
}
CALLING = frozenset({"while", "conditional", "call", "fusion", "async-start", *_APPLICATIONS})
"""Opcodes whose work is in the computations that they call."""
