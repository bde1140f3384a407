"""Stacked buffers that devices hold alike although they divide the work of the loop."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from xlareport.analysis.cost.stacked import StackedBuffer
from xlareport.analysis.shardings.sharding_report import ShardingReport


class UnsplitStack(Struct, frozen=True):
    """A stacked buffer that is the same on all devices along an axis of the mesh."""

    buffer: StackedBuffer
    axis: str
    """It splits matmuls of the loop that stacks the buffer."""
    devices: int
    """Along the axis."""

    @property
    def saved(self) -> int:
        """Bytes on each device that splitting it along the axis saves."""
        size = self.buffer.bytes or 0
        return size - size // self.devices


def find_unsplit_stacks(
    stacked: Iterable[StackedBuffer], shardings: ShardingReport | None
) -> tuple[UnsplitStack, ...]:
    """Return the buffers with the largest axis that could split them, the most bytes first.

    A buffer is that of a store before the partitioner by op_name, type and dimensions. Several
    stores that fit have to agree.
    """
    if shardings is None:
        return ()
    unsplit = _unsplit(stacked, shardings)
    return tuple(sorted(unsplit, key=lambda stack: (-stack.saved, stack.buffer.loop)))


def _unsplit(stacked: Iterable[StackedBuffer], shardings: ShardingReport) -> Iterator[UnsplitStack]:
    for buffer in stacked:
        fitting = {
            store.axes
            for store in shardings.split_stores
            if store.op_name == buffer.scope and store.part == buffer.shape.partition("{")[0]
        }
        axes = fitting.pop() if len(fitting) == 1 else ()
        if axes:
            axis, devices = max(axes, key=lambda pair: pair[1])
            yield UnsplitStack(buffer, axis, devices)
