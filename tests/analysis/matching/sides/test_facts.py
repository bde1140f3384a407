"""Facts of computations and modules that matching reads again and again."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.sides.facts import (
    called_by,
    called_once,
    callees_of,
    facts_of,
    holders_of,
    homes_of,
    live_computations,
)

TEXT = """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

inner {
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  also = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add
}

dead {
  p = f32[4] parameter(0)
  z = f32[] constant(1)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add
}

ENTRY e {
  x = f32[4] parameter(0)
  ROOT f = f32[] fusion(x), kind=kLoop, calls=inner
}
"""
MODULE = parse_module(TEXT)


def test_calls_are_followed_to_what_is_in_the_module() -> None:
    assert [*called_by(MODULE, "e")] == ["inner"]
    entry = MODULE.entry
    assert entry is not None
    assert callees_of(entry.by_name["f"]) == ("inner",)
    assert callees_of(entry.by_name["x"]) == ()


def test_what_the_entry_does_not_reach_is_not_live() -> None:
    assert live_computations(MODULE) == {"e", "inner", "add"}


def test_without_an_entry_all_is_live() -> None:
    part = parse_module("HloModule m\n\nf {\n  ROOT p = f32[] parameter(0)\n}\n")
    assert live_computations(part) >= {"f"}


def test_the_first_caller_of_a_computation_is_named() -> None:
    assert holders_of(MODULE)["add"].name == "r"
    assert homes_of(MODULE)["add"] == "inner"
    assert homes_of(MODULE)["inner"] == "e"


def test_a_computation_of_two_callers_is_not_called_once() -> None:
    assert called_once(MODULE) == {"inner"}


@pytest.mark.parametrize(("opcode", "argument", "count"), [("constant", "0", 2), ("iota", "", 0)])
def test_equal_constants_have_one_literal(opcode: str, argument: str, count: int) -> None:
    constants = facts_of(MODULE.by_name["inner"]).constants
    assert len(constants.get((opcode, argument), ())) == count
