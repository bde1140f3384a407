"""Convolution over inserted zeros.

GPU only. A convolution of a library reads an operand into which a pad inserts zeros between the
elements: a transposed convolution, or the gradient of a strided one, that XLA did not match to the
library's backward convolution. The zeros are written, read and multiplied. The finding appears if
the zeros' part of the convolutions' roofline time and of writing the operands is 2% or more of the
module. That is the upper bound of the saving.
"""

from collections.abc import Iterator

from msgspec import Struct

from xlareport.analysis.findings.arguments import copy_path
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.runtime import units

TITLE = "Convolution over inserted zeros"
LEAST_SHARE = 0.02
"""Of the module's roofline time, all of them together."""
_LIBRARY = "__cudnn$conv"
_PASSED = frozenset({"bitcast", "copy", "get-tuple-element", "reshape", "transpose"})


class _Zeros(Struct, frozen=True):
    """A convolution with the operand into which zeros are inserted."""

    seconds: float
    """Of the zeros, in all executions of a run."""
    place: InstructionKey
    operand: str
    bytes: int
    share: float
    """Part of the operand that is data."""


def inserted_zeros(case: Case) -> Iterator[Finding]:
    """Report library convolutions that read zeros which a pad inserts between elements."""
    zeros = sorted(_list_zeros(case), key=lambda item: (-item.seconds, item.place))
    if case.is_noticeable(sum(item.seconds for item in zeros), LEAST_SHARE):
        yield _finding(case, zeros)


def _list_zeros(case: Case) -> Iterator[_Zeros]:
    for computation, instruction, cost in case.scheduled:
        if not instruction.call_target.startswith(_LIBRARY):
            continue
        for operand in filter(None, computation.operands(instruction)):
            producer = copy_path(computation, operand, _PASSED)[-1]
            share = _data_share(case.module, producer)
            size = operand.shape.byte_size or 0
            if share is not None:
                written = case.time_of_bytes(size) * cost.counted
                seconds = (1 - share) * (case.least(cost) + written)
                place = (computation.name, instruction.name)
                yield _Zeros(seconds, place, producer.name, size, share)


def _data_share(module: HloModule, producer: Instruction) -> float | None:
    """Return which part of a result a pad takes from its operand; None if no zeros are between."""
    count = producer.shape.element_count
    for computation in module.callees(producer):
        for line in computation.instructions:
            source = computation.operand(line)
            is_whole = line.opcode == "pad" and line.shape.element_count == count
            if is_whole and count and source is not None and _inserts_zeros(computation, line):
                return (source.shape.element_count or 0) / count
    return None


def _inserts_zeros(computation: Computation, pad: Instruction) -> bool:
    """Return whether a pad puts zeros between the elements of its operand."""
    value = computation.operand(pad, 1)
    if value is None or not value.is_zero:
        return False
    dimensions = [part.split("_") for part in pad.attributes.get("padding", "").split("x")]
    return any(part[2:] not in ([], ["0"]) for part in dimensions)


def _finding(case: Case, zeros: list[_Zeros]) -> Finding:
    seconds = sum(item.seconds for item in zeros)
    first = zeros[0]
    return Finding(
        title=TITLE,
        places=tuple(item.place for item in zeros),
        evidence=(
            f"{units.plural(len(zeros), 'convolution')} "
            f"({join_names(item.place[1] for item in zeros)}): a pad inserts zeros between the "
            f"elements of an operand. Of the {units.byte_size(first.bytes)} of `{first.operand}`, "
            f"{first.share:.0%} is data. Multiplying, writing and reading the zeros takes at most "
            f"{case.time_words(seconds)}."
        ),
        suggestion=(
            "For a transposed convolution, reverse the kernel (conv_transpose with "
            "transpose_kernel=True in JAX and Flax), for which XLA calls the library's backward "
            "convolution, or convolve to more channels and move these into space "
            "(depth-to-space). Weights that are trained already have to be reversed."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )
