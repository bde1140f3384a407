"""Programs as lines, and as text again."""

import pytest
from tests.modules import parse_module
from tests.replay.programs import entry, program

from xlareport.replay.bisect import widened
from xlareport.replay.runnable_program import NotRunnableError, take_program


def test_only_what_the_entry_reaches_is_kept_callees_first() -> None:
    unused = "%unused (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n"
    used = "%used (q: f32[]) -> f32[] {\n  ROOT %q = f32[] parameter(0)\n}\n"
    text = entry("%a = f32[] parameter(0)\nROOT %c = f32[] call(%a), to_apply=%used", unused + used)
    assert [body.name for body in program(text).bodies] == ["used", "main"]


def test_the_text_reads_as_what_it_was_made_from() -> None:
    text = entry("%a = f32[2]{0} parameter(0)\nROOT %n = f32[2]{0} add(%a, %a)")
    once = program(text).text()
    assert program(once).text() == once
    assert "ROOT %n = f32[2] add(%a, %a)" in once


def test_a_name_that_is_none_is_refused() -> None:
    text = entry("%a = f32[] parameter(0)\nROOT %n = f32[] negate(%a)")
    module = parse_module(text)
    module.computations[0].instructions[1].name = "x) evil("
    with pytest.raises(NotRunnableError, match="no name"):
        take_program(module)


def test_doubles_take_the_place_of_all_floats() -> None:
    wide = widened(program(entry("%a = bf16[2] parameter(0)\nROOT %c = f32[2] convert(%a)")))
    assert wide is not None
    assert "ROOT %c = f64[2] convert(%a)" in wide.text()


def test_not_where_bits_count() -> None:
    text = entry("%a = f32[2] parameter(0)\nROOT %c = s32[2] bitcast-convert(%a)")
    assert widened(program(text)) is None
