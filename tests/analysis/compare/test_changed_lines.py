"""Lines of changed ops: those that an edit moved are no change, nor is another file name."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.compare.changed_lines import find_changed_lines
from xlareport.analysis.compare.given_program import Program, read_program
from xlareport.analysis.compare.program_changes import ChangeKind, find_program_changes

STEP = [("tanh", 3), ("negate", 5), ("negate", 6), ("sine", 8), ("abs", 10), ("negate", 12)]
"""The ops of a program with their lines."""


def program(ops: list[tuple[str, int]], file: str = "m.py") -> Program:
    lines = ["  %v0 = f32[8]{0} parameter(0)"]
    for number, (op, line) in enumerate(ops):
        root = "ROOT " if number == len(ops) - 1 else ""
        lines.append(
            f"  {root}%v{number + 1} = f32[8]{{0}} {op}(%v{number}), "
            f'metadata={{op_name="jit(f)/{op}" '
            f'source_file="{file}" source_line={line}}}'
        )
    text = "\n".join(["HloModule m", "", "ENTRY %main {", *lines, "}", ""])
    module = parse_module(text)
    return read_program(module)


@pytest.mark.parametrize("file", ["m.py", "other.py"])
def test_only_lines_of_the_changed_op_are_named_not_those_it_moved(file: str) -> None:
    edited = [*STEP[:3], ("sine", 8), ("negate", 9), ("abs", 11), ("negate", 13)]
    (change,) = find_program_changes(program(STEP), program(edited, file))
    assert (change.kind, change.base, change.head) == (ChangeKind.OPERATIONS, "", "negate")
    assert (change.base_lines, change.lines) == ((), (f"{file}:9",))


def test_each_side_has_the_lines_of_what_it_has_more_of() -> None:
    edited = [*STEP[:3], ("logistic", 8), ("abs", 8), *STEP[4:]]
    (change,) = find_program_changes(program(STEP), program(edited))
    assert (change.base_lines, change.lines) == (("m.py:8",), ("m.py:8",))


def test_of_equal_lines_in_a_row_any_may_be_the_changed_one() -> None:
    (change,) = find_program_changes(program(STEP), program([STEP[0], *STEP[2:]]))
    assert change.base_lines == ("m.py:5", "m.py:6")


def test_an_op_that_is_as_often_on_the_line_is_not_on_a_changed_line() -> None:
    base = [("tanh", 3), ("negate", 4), ("negate", 5), ("sine", 6)]
    head = [("tanh", 3), ("negate", 4), ("abs", 4), ("abs", 5), ("sine", 6)]
    before, after = find_changed_lines(
        program(base).operations, program(head).operations, ["negate"], ["abs"]
    )
    assert (before, after) == (("m.py:5",), ("m.py:4", "m.py:5"))
