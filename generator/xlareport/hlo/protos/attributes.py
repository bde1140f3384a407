"""Attributes of single opcodes, in the order in which XLA prints them."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xlareport.hlo.protos import algebra, arrays, collectives, foreign
from xlareport.hlo.protos.dimensions import gather_attributes, scatter_attributes
from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.words import Attributes, text

_Printer: TypeAlias = Callable[[Message], Attributes]


def own_attributes(instruction: Message) -> Attributes:
    """Return the attributes that the opcode brings; those without a value print nothing."""
    result: Attributes = {}
    for printer in _PRINTERS.get(text(instruction.opcode), ()):
        result |= printer(instruction)
    return result


_GATHERING = (collectives.channel, collectives.groups, arrays.dimensions, collectives.collective)
_REDUCING = (collectives.channel, collectives.groups, collectives.collective)
_CONVOLVING = (algebra.window, algebra.convolution, algebra.precision, algebra.padding_type)
_MOVING = (collectives.channel, collectives.transfer)

_PRINTERS: Mapping[str, tuple[_Printer, ...]] = {
    "all-gather": _GATHERING,
    "all-gather-start": _GATHERING,
    "all-reduce": _REDUCING,
    "all-reduce-start": _REDUCING,
    "all-to-all": (
        collectives.channel,
        collectives.groups,
        arrays.some_dimensions,
        collectives.collective,
    ),
    "async-start": (collectives.thread, foreign.aliasing),
    "async-update": (collectives.thread, foreign.aliasing),
    "batch-norm-grad": (algebra.batch_norm,),
    "batch-norm-inference": (algebra.batch_norm,),
    "batch-norm-training": (algebra.batch_norm,),
    "broadcast": (arrays.dimensions,),
    "cholesky": (algebra.cholesky,),
    "collective-broadcast": _REDUCING,
    "collective-permute": (collectives.channel, collectives.permute),
    "collective-permute-start": (collectives.channel, collectives.permute),
    "compare": (arrays.compare,),
    "concatenate": (arrays.dimensions,),
    "convolution": _CONVOLVING,
    "copy-start": (collectives.copy_start,),
    "custom-call": (*_CONVOLVING, foreign.custom_call, foreign.aliasing, foreign.custom_call_api),
    "domain": (foreign.domain,),
    "dot": (algebra.dot, algebra.precision),
    "dynamic-slice": (arrays.dynamic_slice,),
    "fft": (algebra.fft,),
    "fusion": (foreign.fusion, foreign.aliasing),
    "gather": (gather_attributes,),
    "get-dimension-size": (arrays.dimensions,),
    "get-tuple-element": (arrays.tuple_element,),
    "infeed": (foreign.infeed,),
    "iota": (arrays.iota,),
    "map": (arrays.dimensions,),
    "outfeed": (foreign.outfeed,),
    "pad": (arrays.pad,),
    "parameter": (arrays.parameter,),
    "ragged-all-to-all": _REDUCING,
    "ragged-dot": (algebra.ragged_dot, algebra.precision),
    "recv": _MOVING,
    "recv-done": _MOVING,
    "reduce": (arrays.dimensions,),
    "reduce-precision": (algebra.reduce_precision,),
    "reduce-scatter": _GATHERING,
    "reduce-window": (algebra.window,),
    "reverse": (arrays.dimensions,),
    "rng": (algebra.rng,),
    "rng-bit-generator": (algebra.rng_bits,),
    "rng-get-and-update-state": (algebra.rng_state,),
    "scan": (arrays.scan,),
    "scatter": (scatter_attributes,),
    "select-and-scatter": (algebra.window,),
    "send": _MOVING,
    "send-done": _MOVING,
    "set-dimension-size": (arrays.dimensions,),
    "slice": (arrays.static_slice,),
    "sort": (arrays.dimensions, arrays.sort),
    "topk": (arrays.topk,),
    "transpose": (arrays.dimensions,),
    "triangular-solve": (algebra.triangular,),
}
