"""Command buffers of a GPU program: launches that are recorded once and replayed as one.

XLA forms them from thunks, after the last HLO text was written; the thunk sequence of the dump
lists their members. Older XLA wrote them into the HLO as calls of `command_buffer` computations.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace

from xlareport.analysis.code.kernel_links import name_kernel
from xlareport.analysis.skeleton.items import SkeletonItem, total_seconds
from xlareport.program import CodeNotes
from xlareport.readers.thunks import find_command_buffers

_COMPUTATION = "command_buffer"
_EXACT = "members from the thunk metadata"
_MATCHED = "members matched by the names of their kernels"


def in_command_buffers(items: Sequence[SkeletonItem], code: CodeNotes) -> tuple[SkeletonItem, ...]:
    """Return the items of the entry computation; members of a command buffer are in it.

    Items that run nothing on the device, such as the end of a collective, stay where they are.
    """
    called = tuple(_as_buffer(item) for item in items)
    buffers, note = _members(code)
    if not buffers:
        return called
    with_buffers: list[SkeletonItem] = []
    places = [buffers.get(item.name, buffers.get(name_kernel(item.name))) for item in called]
    for number, group in groupby(zip(places, called, strict=True), key=lambda pair: pair[0]):
        members = tuple(item for _, item in group)
        if number is None:
            with_buffers += members
        else:
            with_buffers.append(_buffer(number, members, note))
    return tuple(with_buffers)


def recorded_names(code: CodeNotes) -> frozenset[str] | None:
    """Return the names of kernels and instructions in command buffers; None without thunks."""
    return frozenset(_members(code)[0]) if code.thunks else None


def _as_buffer(item: SkeletonItem) -> SkeletonItem:
    if item.kind != "call" or not any(
        child.computation.startswith(_COMPUTATION) for child in item.children
    ):
        return item
    return replace(item, kind="command buffer", opcode="command buffer")


def _buffer(number: int, members: tuple[SkeletonItem, ...], note: str) -> SkeletonItem:
    return SkeletonItem(
        kind="command buffer",
        lane="compute",
        name=f"command_buffer_{number}",
        opcode="command buffer",
        computation=members[0].computation,
        seconds=total_seconds(members),
        children=members,
        note=note,
    )


def _members(code: CodeNotes) -> tuple[Mapping[str, int], str]:
    """Return the command buffer number of each member, from 1, and the source of that."""
    noted: dict[int | None, str] = {
        note.id: note.instruction for note in code.notes if note.id is not None
    }
    named: dict[str, int] = {}
    is_exact = True
    for number, places in enumerate(find_command_buffers(code.thunks), 1):
        for thunk in (code.thunks[place] for place in places):
            is_exact = is_exact and thunk.id in noted
            if name := noted.get(thunk.id) or ("" if thunk.name == thunk.kind else thunk.name):
                named[name] = number
    return named, _EXACT if is_exact else _MATCHED
