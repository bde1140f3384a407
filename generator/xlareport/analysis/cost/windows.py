"""Windows: how often a convolution multiplies and a windowed reduction combines."""

import re
from math import gcd, prod

from msgspec import Struct

from xlareport.analysis.cost.shape_sizes import UncountableError, count_elements
from xlareport.analysis.cost.site import Site, parse_integers
from xlareport.hlo.shape import MOST_DIMENSIONS, Shape

_FIELD = re.compile(r"(?<![a-z_])([a-z_]++)=([0-9x_-]++)")
_MOST_POSITIONS = 1_000_000
_MOST_OUTPUTS = 1_000
FMA_FLOPS = 2


class WindowDimension(Struct, frozen=True):
    """One dimension of `window={...}`; the names are those of the attribute."""

    size: int
    stride: int = 1
    pad_low: int = 0
    pad_high: int = 0
    lhs_dilate: int = 1
    rhs_dilate: int = 1


def parse_window(text: str) -> tuple[WindowDimension, ...]:
    """Parse `{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x1}`; empty for an empty text."""
    fields = {name: value.split("x") for name, value in _FIELD.findall(text)}
    sizes = fields.get("size", [])[:MOST_DIMENSIONS]
    return tuple(_dimension(fields, number) for number in range(len(sizes)))


def count_convolution_flops(lhs: Shape, rhs: Shape, result: Shape, site: Site) -> int:
    """Return two flops for each product of an input, a kernel and an output element that meet."""
    attributes = site.instruction.attributes
    inputs, kernels, outputs = _labels(attributes.get("dim_labels", ""))
    window = parse_window(attributes.get("window", ""))
    positions = 1
    for number, dimension in enumerate(window):
        label = str(number)
        positions *= count_valid_positions(
            dimension,
            _labeled(site, lhs, inputs, label),
            _labeled(site, rhs, kernels, label),
            _labeled(site, result, outputs, label),
        )
    features = _labeled(site, lhs, inputs, "f") // _group_count(site, "feature_group_count")
    batches = _labeled(site, lhs, inputs, "b") // _group_count(site, "batch_group_count")
    return FMA_FLOPS * features * batches * _labeled(site, result, outputs, "f") * positions


def count_valid_positions(window: WindowDimension, inputs: int, kernels: int, outputs: int) -> int:
    """Return the number of (kernel, output) positions of a dimension with an input element.

    Linear in the smaller of the two; raises UncountableError beyond a million positions.
    """
    steps, others = (window.rhs_dilate, kernels), (window.stride, outputs)
    if others[1] < steps[1]:
        steps, others = others, steps
    if steps[1] > _MOST_POSITIONS:
        raise UncountableError("the window is too large")
    offsets = (step * steps[0] - window.pad_low for step in range(steps[1]))
    last = (inputs - 1) * window.lhs_dilate
    return sum(_hits(offset, others[0], others[1], last, window.lhs_dilate) for offset in offsets)


def count_most_products(window: WindowDimension, inputs: int, outputs: int) -> int | None:
    """Return how many kernel positions meet an input element, of the output where most do.

    None if a dilated dimension has more than a thousand outputs.
    """
    if window.lhs_dilate == window.rhs_dilate == 1:
        return min(window.size, inputs)
    if outputs > _MOST_OUTPUTS:
        return None
    last = (inputs - 1) * window.lhs_dilate
    offsets = (output * window.stride - window.pad_low for output in range(outputs))
    hits = (
        _hits(offset, window.rhs_dilate, window.size, last, window.lhs_dilate) for offset in offsets
    )
    return max(hits, default=0)


def count_reduce_window(site: Site) -> int:
    """Return how often a reduce-window applies its computation.

    Like XLA, a window that reduces one whole dimension and spreads the result again counts as a
    reduction and a broadcast.
    """
    window = parse_window(site.instruction.attributes.get("window", ""))
    result = site.shape.first
    outputs = count_elements(result)
    if not site.shape.elements:
        spread = _spread_dimension(site, window)
        if spread is not None:
            return outputs // max(spread, 1) + spread - 1
    return (prod(window_dimension.size for window_dimension in window) - 1) * outputs


def _spread_dimension(site: Site, window: tuple[WindowDimension, ...]) -> int | None:
    reducing = [n for n, window_dimension in enumerate(window) if window_dimension.size != 1]
    padded = [
        window_dimension
        for window_dimension in window
        if window_dimension.pad_low or window_dimension.pad_high
    ]
    if len(reducing) != 1 or len(padded) != 1:
        return None
    window_dimension = window[reducing[0]]
    if (
        not window_dimension.pad_low
        or window_dimension.pad_low != window_dimension.pad_high
        or window_dimension.size != 2 * window_dimension.pad_low + 1
    ):
        return None
    size = site.dimension(site.shape, reducing[0])
    return size if window_dimension.pad_low == size - 1 else None


def _dimension(fields: dict[str, list[str]], number: int) -> WindowDimension:
    low, high = (*_entry(fields, "pad", number, (0, 0)), 0)[:2]
    return WindowDimension(
        size=_entry(fields, "size", number, (1,))[0],
        stride=_entry(fields, "stride", number, (1,))[0],
        pad_low=low,
        pad_high=high,
        lhs_dilate=_entry(fields, "lhs_dilate", number, (1,))[0],
        rhs_dilate=_entry(fields, "rhs_dilate", number, (1,))[0],
    )


def _entry(
    fields: dict[str, list[str]], name: str, number: int, default: tuple[int, ...]
) -> tuple[int, ...]:
    values = fields.get(name, [])
    return (
        (parse_integers(values[number].replace("_", " ")) or default)
        if number < len(values)
        else default
    )


def _labels(text: str) -> tuple[str, str, str]:
    """Split `b01f_01io->b01f` into the labels of input, kernel and output."""
    operands, _, outputs = text.partition("->")
    inputs, _, kernels = operands.partition("_")
    if not outputs:
        raise UncountableError("no dim_labels")
    return inputs, kernels, outputs


def _labeled(site: Site, shape: Shape, labels: str, label: str) -> int:
    return site.dimension(shape, labels.find(label))


def _group_count(site: Site, attribute: str) -> int:
    return max(1, *site.numbers(attribute), 1)


def _hits(offset: int, step: int, count: int, last: int, dilation: int) -> int:
    """Count k in [0, count) with 0 <= offset + k*step <= last, a multiple of the dilation."""
    if step <= 0 or dilation <= 0:
        raise UncountableError("a stride or dilation below one")
    low = max(0, -(offset // step))
    high = min(count - 1, (last - offset) // step)
    common = gcd(step, dilation)
    if offset % common or high < low:
        return 0
    period = dilation // common
    first = (-offset // common) * pow(step // common, -1, period) % period if period > 1 else 0
    start = low + (first - low) % period
    return (high - start) // period + 1 if start <= high else 0
