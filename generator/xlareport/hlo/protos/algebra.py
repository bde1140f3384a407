"""Attributes of what computes: convolutions, products, solvers, random numbers."""

from xlareport.hlo.protos.dimensions import convolution_text, dot_attributes, window_text
from xlareport.hlo.protos.enums import word
from xlareport.hlo.protos.floats import float_text
from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.words import Attributes, braces, set_flag


def fft(value: Message) -> Attributes:
    """Return kind and lengths."""
    return {"fft_type": word("fft", value.fft_type), "fft_length": braces(value.fft_length)}


def batch_norm(value: Message) -> Attributes:
    """Return the small summand and the dimension of features."""
    return {"epsilon": float_text(value.epsilon, 24), "feature_index": str(value.feature_index)}


def window(value: Message) -> Attributes:
    """Return the window."""
    return {"window": window_text(value.window)}


def convolution(value: Message) -> Attributes:
    """Return what the dimensions mean, and groups where there are several."""
    numbers = value.convolution_dimension_numbers
    shown = value.HasField("convolution_dimension_numbers")
    return {
        "dim_labels": convolution_text(numbers) if shown else "",
        "feature_group_count": _unless_one(value.feature_group_count),
        "batch_group_count": _unless_one(value.batch_group_count),
    }


def _unless_one(count: int) -> str:
    return str(count) if count > 1 else ""


def precision(value: Message) -> Attributes:
    """Return the precisions where one is not the default, and the algorithm."""
    config = value.precision_config
    shown = any(config.operand_precision)
    precisions = (word("precision", number) for number in config.operand_precision)
    return {
        "operand_precision": braces(precisions) if shown else "",
        "algorithm": word("algorithm", config.algorithm),
    }


def padding_type(value: Message) -> Attributes:
    """Return how a dynamic convolution pads."""
    return {"padding_type": word("padding", value.padding_type)}


def dot(value: Message) -> Attributes:
    """Return the dimensions."""
    return dot_attributes(value.dot_dimension_numbers)


def ragged_dot(value: Message) -> Attributes:
    """Return the dimensions."""
    numbers = value.ragged_dot_dimension_numbers
    return dot_attributes(numbers.dot_dimension_numbers) | {
        "lhs_ragged_dims": braces(numbers.lhs_ragged_dimensions),
        "rhs_group_dims": braces(numbers.rhs_group_dimensions),
    }


def triangular(value: Message) -> Attributes:
    """Return the options."""
    options = value.triangular_solve_options
    return {
        "left_side": set_flag(options.left_side),
        "lower": set_flag(options.lower),
        "unit_diagonal": set_flag(options.unit_diagonal),
        "transpose_a": word("transpose", options.transpose_a),
    }


def cholesky(value: Message) -> Attributes:
    """Return which triangle."""
    return {"lower": set_flag(value.cholesky_options.lower)}


def rng(value: Message) -> Attributes:
    """Return the distribution."""
    return {"distribution": word("distribution", value.distribution)}


def rng_bits(value: Message) -> Attributes:
    """Return the algorithm."""
    return {"algorithm": word("rng", value.rng_algorithm)}


def rng_state(value: Message) -> Attributes:
    """Return by how much the state grows."""
    return {"delta": str(value.delta)}


def reduce_precision(value: Message) -> Attributes:
    """Return the bits of exponent and mantissa."""
    return {"exponent_bits": str(value.exponent_bits), "mantissa_bits": str(value.mantissa_bits)}
