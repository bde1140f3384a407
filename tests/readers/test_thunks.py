from collections.abc import Callable
from pathlib import Path

import pytest
from tests.readers.parsers import Parser, of_text, with_path

from xlareport.readers.thunks import (
    Launch,
    Thunk,
    find_command_buffers,
    read_launch,
    read_thunk_metadata,
    read_thunk_sequence,
)

THUNKS = b"""000: kKernel [source | next=001 (1)] add.1 grid: [1, 1, 1] threads: [64, 1, 1]
001: kWhile [prev=000 (1) | sink] w
 body:
  001: kCopy [source | sink] x
kGemm %dot
Dependencies:
 a depends on b
"""
NOTES = b"""thunk_metadata {
  thunk_info {
    thunk_id: 1
    profile_annotation: "add.1"
  }
  thunk_kind: "kKernel"
}
"""
LAUNCH = b"k grid: [3072, 2, 1] threads: [64, 1, 1]  shared_memory: 768 bytes"
PARSERS = (
    Parser(with_path(read_thunk_sequence), THUNKS, (b"No thunks\n", b"Total order:\n")),
    Parser(with_path(read_thunk_metadata), NOTES),
    Parser(of_text(read_launch), LAUNCH, says=False),
)
"""For `tests/properties/test_parsers.py`."""


NEW = """001: kCopy         [source       | next=004 (3)] kCopy
003: kCustomKernel [prev=001 (2) | next=004 (1)] loop_broadcast_fusion grid: [1, 1, 1]
004: kWhile        [prev=003 (1) | sink        ]
condition:
    005: kCustomKernel [source | sink] loop_compare_fusion grid: [1, 1, 1]
  body:
    006: kCustomKernel [source       | next=007 (1)] input_reduce_fusion grid: [1, 1, 1]
012: kAllReduce    [prev=004 (1) | sink        ] kAllReduce
"""


def test_a_numbered_sequence() -> None:
    thunks, problems = read_thunk_sequence(NEW.encode(), "t")
    assert problems == []
    assert [thunk.id for thunk in thunks] == [1, 3, 4, 5, 6, 12]
    assert [thunk.part for thunk in thunks] == ["", "", "", "condition", "body", ""]
    assert (thunks[1].before, thunks[1].after, thunks[1].name) == (1, 4, "loop_broadcast_fusion")
    assert (thunks[2].after, thunks[2].name) == (None, "")
    assert thunks[3].depth == 2


def test_the_text_of_2022_to_2026_has_neither_number_nor_order_of_memory() -> None:
    thunks, problems = read_thunk_sequence(b"kGemm     \tfusion.1 x\nkKernel   \tadd\n", "t")
    assert problems == []
    assert [(thunk.kind, thunk.name, thunk.id) for thunk in thunks] == [
        ("kGemm", "fusion.1", None),
        ("kKernel", "add", None),
    ]


def test_the_schedule_of_2019_to_2022() -> None:
    text = (
        b"Total order:\n\tkGemm\t%dot.1 = f32[4] dot(a, b)\n\tkCopy\t%copy.2 = f32[4] copy(a)\n"
        b"Dependencies:\n\tcopy.2 depends on dot.1\nhello\n"
    )
    thunks, problems = read_thunk_sequence(text, "t")
    assert [(problem.line, problem.message) for problem in problems] == [
        (6, "no dependency: hello")
    ]
    assert [(thunk.kind, thunk.name, thunk.waits_for) for thunk in thunks] == [
        ("kGemm", "dot.1", ()),
        ("kCopy", "copy.2", ("dot.1",)),
    ]


def test_a_kernel_behind_its_word() -> None:
    text = b"kKernel\t, kernel = fusion_17, launch dimensions = blocks: {256, 1, 1}\n"
    thunks, problems = read_thunk_sequence(text, "t")
    assert not problems
    assert [thunk.name for thunk in thunks] == ["fusion_17"]


def test_the_branches_of_a_conditional() -> None:
    text = b"""812: kConditional [source | sink]
  false_branch:
    782: kCopy [source | sink] x
  true_branch:
    798: kCopy [source | sink] y
814: kCopy [source | sink] z
"""
    thunks, problems = read_thunk_sequence(text, "t")
    assert not problems
    assert [thunk.part for thunk in thunks] == ["", "false_branch", "true_branch", ""]


def test_an_empty_sequence_and_what_is_no_thunk() -> None:
    assert read_thunk_sequence(b"No thunks.\n", "t") == ((), [])
    _, problems = read_thunk_sequence(b"\nhello\n", "t")
    assert [(problem.line, problem.message) for problem in problems] == [(2, "no thunk: hello")]


def test_the_notes_name_the_instruction() -> None:
    text = b"""thunk_metadata {
  thunk_info {
    profile_annotation: "gemm_fusion_dot.1"
    thunk_id: 10
  }
  thunk_kind: "kCustomKernel"
}
"""
    (note,), problems = read_thunk_metadata(text, "t")
    assert problems == []
    assert (note.id, note.kind, note.instruction) == (10, "kCustomKernel", "gemm_fusion_dot.1")


def test_real_files(unpacked: Callable[[str], Path]) -> None:
    folder = unpacked("gpu-h100x2-train")
    sequence = next(folder.glob("*thunk_sequence.txt")).read_bytes()
    thunks, problems = read_thunk_sequence(sequence, "t")
    assert problems == []
    assert len(thunks) == sum(b": k" in line for line in sequence.split(b"\n"))
    notes, problems = read_thunk_metadata(next(folder.glob("*metadata.txt")).read_bytes(), "t")
    assert problems == []
    assert {thunk.id for thunk in thunks} <= {note.id for note in notes}


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


@pytest.mark.parametrize(
    ("description", "launch"),
    [
        (
            "gemm_fusion_dot grid: [3072, 2, 1] threads: [64, 1, 1]  shared_memory: 768 bytes",
            Launch(6144, 64, 768),
        ),
        (
            "kernel = fusion_17, blocks: {256, 1, 1}, threads/block: {32, 4, 1}, cluster_dim = no",
            Launch(256, 128, None),
        ),
        ("kConvolution", None),
        ("k grid: [0, 1, 1] threads: [64, 1, 1]  shared_memory: 0 bytes", None),
        ("k grid: [,] threads: [64, 1, 1]  shared_memory: 0 bytes", None),
    ],
)
def test_launches(description: str, launch: Launch | None) -> None:
    """Dimensions are multiplied; a launch of nothing is none."""
    assert read_launch(description) == launch
