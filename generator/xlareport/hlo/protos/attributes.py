"""Attributes of single opcodes and called computations as text, in the order of XLA."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xlareport.hlo.protos.dimensions import convolution_text, padding_text, slice_text, window_text
from xlareport.hlo.protos.literals import float_text
from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.shapes import shape_text
from xlareport.hlo.protos.shardings import device_groups, sharding_text
from xlareport.hlo.protos.text_pieces import (
    Attributes,
    braces,
    flag,
    numbered,
    quoted,
    set_flag,
    text,
    word,
)
from xlareport.hlo.quoting import escape

_TO_APPLY = "to_apply"
_NAMES = {
    "all-reduce": (_TO_APPLY,),
    "all-reduce-start": (_TO_APPLY,),
    "call": (_TO_APPLY,),
    "map": (_TO_APPLY,),
    "reduce": (_TO_APPLY,),
    "reduce-scatter": (_TO_APPLY,),
    "reduce-window": (_TO_APPLY,),
    "scan": (_TO_APPLY,),
    "scatter": (_TO_APPLY,),
    "select-and-scatter": ("select", "scatter"),
    "sort": (_TO_APPLY,),
}


def call_attributes(opcode: str, called: Sequence[str], *, by_predicate: bool) -> dict[str, str]:
    """Return the call attributes; `by_predicate` is for a conditional on a pred."""
    names = [f"%{name}" for name in called]
    if not names or opcode in {"async-update", "async-done"}:
        return {}
    if opcode == "while" and len(names) == 2:
        # The proto holds the body first, the text the condition.
        return {"condition": names[1], "body": names[0]}
    if opcode == "conditional" and by_predicate and len(names) == 2:
        return {"true_computation": names[0], "false_computation": names[1]}
    if len(names) == len(_NAMES.get(opcode, ())):
        return dict(zip(_NAMES[opcode], names, strict=True))
    return _called_attribute(opcode, names)


def _called_attribute(opcode: str, names: Sequence[str]) -> dict[str, str]:
    several = "{" + ", ".join(names) + "}"
    if opcode == "conditional":
        return {"branch_computations": several}
    if opcode == "custom-call":
        return {"called_computations": several}
    return {"calls": names[0] if len(names) == 1 else several}


_Printer: TypeAlias = Callable[[Message], Attributes]


def own_attributes(instruction: Message) -> Attributes:
    """Return the attributes of the opcode; those without a value are not printed."""
    result: Attributes = {}
    for printer in _PRINTERS.get(text(instruction.opcode), ()):
        result |= printer(instruction)
    return result


def comparison_order(instruction: Message, *, of_floats: bool) -> Attributes:
    """Return a comparison's `order` attribute, unless it is the default of its operand type."""
    old = "TOTAL" if instruction.comparison_type == b"TOTALORDER" else ""
    order = text(instruction.comparison_order) or old
    return {"order": order} if order and order != ("PARTIAL" if of_floats else "TOTAL") else {}


def _list(values: Sequence[int]) -> str:
    return braces(values) if values else ""


def _flags(*names: str) -> _Printer:
    """Return the printer of fields that XLA prints only where they are set."""
    return lambda value: {name: set_flag(getattr(value, name)) for name in names}


def _print_numbers(*names: str) -> _Printer:
    return lambda value: {name: str(getattr(value, name)) for name in names}


def _lists(*names: str) -> _Printer:
    return lambda value: {name: braces(getattr(value, name)) for name in names}


# What computes: convolutions, products, solvers, random numbers.


def _window(value: Message) -> Attributes:
    return {"window": window_text(value.window)}


def _convolution(value: Message) -> Attributes:
    numbers = value.convolution_dimension_numbers
    shown = value.HasField("convolution_dimension_numbers")
    return {
        "dim_labels": convolution_text(numbers) if shown else "",
        "feature_group_count": _unless_one(value.feature_group_count),
        "batch_group_count": _unless_one(value.batch_group_count),
    }


def _unless_one(count: int) -> str:
    return str(count) if count > 1 else ""


def _precision(value: Message) -> Attributes:
    config = value.precision_config
    shown = any(config.operand_precision)
    precisions = (word("precision", number) for number in config.operand_precision)
    return {
        "operand_precision": braces(precisions) if shown else "",
        "algorithm": word("algorithm", config.algorithm),
    }


def _dot_dimensions(numbers: Message) -> Attributes:
    """Return the four lists of dimensions, without batch dimensions where there are none."""
    return {
        "lhs_batch_dims": _list(numbers.lhs_batch_dimensions),
        "lhs_contracting_dims": braces(numbers.lhs_contracting_dimensions),
        "rhs_batch_dims": _list(numbers.rhs_batch_dimensions),
        "rhs_contracting_dims": braces(numbers.rhs_contracting_dimensions),
    }


def _ragged_dot(value: Message) -> Attributes:
    numbers = value.ragged_dot_dimension_numbers
    return _dot_dimensions(numbers.dot_dimension_numbers) | {
        "lhs_ragged_dims": braces(numbers.lhs_ragged_dimensions),
        "rhs_group_dims": braces(numbers.rhs_group_dimensions),
    }


def _triangular(value: Message) -> Attributes:
    options = value.triangular_solve_options
    return _flags("left_side", "lower", "unit_diagonal")(options) | {
        "transpose_a": word("transpose", options.transpose_a)
    }


# What moves, cuts and compares arrays.


def _gather(value: Message) -> Attributes:
    numbers = value.gather_dimension_numbers
    return {
        "offset_dims": braces(numbers.offset_dims),
        "collapsed_slice_dims": braces(numbers.collapsed_slice_dims),
        "start_index_map": braces(numbers.start_index_map),
        "operand_batching_dims": _list(numbers.operand_batching_dims),
        "start_indices_batching_dims": _list(numbers.start_indices_batching_dims),
        "index_vector_dim": str(numbers.index_vector_dim),
        "slice_sizes": braces(value.gather_slice_sizes),
        "indices_are_sorted": set_flag(value.indices_are_sorted),
    }


def _scatter(value: Message) -> Attributes:
    numbers = value.scatter_dimension_numbers
    return {
        "update_window_dims": braces(numbers.update_window_dims),
        "inserted_window_dims": braces(numbers.inserted_window_dims),
        "scatter_dims_to_operand_dims": braces(numbers.scatter_dims_to_operand_dims),
        "input_batching_dims": _list(numbers.input_batching_dims),
        "scatter_indices_batching_dims": _list(numbers.scatter_indices_batching_dims),
        "index_vector_dim": str(numbers.index_vector_dim),
        "indices_are_sorted": set_flag(value.indices_are_sorted),
        "unique_indices": set_flag(value.unique_indices),
    }


def _iota(value: Message) -> Attributes:
    return {"iota_dimension": str(value.dimensions[0]) if value.dimensions else ""}


def _parameter(value: Message) -> Attributes:
    """Return which leaves are the same on all replicas."""
    leaves = value.parameter_replication.replicated_at_leaf_buffers
    return {"parameter_replication": braces(map(flag, leaves)) if leaves else ""}


def _scan(value: Message) -> Attributes:
    return {
        "dimensions": braces(value.dimensions),
        "is_reverse": set_flag(value.is_reverse),
        "num_carries": str(value.num_carries),
        "is_associative": set_flag(value.is_associative),
    }


# What devices do together, and transfers to the host.


def _channel(value: Message) -> Attributes:
    """Return the channel; XLA prints none that is not positive."""
    return {"channel_id": str(value.channel_id) if value.channel_id > 0 else ""}


def _print_groups(value: Message) -> Attributes:
    return {"replica_groups": device_groups(value)}


def _permute(value: Message) -> Attributes:
    pairs = (braces((pair.source, pair.target)) for pair in value.source_target_pairs)
    return {"source_target_pairs": braces(pairs)}


def _copy_start(value: Message) -> Attributes:
    name = "cross_program_prefetch_index"
    return {name: str(value.cross_program_prefetch_index) if value.HasField(name) else ""}


def _thread(value: Message) -> Attributes:
    thread = value.async_execution_thread
    return {"async_execution_thread": "" if thread == b"main" else quoted(thread)}


# Calls into other code: custom calls, fusions, feeds, domains.


def _custom_call(value: Message) -> Attributes:
    shapes = numbered([shape_text(shape) for shape in value.operand_shapes_with_layout])
    return {
        "custom_call_target": f'"{escape(text(value.custom_call_target))}"',
        "operand_layout_constraints": f"{{{shapes}}}" if value.constrain_layout else "",
        "custom_call_has_side_effect": set_flag(value.custom_call_has_side_effect),
    }


def _custom_call_api(value: Message) -> Attributes:
    return {
        "schedule": word("schedule", value.custom_call_schedule),
        "api_version": word("api_version", value.custom_call_api_version),
    }


def _aliasing(value: Message) -> Attributes:
    """Return which outputs are operands."""
    pairs = [
        f"{braces(pair.output_shape_index)}: ({pair.operand_index}, "
        f"{braces(pair.operand_shape_index)})"
        for pair in value.output_operand_aliasing
    ]
    return {"output_to_operand_aliasing": "{" + ", ".join(pairs) + "}" if pairs else ""}


def _outfeed(value: Message) -> Attributes:
    shape = shape_text(value.outfeed_shape) if value.HasField("outfeed_shape") else ""
    return {"outfeed_shape": shape, "outfeed_config": quoted(value.outfeed_config)}


def _domain(value: Message) -> Attributes:
    entry, leave = map(sharding_text, (value.domain_entry_sharding, value.domain_exit_sharding))
    return {"domain": f'{{kind="sharding", entry={entry}, exit={leave}}}'}


_dimensions = _lists("dimensions")
_collective = _flags("constrain_layout", "use_global_device_ids")
_PERMUTING = (_channel, _permute)
_GATHERING = (_channel, _print_groups, _dimensions, _collective)
_REDUCING = (_channel, _print_groups, _collective)
_MOVING = (_channel, _flags("is_host_transfer"))
_NORMALIZING: tuple[_Printer, ...] = (
    lambda value: {"epsilon": float_text(value.epsilon, 24)},
    _print_numbers("feature_index"),
)
_CONVOLVING: tuple[_Printer, ...] = (
    _window,
    _convolution,
    _precision,
    lambda value: {"padding_type": word("padding", value.padding_type)},
)

_PRINTERS: Mapping[str, tuple[_Printer, ...]] = {
    "all-gather": _GATHERING,
    "all-gather-start": _GATHERING,
    "all-reduce": _REDUCING,
    "all-reduce-start": _REDUCING,
    "all-to-all": (
        *(_channel, _print_groups),
        lambda value: {"dimensions": _list(value.dimensions)},
        _collective,
    ),
    "async-start": (_thread, _aliasing),
    "async-update": (_thread, _aliasing),
    "batch-norm-grad": _NORMALIZING,
    "batch-norm-inference": _NORMALIZING,
    "batch-norm-training": _NORMALIZING,
    "broadcast": (_dimensions,),
    "cholesky": (lambda value: {"lower": set_flag(value.cholesky_options.lower)},),
    "collective-broadcast": _REDUCING,
    "collective-permute": _PERMUTING,
    "collective-permute-start": _PERMUTING,
    "compare": (lambda value: {"direction": text(value.comparison_direction)},),
    "concatenate": (_dimensions,),
    "convolution": _CONVOLVING,
    "copy-start": (_copy_start,),
    "custom-call": (*_CONVOLVING, _custom_call, _aliasing, _custom_call_api),
    "domain": (_domain,),
    "dot": (lambda value: _dot_dimensions(value.dot_dimension_numbers), _precision),
    "dynamic-slice": (_lists("dynamic_slice_sizes"),),
    "fft": (
        lambda value: {"fft_type": word("fft", value.fft_type)},
        _lists("fft_length"),
    ),
    "fusion": (lambda value: {"kind": text(value.fusion_kind)}, _aliasing),
    "gather": (_gather,),
    "get-dimension-size": (_dimensions,),
    "get-tuple-element": (lambda value: {"index": str(value.tuple_index)},),
    "infeed": (lambda value: {"infeed_config": quoted(value.infeed_config)},),
    "iota": (_iota,),
    "map": (_dimensions,),
    "outfeed": (_outfeed,),
    "pad": (lambda value: {"padding": padding_text(value.padding_config)},),
    "parameter": (_parameter,),
    "ragged-all-to-all": _REDUCING,
    "ragged-dot": (_ragged_dot, _precision),
    "recv": _MOVING,
    "recv-done": _MOVING,
    "reduce": (_dimensions,),
    "reduce-precision": (_print_numbers("exponent_bits", "mantissa_bits"),),
    "reduce-scatter": _GATHERING,
    "reduce-window": (_window,),
    "reverse": (_dimensions,),
    "rng": (lambda value: {"distribution": word("distribution", value.distribution)},),
    "rng-bit-generator": (lambda value: {"algorithm": word("rng", value.rng_algorithm)},),
    "rng-get-and-update-state": (_print_numbers("delta"),),
    "scan": (_scan,),
    "scatter": (_scatter,),
    "select-and-scatter": (_window,),
    "send": _MOVING,
    "send-done": _MOVING,
    "set-dimension-size": (_dimensions,),
    "slice": (lambda value: {"slice": slice_text(value.slice_dimensions)},),
    "sort": (_dimensions, _flags("is_stable")),
    "topk": (_print_numbers("k"), lambda value: {"largest": flag(value.largest)}),
    "transpose": (_dimensions,),
    "triangular-solve": (_triangular,),
}
