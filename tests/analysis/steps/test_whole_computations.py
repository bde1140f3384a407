"""A computation that is cloned or merged as a whole is told as such, each with its own partner."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange, step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_SUM = """
%{name} (p{name}: f32[], q{name}: f32[]) -> f32[] {{
  %p{name} = f32[] parameter(0)
  %q{name} = f32[] parameter(1)
  ROOT %r{name} = f32[] add(%p{name}, %q{name})
}}
"""
_NAMES = ("one", "two", "three")


def _module(*calls: str) -> str:
    """Return a module whose three reductions call the named computations."""
    sums = "".join(_SUM.format(name=name) for name in dict.fromkeys(calls))
    reduces = "".join(
        f"  %s{number} = f32[] reduce(%v{number}, %z), dimensions={{0}}, to_apply=%{name}\n"
        f"  %v{number} = f32[8]{{0}} parameter({number})\n"
        for number, name in enumerate(calls)
    )
    return (
        f"HloModule m\n{sums}\nENTRY %main (v0: f32[8], v1: f32[8], v2: f32[8]) -> "
        "(f32[], f32[], f32[]) {\n  %z = f32[] constant(0)\n"
        f"{reduces}  ROOT %t = (f32[], f32[], f32[]) tuple(%s0, %s1, %s2)\n}}\n"
    )


def _pairs(change: StepChange, kind: Kind) -> dict[tuple[str, str], set[str]]:
    """Return the reasons of changes of a kind, by the computations before and after."""
    result: dict[tuple[str, str], set[str]] = {}
    for each in change.changes:
        if each.kind is kind and each.before and each.after:
            places = each.before.computation, each.after.computation
            result.setdefault(places, set()).add(each.reason)
    return result


def test_merged_computations_are_counted_and_each_has_its_own_reason(read: Read) -> None:
    change = step(read(_module(*_NAMES)), read(_module("one", "one", "one")))
    assert "merged 2 duplicate computations of 6 instructions" in change.headline
    assert _pairs(change, Kind.UNIFIED) == {
        ("two", "one"): {"%two held the same as %one"},
        ("three", "one"): {"%three held the same as %one"},
    }


def test_cloned_computations_are_counted_and_each_has_its_own_reason(read: Read) -> None:
    change = step(read(_module("one", "one", "one")), read(_module(*_NAMES)))
    assert "cloned 1 computation of 3 instructions (2 clones)" in change.headline
    assert _pairs(change, Kind.COPIED) == {
        ("one", "two"): {"%two is a copy of %one"},
        ("one", "three"): {"%three is a copy of %one"},
    }
