"""Calls of GPU libraries as the HLO that they represent: cuBLAS GEMMs, plain cuDNN convolutions.

The opposite of XLA's `GemmRewriter` and `ConvRewriter`. What has an epilogue other than a bias, or
scales, is refused by name.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from xlareport.hlo.shape import Shape, parse_shape
from xlareport.replay.runnable_program import Line, NotRunnableError

_GEMMS = frozenset({"__cublas$gemm", "__cublas$lt$matmul"})
_CONVOLUTIONS = frozenset(
    {"__cudnn$convForward", "__cudnn$convBackwardInput", "__cudnn$convBackwardFilter"}
)
LIBRARY_CALLS = _GEMMS | _CONVOLUTIONS
_LONGEST_CONFIG = 20_000
_LABELS = re.compile(r"(\w{2,6})_(\w{2,6})->(\w{2,6})", re.ASCII)
_SIZES = re.compile(r"\d{1,9}(?:x\d{1,9}){0,3}", re.ASCII)
_PADS = re.compile(r"-?\d{1,9}_-?\d{1,9}(?:x-?\d{1,9}_-?\d{1,9}){0,3}", re.ASCII)


def plain_lines(line: Line, shapes: Mapping[str, Shape]) -> Iterator[Line]:
    """Yield the lines for a call of a library; raises NotRunnableError."""
    attributes = dict(line.attributes)
    target = line.call_target
    is_tuple = line.shape.element_type == "tuple"
    result = line.shape.elements[0] if is_tuple else line.shape
    if is_tuple and len(line.shape.elements) != 2:
        raise _refused(line, target, "it has several results")
    name = f"{line.name}.result" if is_tuple else line.name
    plain = replace(
        line, name=name, shape=result, attributes=(), is_root=not is_tuple and line.is_root
    )
    if target in _GEMMS:
        yield from _gemm(plain, target, _config(attributes, "gemm_backend_config"))
    else:
        yield _convolution(plain, target, attributes, shapes)
    if is_tuple:
        yield from _with_workspace(line, name)


def _with_workspace(line: Line, name: str) -> Iterator[Line]:
    """Yield the tuple of the result and of the memory that the library worked in: zeros here."""
    space = line.shape.elements[1]
    zero, zeros = f"{line.name}.zero", f"{line.name}.workspace"
    yield Line(zero, "constant", parse_shape(f"{space.element_type}[]"), (), "0")
    yield Line(zeros, "broadcast", space, (zero,), attributes=(("dimensions", "{}"),))
    yield Line(line.name, "tuple", line.shape, (name, zeros), is_root=line.is_root)


def _refused(line: Line, target: str, reason: str) -> NotRunnableError:
    return NotRunnableError(f"it has the custom call {target!r} and {reason} ({line.name})")


def _config(attributes: Mapping[str, str], part: str) -> Mapping[str, Any]:
    text = attributes.get("backend_config", "")
    if len(text) > _LONGEST_CONFIG:
        return {}
    try:
        value = json.loads(text)
        value = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return {}
    held = value.get(part, value) if isinstance(value, dict) else None
    return held if isinstance(held, dict) else {}


def _gemm(line: Line, target: str, config: Mapping[str, Any]) -> Iterator[Line]:
    """Yield alpha * dot + beta * C + bias."""
    numbers = config.get("dot_dimension_numbers")
    alpha, beta = (_number_or_none(config.get(name)) for name in ("alpha_real", "beta"))
    epilogue = config.get("epilogue", "DEFAULT")
    if not isinstance(numbers, dict) or alpha is None or beta is None:
        raise _refused(line, target, "its configuration is not known")
    if config.get("alpha_imag", 0) != 0 or epilogue not in {"DEFAULT", "BIAS"}:
        raise _refused(line, target, f"its epilogue is {str(epilogue)[:40]}")
    has_bias = epilogue == "BIAS"
    if len(line.operands) != 2 + bool(beta) + has_bias:
        raise _refused(line, target, f"it has {len(line.operands)} operands")
    product = f"{line.name}.dot"
    sum_ = [product if alpha == 1 else f"{line.name}.scaled"]
    yield replace(
        line,
        name=product,
        opcode="dot",
        operands=line.operands[:2],
        attributes=tuple(_dot_attributes(numbers)),
        is_root=False,
    )
    if alpha != 1:
        yield from _scaled(line, product, alpha, sum_[0])
    if beta:
        addend = line.operands[2]
        if beta != 1:
            yield from _scaled(line, addend, beta, f"{line.name}.addend")
            addend = f"{line.name}.addend"
        sum_.append(addend)
    if has_bias:
        along = (("dimensions", f"{{{len(line.shape.dimensions) - 1}}}"),)
        bias = f"{line.name}.bias"
        yield Line(bias, "broadcast", line.shape, line.operands[-1:], attributes=along)
        sum_.append(bias)
    yield from _sum(line, sum_)


def _number_or_none(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _scaled(line: Line, operand: str, factor: float, name: str) -> Iterator[Line]:
    scalar = parse_shape(f"{line.shape.element_type}[]")
    constant, spread = f"{name}.factor", f"{name}.factors"
    yield Line(constant, "constant", scalar, (), repr(float(factor)))
    yield Line(spread, "broadcast", line.shape, (constant,), attributes=(("dimensions", "{}"),))
    yield Line(name, "multiply", line.shape, (operand, spread))


def _sum(line: Line, names: list[str]) -> Iterator[Line]:
    """Yield the sum of values, under the name of the line."""
    if len(names) == 1:
        yield replace(line, opcode="copy", operands=(names[0],))
        return
    partial = names[0]
    for place, name in enumerate(names[1:], 1):
        is_last = place == len(names) - 1
        total = line.name if is_last else f"{line.name}.sum{place}"
        yield Line(total, "add", line.shape, (partial, name), is_root=is_last and line.is_root)
        partial = total


def _dot_attributes(numbers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for side in ("lhs", "rhs"):
        for kind, name in (("batch", "batch_dims"), ("contracting", "contracting_dims")):
            listed = numbers.get(f"{side}_{kind}_dimensions", [])
            places = [str(int(place)) for place in listed if str(place).isdigit()]
            if places:
                yield f"{side}_{name}", "{" + ",".join(places) + "}"


class _Window(Struct, frozen=True):
    """The window of a forward convolution, by spatial dimension."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    dilations: tuple[int, ...]


class _Labels(Struct, frozen=True):
    """The kind of each dimension: b, f and o, i are batch and features, digits are spatial."""

    left: str
    right: str
    result: str


def _convolution(
    line: Line, target: str, attributes: Mapping[str, str], shapes: Mapping[str, Shape]
) -> Line:
    config = _config(attributes, "cudnn_conv_backend_config")
    plain = config.get("activation_mode", "kNone") == "kNone" and not config.get("side_input_scale")
    if not config or not plain or config.get("conv_result_scale", 1) != 1:
        raise _refused(line, target, "its configuration is not a plain convolution")
    if len(line.operands) != 2 or "batch_group_count" in attributes:
        raise _refused(line, target, "it is not of two operands in one group")
    if target == "__cudnn$convForward":
        names = ("window", "dim_labels", "feature_group_count")
        of_convolution = tuple((name, attributes[name]) for name in names if name in attributes)
        return replace(line, opcode="convolution", attributes=of_convolution)
    match = _LABELS.fullmatch(attributes.get("dim_labels", ""))
    if match is None or "feature_group_count" in attributes:
        raise _refused(line, target, "its dimensions are not known")
    labels = _Labels(match[1], match[2], match[3])
    rank = sum(label.isdigit() for label in labels.result)
    window = _read_window(attributes.get("window", ""), rank)
    if window is None:
        raise _refused(line, target, "its window is not known")
    operands = [shapes[operand] for operand in line.operands]
    make = _filter_gradient if target.endswith("Filter") else _input_gradient
    return replace(
        line, opcode="convolution", attributes=make(labels, window, operands, line.shape)
    )


def _read_window(text: str, rank: int) -> _Window | None:
    if not rank:
        return None
    parts = dict(part.split("=", 1) for part in text.strip("{}").split() if "=" in part)
    if parts.keys() - {"size", "stride", "pad", "rhs_dilate"}:
        return None
    ones = "x".join(["1"] * rank)
    lists = []
    for name in ("size", "stride", "rhs_dilate"):
        written = parts.get(name, ones)
        if not _SIZES.fullmatch(written):
            return None
        lists.append(tuple(map(int, written.split("x"))))
    pad = parts.get("pad", "x".join(["0_0"] * rank))
    if not _PADS.fullmatch(pad):
        return None
    pairs = [tuple(map(int, bounds.split("_"))) for bounds in pad.split("x")]
    pads = tuple((low, high) for low, high in pairs)
    window = _Window(lists[0], lists[1], pads, lists[2])
    return window if {len(pads), *map(len, lists)} == {rank} else None


def _spatial(shape: Shape, labels: str, place: int) -> int:
    return shape.dimensions[labels.index(str(place))] or 0


def _filter_gradient(
    labels: _Labels, window: _Window, operands: list[Shape], result: Shape
) -> tuple[tuple[str, str], ...]:
    """Convolve the input with the gradient: batches are summed, strides become dilations."""
    given, gradient = operands
    sizes, pads = [], []
    for place, (low, _) in enumerate(window.pads):
        size = _spatial(gradient, labels.result, place)
        wanted = (_spatial(result, labels.right, place) - 1) * window.dilations[place]
        reach = (size - 1) * window.strides[place] + 1
        sizes.append(size)
        pads.append((low, wanted + reach - _spatial(given, labels.left, place) - low))
    left = labels.left.translate(str.maketrans("bf", "fb"))
    right = labels.result.translate(str.maketrans("bf", "io"))
    out = labels.right.translate(str.maketrans("io", "bf"))
    return _attributes(
        _window_text(sizes, stride=window.dilations, pads=pads, rhs_dilate=window.strides),
        f"{left}_{right}->{out}",
    )


def _input_gradient(
    labels: _Labels, window: _Window, operands: list[Shape], result: Shape
) -> tuple[tuple[str, str], ...]:
    """Convolve the gradient with the reversed filter; strides become dilations of the gradient."""
    gradient, _ = operands
    pads = []
    for place, (low, _high) in enumerate(window.pads):
        reach = (window.sizes[place] - 1) * window.dilations[place]
        before = reach - low
        spread = (_spatial(gradient, labels.result, place) - 1) * window.strides[place] + 1
        pads.append((before, _spatial(result, labels.left, place) - spread + reach - before))
    right = labels.right.translate(str.maketrans("io", "oi"))
    text = _window_text(
        window.sizes,
        pads=pads,
        lhs_dilate=window.strides,
        rhs_dilate=window.dilations,
        rhs_reversal=tuple(1 for _ in window.sizes),
    )
    return _attributes(text, f"{labels.result}_{right}->{labels.left}")


def _window_text(sizes: Any, *, pads: list[tuple[int, int]], **lists: tuple[int, ...]) -> str:
    parts = [f"size={'x'.join(map(str, sizes))}"]
    parts.append("pad=" + "x".join(f"{low}_{high}" for low, high in pads))
    for name, values in lists.items():
        if name == "rhs_reversal" or set(values) != {1}:
            parts.append(f"{name}={'x'.join(map(str, values))}")
    return "{" + " ".join(parts) + "}"


def _attributes(window: str, labels: str) -> tuple[tuple[str, str], ...]:
    return ("window", window), ("dim_labels", labels)
