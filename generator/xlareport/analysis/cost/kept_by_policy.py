"""Values that a policy of jax.checkpoint keeps for the backward pass."""

from collections.abc import Iterator, Sequence

from xlareport.analysis.cost.stacked import StackedBuffer
from xlareport.hlo.model import HloModule
from xlareport.hlo.shape import MANTISSA_BITS


def find_kept_by_policy(
    before: HloModule | None, stacked: Sequence[StackedBuffer]
) -> tuple[StackedBuffer, ...]:
    """Return the stacked buffers of values that a policy keeps, by the program before optimization.

    JAX marks each such float with a reduce-precision to its own type, so that XLA does not keep it
    in a wider one.
    """
    marks = set(_list_marks(before)) if before is not None else set()
    return tuple(
        buffer
        for buffer in stacked
        if any(
            buffer.stored.endswith(f"/{name}") and buffer.shape.partition("[")[0] == element
            for name, element in marks
        )
    )


def _list_marks(module: HloModule) -> Iterator[tuple[str, str]]:
    """Yield (op_name, element type) of each marked value."""
    for computation in module.computations:
        for mark in computation.instructions:
            element = mark.shape.element_type
            if mark.opcode != "reduce-precision":
                continue
            if mark.attributes.get("mantissa_bits") != str(MANTISSA_BITS.get(element)):
                continue  # it changes the value
            value = computation.operand(mark)
            if value is not None and value.metadata.op_name:
                yield value.metadata.op_name, element
