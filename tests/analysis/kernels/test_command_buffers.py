"""Members of command buffers: what stands deeper than the command, and nothing behind it."""

from collections.abc import Callable
from pathlib import Path

from xlareport.analysis.code.instruction_products import RunThunk
from xlareport.analysis.code.module_code import read_code_files
from xlareport.analysis.kernels.command_buffers import list_command_buffers
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import read_module
from xlareport.readers.thunks import read_thunk_sequence

TEXT = b"""000: kCopy          [source       | next=001 (1)] kCopy
001: kCommandBuffer [prev=000 (1) | next=004 (1)]
    002: kCustomKernel [source       | next=003 (1)] a grid: [1, 1, 1] threads: [64, 1, 1]
    003: kGemm         [prev=002 (1) | sink        ] kGemm
004: kCustomKernel  [prev=001 (1) | sink        ] b grid: [1, 1, 1] threads: [64, 1, 1]
005: kCommandBuffer [source | sink]
    006: kCustomKernel [source | sink] c grid: [1, 1, 1] threads: [64, 1, 1]
"""


def test_members_end_with_their_depth() -> None:
    """What runs between two command buffers is in neither."""
    thunks, problems = read_thunk_sequence(TEXT, "t")
    assert problems == []
    first, second = list_command_buffers([RunThunk(thunk, None) for thunk in thunks])
    assert (first.number, first.members, first.kernels, first.total) == (1, ("a", "kGemm"), 1, 2)
    assert (second.number, second.members) == (2, ("c",))


def test_a_real_sequence_names_instructions(unpacked: Callable[[str], Path]) -> None:
    """The thunks after the passes stand inside of the command buffers that they are recorded in."""
    with open_source(unpacked("gpu-kernels") / "sm_90") as source:
        (files,) = (each for each in group(name_files(source)).modules if "attention" in each.name)
        module = read_module(files)
        code = read_code_files(module).code
    assert code is not None
    buffers = list_command_buffers(code.thunks)
    assert buffers
    assert module.final is not None
    names = {name for computation in module.final.hlo.computations for name in computation.by_name}
    assert all(set(buffer.members) <= names for buffer in buffers)
    assert sum(buffer.total for buffer in buffers) <= len(code.thunks) - len(buffers)


def test_no_command_buffers() -> None:
    assert list_command_buffers([]) == ()
