from collections.abc import Callable
from pathlib import Path

import pytest
from tests.readers.parsers import Parser, with_path

from xlareport.readers.buffer_values import Use, read_buffer_values

VALUES = b"""Used values:
<42 a{1} (phi) @0>
 positions:
  a {1}
 uses:
  x, operand 0 {1,2}
 from instruction: %x = f32[] parameter(0)<42 a @0>
"""
PARSERS = (Parser(with_path(read_buffer_values), VALUES, says=False),)
"""For `tests/properties/test_parsers.py`."""


TEXT = b"""
Total bytes used: 71144 (69.5KiB)

Used values:
<7 fusion.3{1} (phi) @0>
 positions:
  fusion.3 {1}
  tuple.4 {0, 2}
 uses:
  dot.5, operand 0
  while.6, operand 1 {0, 2}
 from instruction: %fusion.3 = (f32[2], f32[4]) fusion(%a), calls=%f
<8 a @1>
 positions:
  a
 uses:
  (none)
 from instruction: %a = f32[2] parameter(0), metadata={op_name="<9 no value @0>"}
"""


def test_values_with_where_they_go_and_what_reads_them() -> None:
    (first, second), problems = read_buffer_values(TEXT, "v.txt")
    assert problems == []
    assert (first.id, first.instruction, first.index) == (7, "fusion.3", (1,))
    assert first.positions == [("fusion.3", (1,)), ("tuple.4", (0, 2))]
    assert first.uses == [Use("dot.5", 0), Use("while.6", 1)]
    assert (second.instruction, second.uses) == ("a", [])


def test_a_value_at_the_end_of_the_line_before_it() -> None:
    text = TEXT.replace(b"calls=%f\n<8", b"calls=%f<8")
    (_, second), problems = read_buffer_values(text, "v.txt")
    assert problems == []
    assert (second.id, second.instruction) == (8, "a")


def test_what_follows_in_older_files_is_left_alone_and_what_is_broken_is_told() -> None:
    parsed, problems = read_buffer_values(
        TEXT + b"HloLiveRange (max 3):\n  InstructionSequence:\n", ""
    )
    assert (len(parsed), problems) == (2, [])
    _, problems = read_buffer_values(TEXT.replace(b"dot.5, operand 0", b"dot.5 operand"), "v.txt")
    assert [problem.line for problem in problems] == [10]
    assert read_buffer_values(b"BufferAssignment:\n", "v.txt") == ((), [])


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "jax-0.4.13-cpu-train"])
def test_every_value_of_a_dump(unpacked: Callable[[str], Path], dump: str) -> None:
    separate = sorted(unpacked(dump).rglob("*-buffer-assignment-values.txt"))
    paths = separate or sorted(unpacked(dump).rglob("*-buffer-assignment.txt"))
    assert paths
    for path in paths:
        parsed, problems = read_buffer_values(path.read_bytes(), path.name)
        assert problems == []
        assert len(parsed) == path.read_text("utf-8").count("\n positions:\n") > 0
