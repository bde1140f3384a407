"""Computations of a text: those that XLA prints once for all equal ones, others line by line."""

from xlareport.hlo.chunks import ChunkReader, LineByLine
from xlareport.hlo.header import ComputationPool
from xlareport.hlo.line import InstructionPool
from xlareport.hlo.model import Computation
from xlareport.runtime.errors import Problem

PRINTED = b"""
%add (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}
"""


def slowly(text: str) -> tuple[list[Computation], list[Problem]]:
    reader = LineByLine(InstructionPool(), ComputationPool())
    reader.read(text, 1)
    reader.finish()
    return reader.computations, reader.problems


def names_of(computation: Computation) -> list[str]:
    return [instruction.name for instruction in computation.instructions]


def test_equal_computations_are_one_in_all_texts() -> None:
    reader = ChunkReader()
    (first,), problems = reader.read(PRINTED, 2)
    (second,), _ = reader.read(PRINTED, 90)
    assert first is second
    assert (first.name, names_of(first), problems) == ("add", ["p", "q", "s"], [])


def test_equal_lines_of_other_computations_are_one_instruction() -> None:
    reader = ChunkReader()
    (first,), _ = reader.read(PRINTED, 1)
    (other,), _ = reader.read(PRINTED.replace(b"add(%p", b"multiply(%p"), 1)
    assert other.instructions[0] is first.instructions[0]
    assert other.instructions[2] is not first.instructions[2]


def test_a_computation_of_another_thread_has_the_thread_behind_its_brace() -> None:
    text = PRINTED.rstrip() + b', execution_thread="sparsecore"\n' + PRINTED
    (first, second), problems = ChunkReader().read(text, 1)
    assert (first.execution_thread, second.execution_thread, problems) == ("sparsecore", "main", [])


def test_what_xla_would_not_print_so_is_read_line_by_line() -> None:
    text = PRINTED + b"\n%g {\n    x = f32[] parameter(0)\n  ROOT r = negate(x) }\n"
    (first, second), problems = ChunkReader().read(text, 1)
    assert (first.name, second.name, names_of(second), problems) == ("add", "g", ["x", "r"], [])


def test_a_text_that_is_cut_off_has_a_problem_in_its_own_line() -> None:
    (first, second), (problem,) = ChunkReader().read(PRINTED + PRINTED[:66], 11)
    assert (names_of(first), names_of(second)) == (["p", "q", "s"], ["p"])
    assert (problem.line, problem.message) == (18, "computation is not closed")


def test_bytes_that_are_no_utf_8_are_a_problem_of_their_line() -> None:
    (computation,), (problem,) = ChunkReader().read(PRINTED.replace(b"%s", b"%s\xff"), 1)
    assert names_of(computation)[-1] == "s\ufffd"
    assert problem.line == 5
    assert problem.message.startswith("not UTF-8")


def test_a_computation_may_hold_others_in_its_statements() -> None:
    (inner, outer), problems = slowly(
        "ENTRY e {\n  x = f32[4] parameter(0)\n  z = f32[] constant(0)\n"
        "  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply={\n"
        "    a = f32[] parameter(0)\n    b = f32[] parameter(1)\n    ROOT s = f32[] add(a, b)\n"
        "  }\n}\n"
    )
    assert problems == []
    assert names_of(inner) == ["a", "b", "s"]
    assert outer.instructions[-1].called == (("to_apply", inner.name),)


def test_a_line_that_cannot_be_read_costs_itself() -> None:
    (computation,), (problem,) = slowly(
        "ENTRY e {\n  x = f32[] parameter(0)\n  y = ?\n  ROOT r = f32[] negate(x)\n}\n"
    )
    assert (names_of(computation), problem.line) == (["x", "r"], 3)


def test_a_computation_ends_where_the_next_begins() -> None:
    computations, (problem,) = slowly(
        "%f (x: f32[]) -> f32[] {\n  ROOT x = f32[] parameter(0)\n"
        "%g (y: f32[]) -> f32[] {\n  ROOT y = f32[] parameter(0)\n}\n"
    )
    assert [computation.name for computation in computations] == ["f", "g"]
    assert (problem.line, problem.message) == (3, "the computation before is not closed")


def test_text_outside_of_computations_is_a_problem() -> None:
    computations, problems = slowly("= nothing\n")
    assert (computations, [problem.message for problem in problems]) == (
        [],
        ["expected a computation"],
    )
