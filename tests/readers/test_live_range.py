from collections.abc import Callable
from pathlib import Path

import pytest
from tests.readers.parsers import Parser, with_path

from xlareport.readers.live_range import LiveRanges, read_live_range

LIVE = b"""HloLiveRange (max 4):
  InstructionSequence:
    0:x
  BufferLiveRange:
    x{0,}:0-4
  Live ranges at 2 (peak):
    x{}: 8 bytes (cumulative: 8 bytes)
  Stack trace breakdown for peak usage: 8 bytes
    main (100.0%, total: 8 bytes, current: 0 bytes, remaining: 8 bytes)
     \xe2\x94\x94\xe2\x94\x80 f (1.0%, total: 8 bytes, current: 8 bytes, remaining: 0 bytes)
"""
PARSERS = (Parser(with_path(read_live_range), LIVE, says=False),)
"""For `tests/properties/test_parsers.py`."""


TEXT = """HloLiveRange (max 4):
  InstructionSequence:
    0:x.1
    1:copy.10
    2:while.6
    3:tuple.3
  BufferLiveRange:
    x.1{}:0-4
    copy.10{}:1-2
    while.6{1,0}:2-4
  Live ranges at 2 (peak):
    x.1{}: 48000 bytes (cumulative: 48000 bytes)
    while.6{1,0}: 88 bytes (cumulative: 48088 bytes)
  Stack trace breakdown for peak usage: 48 088 bytes
    main.5 (100.0%, total: 48 088 bytes, current: 0 bytes, remaining: 48 088 bytes)
      ├── jit(f)/while (0.2%, total: 88 bytes, current: 0 bytes, remaining: 48 088 bytes)
      │   └── a (b) (0.2%, total: 88 bytes, current: 88 bytes, remaining: 48 088 bytes)
      └── x (99.8%, total: 48 000 bytes, current: 48 000 bytes, remaining: 0 bytes)
"""


def read(text: str) -> LiveRanges:
    parsed, problems = read_live_range(text.encode(), "l.txt")
    assert problems == []
    assert parsed is not None
    return parsed


def test_schedule_and_ranges() -> None:
    parsed = read(TEXT)
    assert parsed.schedule == ("x.1", "copy.10", "while.6", "tuple.3")
    last = parsed.ranges[2]
    assert (last.instruction, last.index, last.start, last.end) == ("while.6", (1, 0), 2, 4)


def test_the_peak_and_whose_it_is() -> None:
    parsed = read(TEXT)
    assert (parsed.peak_position, parsed.peak_bytes) == (2, 48088)
    assert [(one.name, one.depth) for one in parsed.breakdown] == [
        ("main.5", 0),
        ("jit(f)/while", 1),
        ("a (b)", 2),
        ("x", 1),
    ]
    assert sum(one.own for one in parsed.breakdown) == parsed.peak_bytes


def test_the_peak_before_2025_has_neither_index_nor_sum() -> None:
    old = (
        "HloLiveRange (max 2):\n  Live ranges at 1 (peak):\n    copy.4: 4 bytes\n    dot: 8 bytes\n"
    )
    assert read("BufferAssignment:\n\n" + old).peak_bytes == 12


def test_no_live_ranges_is_none() -> None:
    assert read_live_range(b"HloLiveRange not available for this module\n", "l.txt") == (None, [])
    assert read_live_range(b"BufferAssignment:\n", "l.txt") == (None, [])


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
def test_every_line_of_real_files_is_read(unpacked: Callable[[str], Path], dump: str) -> None:
    paths = sorted(unpacked(dump).rglob("*-live-range.txt"))
    assert paths
    for path in paths:
        parsed = read(path.read_text())
        assert parsed.schedule
        assert parsed.breakdown[0].total == parsed.peak_bytes


def test_a_peak_that_does_not_add_up_is_told() -> None:
    text = TEXT.replace("x.1{}: 48000", "x.1{}: 47999")
    _, problems = read_live_range(text.encode(), "l.txt")
    assert [problem.message for problem in problems] == [
        "the peak is stated as 48088, listed as 48087"
    ]


def test_broken_lines_are_problems_with_their_number() -> None:
    text = TEXT.replace("1:copy.10", "7:copy.10").replace("copy.10{}:1-2", "copy.10:1-2")
    parsed, problems = read_live_range(text.encode(), "l.txt")
    assert parsed is not None
    assert [problem.line for problem in problems] == [4, 5, 6, 9]
