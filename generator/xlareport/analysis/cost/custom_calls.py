"""Custom calls of known meaning, counted from their shapes; the others stay unknown."""

import base64
import json
import math
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.instruction_flops import NOTHING, Work, convert_to_real
from xlareport.analysis.cost.shape_sizes import (
    UncountableError,
    count_elements,
    iterate_leaves,
    measure_data,
)
from xlareport.analysis.cost.site import Site, parse_integers
from xlareport.analysis.cost.traffic import NO_TRAFFIC, Traffic
from xlareport.analysis.cost.windows import FMA_FLOPS, count_convolution_flops
from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.shape import Shape
from xlareport.knowledge.custom_calls import CustomCall, find

_LONGEST_CONFIG = 10_000_000


class CustomCost(Struct, frozen=True):
    """The cost of a custom call; unknown work and traffic are None."""

    work: Work | None
    traffic: Traffic | None
    grade: str
    note: str


def estimate_custom_cost(site: Site) -> CustomCost:
    """Count a custom call by its target, its shapes and its backend_config."""
    target = site.instruction.call_target
    call = find(target)
    try:
        return _METHODS[call.work if call and call.work else "estimate"](site)
    except UncountableError as error:
        return CustomCost(None, None, "guessed", f"custom call {target[:80]}: {error}")


def count_dependent_steps(site: Site) -> float:
    """Return the sequential steps of a factorization; 0 if there are none."""
    call = find(site.instruction.call_target)
    if call is None or not call.steps:
        return 0.0
    try:
        (matrix,) = _matrices(site, 1)
    except UncountableError:
        return 0.0
    return call.steps * matrix.batch * min(matrix.dimensions[-2:])


def known_bytes(site: Site) -> int:
    """Return the bytes that a call takes and returns, as far as they are known."""
    return sum(shape.byte_size or 0 for shape in (*site.known_operands, site.shape))


def most_flops(site: Site) -> float:
    """Return the FLOPs of multiplying square matrices of the size of a call's data."""
    shapes = [
        leaf for shape in (*site.known_operands, site.shape) for leaf in iterate_leaves(shape)
    ]
    return FMA_FLOPS * math.sqrt(max((leaf.element_count or 0 for leaf in shapes), default=0)) ** 3


def _by_estimate(site: Site) -> CustomCost:
    """Read the cost estimate that a Pallas kernel's author gave in its backend_config."""
    estimate = _find(read_backend_config(site.instruction, _LONGEST_CONFIG), "cost_estimate")
    if not isinstance(estimate, dict):
        raise UncountableError("what it computes is not known")
    flops, transcendentals = _integer(estimate, "flops"), _integer(estimate, "transcendentals")
    moved = _integer(estimate, "bytes_accessed")
    written = min(measure_data(site.shape), moved)
    return CustomCost(
        Work(flops, transcendentals),
        Traffic(moved - written, written),
        "matched",
        "The kernel's own cost estimate.",
    )


def _nothing(_: Site) -> CustomCost:
    return CustomCost(NOTHING, NO_TRAFFIC, "exact", "")


def _movement(site: Site) -> CustomCost:
    return CustomCost(NOTHING, _everything(site), "matched", "")


def _product(site: Site) -> CustomCost:
    """Count a library product: result elements times contracted elements, two flops each."""
    numbers = _find(read_backend_config(site.instruction, _LONGEST_CONFIG), "dot_dimension_numbers")
    if not isinstance(numbers, dict):
        raise UncountableError("no dot_dimension_numbers")
    lhs = site.operand(0)
    contracting = parse_integers(str(numbers.get("lhs_contracting_dimensions", [])))
    width = math.prod(site.dimension(lhs, number) for number in contracting)
    work = Work(flops=FMA_FLOPS * count_elements(site.shape.first) * width)
    note = "A library product, from its shapes."
    return CustomCost(convert_to_real(site, work), _everything(site), "matched", note)


_FORWARD, _INPUT, _KERNEL = range(3)
"""What a library convolution computes: a forward convolution, or a gradient by an operand of it."""


def _convolution(role: int) -> Callable[[Site], CustomCost]:
    """Return the method of a library convolution; gradients count as the forward one they undo."""

    def estimate(site: Site) -> CustomCost:
        result, first, second = site.shape.first, site.operand(0), site.operand(1)
        forward = ((first, second, result), (result, second, first), (first, result, second))[role]
        work = convert_to_real(site, Work(flops=count_convolution_flops(*forward, site)))
        note = "A library convolution, from its shapes."
        return CustomCost(work, _everything(site), "matched", note)

    return estimate


def _triangular_solve(site: Site) -> CustomCost:
    """Count n^2 for each right-hand side, as BLAS does."""
    matrix, sides = _matrices(site, 2)
    flops = matrix.dimensions[-1] * matrix.scale * sides.elements
    return _matched_cost(site, flops, "A library solve, from its shapes.")


def _dense(site: Site) -> CustomCost:
    """Count a factorization or decomposition by its published polynomial, for each of a batch."""
    call = _described_call(site)
    (matrix,) = _matrices(site, 1)
    short, long = sorted(matrix.dimensions[-2:])
    lkk, kkk = call.values if call.values and _has_only_values(site) else call.thirds
    flops = matrix.scale * matrix.batch * (lkk * long * short**2 + kkk * short**3) // 3
    return _matched_cost(site, flops, f"From its shapes, by {call.basis}.")


def _dense_quarters(site: Site) -> CustomCost:
    """Count as much for a matrix of which a call takes the four quarters: eight times the first."""
    quarter = _dense(site)
    done = 8 * quarter.work.flops if quarter.work else 0
    return replace(quarter, work=Work(flops=done))


def _reflectors(site: Site) -> CustomCost:
    """Count the product of k reflectors with an m x n matrix: 4mnk - 2nk^2."""
    reflectors, matrix = _matrices(site, 2)
    count, height = min(reflectors.dimensions[-2:]), max(reflectors.dimensions[-2:])
    width = matrix.elements // (matrix.batch * height)
    flops = matrix.scale * matrix.batch * (4 * height * width * count - 2 * width * count**2)
    return _matched_cost(site, flops, f"From its shapes, by {_described_call(site).basis}.")


def _rank_update(site: Site) -> CustomCost:
    """Count one triangle of a matrix times its transpose."""
    (matrix,) = _matrices(site, 1)
    result = count_elements(site.shape.first)
    inner = matrix.elements // math.isqrt(max(1, result))
    return _matched_cost(site, matrix.scale * result * inner, "A library product, from its shapes.")


def _whole_product(site: Site) -> CustomCost:
    """Count a product without batch: of a x b, b x c and a x c elements the root of all is abc."""
    first, second = _matrices(site, 2)
    if first.batch * second.batch != 1:
        raise UncountableError("which dimensions are contracted is not known")
    whole = first.elements * second.elements * count_elements(site.shape.first)
    flops = FMA_FLOPS * first.scale * math.isqrt(whole)
    return _matched_cost(site, flops, "A library product, from its shapes alone.", "guessed")


def _rows_product(site: Site) -> CustomCost:
    """Count products of groups of rows, each with a matrix of its own."""
    rows, _ = _matrices(site, 2)
    width = rows.dimensions[-1]
    flops = FMA_FLOPS * rows.scale * count_elements(site.shape.first) * width
    return _matched_cost(site, flops, "Products of groups, from their shapes alone.", "guessed")


def _sparse_product(site: Site) -> CustomCost:
    """Count two flops for each stored element and column of the result."""
    result = site.shape.first
    columns = site.dimension(result, 1) if len(result.dimensions) > 1 else 1
    flops = FMA_FLOPS * count_elements(site.operand(0)) * columns
    return _matched_cost(site, flops, "A sparse product, by its stored elements.")


def _fourier(site: Site) -> CustomCost:
    """Count 5 N log2 N of the last dimension."""
    result = site.shape.first
    length = site.dimension(result, len(result.dimensions) - 1)
    flops = round(5 * count_elements(result) * math.log2(max(2, length)))
    return _matched_cost(
        site, flops, "5 N log2 N, as if along the last dimension alone.", "guessed"
    )


def _attention(site: Site) -> CustomCost:
    """Count the two products of attention: queries with keys, scores with values."""
    return _attention_products(site, 2)


def _attention_backward(site: Site) -> CustomCost:
    """Count the five products of the gradient: the scores again, and four gradients."""
    return _attention_products(site, 5)


def _attention_products(site: Site, products: int) -> CustomCost:
    """Return the cost of attention: dots of queries, keys and head size, without masking.

    The order of heads and sequence varies, so the longer dimension counts as the sequence.
    """
    queries, keys = (_dimensions(site.operand(number)) for number in range(2))
    if len(queries) < _ATTENTION_RANK or len(keys) < _ATTENTION_RANK:
        raise UncountableError("queries and keys are packed together")
    flops = FMA_FLOPS * products * math.prod(queries) * max(keys[-3:-1])
    return _matched_cost(site, flops, f"{_described_call(site).basis}.", "guessed")


_ATTENTION_RANK = 4


def _neuron_kernel(site: Site) -> CustomCost:
    """Read the multiply-adds that a kernel of the Neuron Kernel Interface states."""
    text = site.instruction.attributes.get("backend_config", "").strip('"')
    try:
        config = json.loads(base64.b64decode(text[:_LONGEST_CONFIG], validate=True))
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict) or "mac_count" not in config:
        raise UncountableError("what it computes is not known")
    flops = FMA_FLOPS * _integer(config, "mac_count")
    return _matched_cost(site, flops, "The kernel's own count of multiply-adds.")


def _has_only_values(site: Site) -> bool:
    """Return whether eigenvectors are not requested: `mode = 78` is LAPACK's letter N."""
    config = site.instruction.attributes.get("backend_config", "")
    return "compute_uv = false" in config or "mode = 78 " in config


class _Matrix(Struct, frozen=True):
    """An operand with two or more dimensions; the last two are the matrix."""

    dimensions: tuple[int, ...]
    scale: int
    """Real multiplications and additions for each of its own: four for complex numbers."""

    @property
    def elements(self) -> int:
        return math.prod(self.dimensions)

    @property
    def batch(self) -> int:
        return math.prod(self.dimensions[:-2])


def _matrices(site: Site, count: int) -> list[_Matrix]:
    """Return the first operands that are matrices: old forms pass sizes and options before them."""
    shapes = [shape for shape in site.operands if len(shape.dimensions) > 1][:count]
    if len(shapes) < count:
        raise UncountableError("it has fewer matrices than it takes")
    return [
        _Matrix(_dimensions(shape), _COMPLEX if shape.element_type.startswith("c") else 1)
        for shape in shapes
    ]


def _dimensions(shape: Shape) -> tuple[int, ...]:
    sizes = tuple(size for size in shape.dimensions if size is not None)
    if len(sizes) < len(shape.dimensions):
        raise UncountableError(f"a dimension of {shape.text[:80]} is unbounded")
    return sizes


_COMPLEX = 4


def _matched_cost(site: Site, flops: int, note: str, grade: str = "matched") -> CustomCost:
    return CustomCost(Work(flops=flops), _everything(site), grade, note)


def _described_call(site: Site) -> CustomCall:
    call = find(site.instruction.call_target)
    if call is None:
        raise UncountableError("what it computes is not known")
    return call


def _everything(site: Site) -> Traffic:
    """Return operands and results; the workspace of a CUDA library is neither."""
    written = measure_data(site.shape)
    last = site.shape.elements[-1] if len(site.shape.elements) > 1 else None
    is_workspace = last is not None and last.element_type in ("u8", "s8")
    if is_workspace and last is not None and site.instruction.call_target.startswith("__cu"):
        written -= measure_data(last)
    return Traffic(sum(map(measure_data, site.operands)), written)


def _find(config: object, key: str) -> object:
    """Find a key at the top or one level below."""
    if not isinstance(config, dict):
        return None
    inner = (item for item in config.values() if isinstance(item, dict))
    return next((item[key] for item in (config, *inner) if key in item), None)


def _integer(table: dict[str, object], key: str) -> int:
    value = table.get(key, 0)
    if isinstance(value, str):
        value = next(iter(parse_integers(value)), 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UncountableError(f"{key} of the estimate is not a number")
    return value


_METHODS: dict[str, Callable[[Site], CustomCost]] = {
    "nothing": _nothing,
    "movement": _movement,
    "product": _product,
    "convolution": _convolution(_FORWARD),
    "convolution-input-gradient": _convolution(_INPUT),
    "convolution-kernel-gradient": _convolution(_KERNEL),
    "triangular-solve": _triangular_solve,
    "dense": _dense,
    "dense-quarters": _dense_quarters,
    "reflectors": _reflectors,
    "rank-update": _rank_update,
    "whole-product": _whole_product,
    "rows-product": _rows_product,
    "sparse-product": _sparse_product,
    "fourier": _fourier,
    "attention": _attention,
    "attention-backward": _attention_backward,
    "neuron-kernel": _neuron_kernel,
    "placement": _movement,
    "estimate": _by_estimate,
}
