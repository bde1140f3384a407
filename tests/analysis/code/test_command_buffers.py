"""A command buffer ends where a thunk of its own depth follows, whatever is deeper behind that."""

from xlareport.analysis.code.command_buffers import find_command_buffers
from xlareport.readers.thunks import Thunk


def thunk(kind: str, depth: int) -> Thunk:
    return Thunk(None, kind, "", None, None, "", depth, 1)


def test_what_is_deeper_behind_the_end_is_no_member() -> None:
    thunks = [
        thunk("kCommandBuffer", 0),
        thunk("kKernel", 1),
        thunk("kGemm", 1),
        thunk("kWhile", 0),
        thunk("kKernel", 1),
        thunk("kCommandBuffer", 1),
        thunk("kKernel", 2),
    ]

    assert find_command_buffers(thunks) == ((1, 2), (6,))


def test_a_sequence_without_one_has_none() -> None:
    assert find_command_buffers([thunk("kKernel", 0)]) == ()
