"""Custom calls of known meaning, counted from their shapes; the others stay unknown."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from xlareport.analysis.cost.operations import NOTHING, Work
from xlareport.analysis.cost.site import Site, integers
from xlareport.analysis.cost.sizes import UncountableError, data_size, element_count
from xlareport.analysis.cost.traffic import NO_TRAFFIC, Traffic
from xlareport.analysis.cost.windows import FMA_FLOPS, convolution_flops
from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.model import Instruction
from xlareport.hlo.shape import Shape
from xlareport.knowledge.custom_call_work import custom_call_work

_LONGEST_CONFIG = 10_000_000


@dataclass(frozen=True, slots=True)
class CustomCost:
    """The cost of a custom call; work and traffic are None where they cannot be told."""

    work: Work | None
    traffic: Traffic | None
    grade: str
    note: str


def custom_cost(site: Site) -> CustomCost:
    """Count a custom call by its target, its shapes and its backend_config."""
    target = target_of(site.instruction)
    rule = custom_call_work().rule(target)
    try:
        return _METHODS[rule](site) if rule in _METHODS else _by_estimate(site)
    except UncountableError as error:
        return CustomCost(None, None, "guessed", f"custom call {target[:80]}: {error}")


def target_of(instruction: Instruction) -> str:
    """Return the `custom_call_target` without quotes; empty where there is none."""
    return instruction.attributes.get("custom_call_target", "").strip('"')


def _by_estimate(site: Site) -> CustomCost:
    """Read the cost estimate that a Pallas kernel's author gave in its backend_config."""
    estimate = _find(read_backend_config(site.instruction, _LONGEST_CONFIG), "cost_estimate")
    if not isinstance(estimate, dict):
        raise UncountableError("what it computes is not known")
    flops, transcendentals = _integer(estimate, "flops"), _integer(estimate, "transcendentals")
    moved = _integer(estimate, "bytes_accessed")
    written = min(data_size(site.shape), moved)
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
    contracting = integers(str(numbers.get("lhs_contracting_dimensions", [])))
    width = prod(site.dimension(lhs, number) for number in contracting)
    work = Work(flops=FMA_FLOPS * element_count(_result(site)) * width)
    return CustomCost(work, _everything(site), "matched", "A library product, from its shapes.")


def _convolution(site: Site) -> CustomCost:
    """Count a forward library convolution from its window."""
    result = _result(site)
    work = Work(flops=convolution_flops(site.operand(0), site.operand(1), result, site))
    return CustomCost(work, _everything(site), "matched", "A library convolution, from its shapes.")


def _convolution_input_gradient(site: Site) -> CustomCost:
    """Count the gradient by the input: the products of the forward convolution that it undoes."""
    result = _result(site)
    work = Work(flops=convolution_flops(result, site.operand(1), site.operand(0), site))
    return CustomCost(work, _everything(site), "matched", "A library convolution, from its shapes.")


def _convolution_kernel_gradient(site: Site) -> CustomCost:
    """Count the gradient by the kernel: the products of the forward convolution."""
    result = _result(site)
    work = Work(flops=convolution_flops(site.operand(0), result, site.operand(1), site))
    return CustomCost(work, _everything(site), "matched", "A library convolution, from its shapes.")


def _triangular_solve(site: Site) -> CustomCost:
    """Count a triangular solve as XLA counts its own."""
    matrix = site.operand(0)
    width = site.dimension(matrix, len(matrix.dimensions) - 1)
    work = Work(flops=FMA_FLOPS * width * element_count(site.operand(1)))
    return CustomCost(work, _everything(site), "matched", "A library solve, from its shapes.")


def _factorisation(site: Site) -> CustomCost:
    """Count an LU or Cholesky factorisation: two thirds, or a third, of the cube of the side."""
    matrix = site.operand(0)
    side = site.dimension(matrix, len(matrix.dimensions) - 1)
    share = 1 if "potrf" in target_of(site.instruction) else 2
    work = Work(flops=share * side * element_count(matrix) // 3)
    return CustomCost(work, _everything(site), "matched", "A factorisation, from its shapes.")


def _result(site: Site) -> Shape:
    """Return the result proper: library calls give their scratch memory beside it."""
    return site.shape.elements[0] if site.shape.elements else site.shape


def _everything(site: Site) -> Traffic:
    return Traffic(sum(map(data_size, site.operands)), data_size(site.shape))


def _find(config: object, key: str) -> object:
    """Find a key at the top or one level below."""
    if not isinstance(config, dict):
        return None
    inner = (item for item in config.values() if isinstance(item, dict))
    return next((item[key] for item in (config, *inner) if key in item), None)


def _integer(table: dict[str, object], key: str) -> int:
    value = table.get(key, 0)
    if isinstance(value, str):
        value = next(iter(integers(value)), 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UncountableError(f"{key} of the estimate is not a number")
    return value


_METHODS: dict[str, Callable[[Site], CustomCost]] = {
    "nothing": _nothing,
    "movement": _movement,
    "product": _product,
    "convolution": _convolution,
    "convolution-input-gradient": _convolution_input_gradient,
    "convolution-kernel-gradient": _convolution_kernel_gradient,
    "triangular-solve": _triangular_solve,
    "factorisation": _factorisation,
}
