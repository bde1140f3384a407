"""Command buffers of a GPU module: thunks that are recorded once and replayed by one launch.

A profiler may show such a replay as one event, with nothing of its members.
"""

from collections.abc import Sequence

from msgspec import Struct

from xlareport.analysis.code.instruction_products import RunThunk
from xlareport.readers.thunks import find_command_buffers

MOST_MEMBERS = 5_000
"""Limit on listed members of one command buffer."""


class CommandBuffer(Struct, frozen=True):
    """A command buffer with its members in order."""

    number: int
    """From 1, in the order of the thunk sequence."""
    members: tuple[str, ...]
    """Instructions, or the thunks' names if the instructions are unknown."""
    kernels: int
    """Members that launch a kernel."""
    total: int
    """All members, those that are not listed included."""


def list_command_buffers(thunks: Sequence[RunThunk]) -> tuple[CommandBuffer, ...]:
    """Return the command buffers of a sequence, in order."""
    buffers = find_command_buffers([run.thunk for run in thunks])
    return tuple(
        _buffer(number, [thunks[place] for place in places])
        for number, places in enumerate(buffers, 1)
    )


def _buffer(number: int, members: Sequence[RunThunk]) -> CommandBuffer:
    return CommandBuffer(
        number=number,
        members=tuple(map(_thunk_name, members[:MOST_MEMBERS])),
        kernels=sum("Kernel" in run.thunk.kind for run in members),
        total=len(members),
    )


def _thunk_name(run: RunThunk) -> str:
    if run.place is not None and run.place.instruction:
        return run.place.instruction
    return run.thunk.name or run.thunk.kind
