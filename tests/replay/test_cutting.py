"""Parts of two programs that are cut alike."""

import pytest
from tests.replay.programs import entry, program

from xlareport.replay.cutting import cut, inlined, shared_names
from xlareport.replay.runnable_program import NotRunnableError, RunnableProgram

BEFORE = """%a = f32[4] parameter(0)
%e = f32[4] exponential(%a)
%n = f32[4] negate(%e)
ROOT %d = f32[4] divide(%n, %e)"""
AFTER = """%a = f32[4] parameter(0)
%e = f32[4] exponential(%a)
%n = f32[4] negate(%e)
%r = f32[4] tanh(%e)
ROOT %d = f32[4] multiply(%n, %r)"""
CALLED = """%f (p: f32[4], q: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %q = f32[4] parameter(1)
  %e = f32[4] add(%p, %q)
  ROOT %n = f32[4] negate(%e)
}"""


def lines(each: RunnableProgram) -> list[str]:
    return [line.text() for line in each.entry.lines]


def test_what_feeds_the_kept_instructions_is_a_parameter_of_both() -> None:
    whole = [program(entry(text)) for text in (BEFORE, AFTER)]
    shared = shared_names(whole)
    assert shared == ["e", "n", "d"]
    before, after = cut(whole, {"d"}, shared)
    assert lines(before) == [
        "%e = f32[4] parameter(0)",
        "%n = f32[4] parameter(1)",
        "%d = f32[4] divide(%n, %e)",
        "ROOT %result = (f32[4]) tuple(%d)",
    ]
    assert lines(after)[2:4] == ["%r = f32[4] tanh(%e)", "%d = f32[4] multiply(%n, %r)"]


def test_what_no_kept_instruction_reads_is_the_result() -> None:
    whole = [program(entry(text)) for text in (BEFORE, AFTER)]
    before, _ = cut(whole, {"e", "n"}, shared_names(whole))
    assert lines(before)[-1] == "ROOT %result = (f32[4]) tuple(%n)"


def test_nothing_is_no_program() -> None:
    whole = [program(entry(text)) for text in (BEFORE, AFTER)]
    with pytest.raises(NotRunnableError, match="nothing is left"):
        cut(whole, (), shared_names(whole))


def test_calls_are_inlined_under_free_names() -> None:
    text = entry(
        """%a = f32[4] parameter(0)
        %e = f32[4] exponential(%a)
        %c = f32[4] call(%a, %e), to_apply=%f
        ROOT %d = f32[4] call(%c, %e), to_apply=%f""",
        CALLED,
    )
    whole = inlined(program(text))
    assert len(whole.bodies) == 1
    assert lines(whole) == [
        "%a = f32[4] parameter(0)",
        "%e = f32[4] exponential(%a)",
        "%e.inlined1 = f32[4] add(%a, %e)",
        "%c = f32[4] negate(%e.inlined1)",
        "%e.inlined2 = f32[4] add(%c, %e)",
        "ROOT %d = f32[4] negate(%e.inlined2)",
    ]


def test_a_call_that_returns_its_argument_is_a_copy() -> None:
    called = "%f (p: f32[4]) -> f32[4] {\n  ROOT %p = f32[4] parameter(0)\n}"
    whole = inlined(
        program(entry("%a = f32[4] parameter(0)\nROOT %c = f32[4] call(%a), to_apply=%f", called))
    )
    assert lines(whole)[-1] == "ROOT %c = f32[4] copy(%a)"
