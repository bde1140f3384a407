from xlareport.hlo.line import LineError
from xlareport.hlo.model import HloModule
from xlareport.hlo.snapshot_reading import problem_at, unreadable_line
from xlareport.hlo.text import TextReader
from xlareport.runtime.errors import Problem

TWICE = """\
HloModule m

%f () -> f32[] {
  %a = f32[] constant(1)
  %a~2 = f32[] constant(2)
  %a = f32[] constant(3)
  ROOT %a = f32[] constant(4)
}

%f () -> f32[] {
  ROOT %b = f32[] constant(1)
}

ENTRY %e () -> f32[] {
  ROOT %c = f32[] call(), to_apply=%f
}
"""


def read(reader: TextReader, text: str) -> HloModule:
    module = reader.read(text.encode(), "a.txt")
    assert module is not None
    return module


def test_every_name_is_given_once_and_each_further_one_is_a_problem() -> None:
    reader = TextReader()
    module = read(reader, TWICE)
    assert [computation.name for computation in module.computations] == ["f", "f~2", "e"]
    names = [instruction.name for instruction in module.computations[0].instructions]
    assert names == ["a", "a~2", "a~3", "a~4"]
    assert [instruction.argument for instruction in module.computations[0].instructions] == list(
        "1234"
    )
    assert [problem.message for problem in reader.problems] == [
        "%a is given more than once in %f; one is %a~3 here",
        "%a is given more than once in %f; one is %a~4 here",
        "%f is given more than once among the computations; one is %f~2 here",
    ]


def test_what_is_shared_remains_shared() -> None:
    reader = TextReader()
    first = read(reader, TWICE)
    second = read(reader, TWICE.replace("call(), to_apply=%f", "constant(5)"))
    assert first.computations[:2] == second.computations[:2]
    assert first.computations[2] is not second.computations[2]


def test_the_text_about_a_place_stands_beside_the_message() -> None:
    problem = problem_at(4, "ROOT %a =\n  f32[2,x] add(%b)", 18, "expected a dimension")
    assert problem == Problem("", 5, "expected a dimension", 9, "  f32[2,x] add(%b)\n        ^")
    error = LineError("expected a dimension", 6)
    assert unreadable_line("f32[2,x] add(%b)", error) == Problem(
        "", None, "expected a dimension", excerpt="f32[2,x] add(%b)\n      ^"
    )
