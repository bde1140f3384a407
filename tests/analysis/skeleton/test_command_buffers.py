"""Command buffers: launches that are recorded once and replayed as one."""

from msgspec.structs import replace

from xlareport.analysis.skeleton.command_buffers import in_command_buffers, recorded_names
from xlareport.analysis.skeleton.items import SkeletonItem
from xlareport.program import CodeNotes
from xlareport.readers.thunks import Thunk, ThunkNote

ITEMS = tuple(
    SkeletonItem("kernel", "compute", name, "fusion", "main", seconds=1.0)
    for name in ("fusion.1", "fusion.2", "fusion.3")
)


def thunk(number: int | None, kind: str, name: str = "", depth: int = 0) -> Thunk:
    return Thunk(number, kind, name or kind, None, None, "", depth, 1)


THUNKS = (
    thunk(1, "kKernel", "fusion_1"),
    thunk(2, "kCommandBuffer"),
    thunk(3, "kKernel", "fusion_2", 2),
    thunk(4, "kKernel", "fusion_3", 2),
)


def test_members_go_into_their_buffer_with_their_time() -> None:
    alone, buffer = in_command_buffers(ITEMS, CodeNotes(THUNKS))
    assert alone.name == "fusion.1"
    assert (buffer.kind, buffer.name, buffer.seconds) == ("command buffer", "command_buffer_1", 2.0)
    assert [child.name for child in buffer.children] == ["fusion.2", "fusion.3"]
    assert "matched" in buffer.note


def test_the_metadata_of_thunks_names_the_members() -> None:
    notes = (ThunkNote(3, "kKernel", "fusion.2"), ThunkNote(4, "kKernel", "fusion.3"))
    _, buffer = in_command_buffers(ITEMS, CodeNotes(THUNKS, notes))
    assert buffer.note == "members from the thunk metadata"
    assert recorded_names(CodeNotes(THUNKS, notes)) == {"fusion.2", "fusion.3"}


def test_without_thunks_nothing_is_known() -> None:
    assert in_command_buffers(ITEMS, CodeNotes()) == ITEMS
    assert recorded_names(CodeNotes()) is None


def test_a_call_of_older_xla_is_a_buffer() -> None:
    inside = tuple(replace(item, computation="command_buffer.7") for item in ITEMS)
    call = SkeletonItem("call", "compute", "call.1", "call", "main", children=inside)
    (buffer,) = in_command_buffers((call,), CodeNotes())
    assert (buffer.kind, buffer.opcode) == ("command buffer", "command buffer")
    (plain,) = in_command_buffers((replace(call, children=ITEMS),), CodeNotes())
    assert plain.kind == "call"
