"""Command buffers in a thunk sequence: thunks that are recorded once and replayed by one launch."""

from collections.abc import Sequence

from xlareport.readers.thunks import Thunk

_KIND = "kCommandBuffer"


def find_command_buffers(thunks: Sequence[Thunk]) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the members of each command buffer in a sequence, in order.

    Members follow their command buffer with a greater depth.
    """
    buffers: list[list[int]] = []
    depth: int | None = None
    for place, thunk in enumerate(thunks):
        if depth is not None and thunk.depth > depth:
            buffers[-1].append(place)
        elif thunk.kind == _KIND:
            depth = thunk.depth
            buffers.append([])
        else:
            depth = None
    return tuple(map(tuple, buffers))
