"""What is said of instructions that are only before."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def _fused(name: str, lines: str) -> str:
    return (
        f"%{name} (p.{name}: f32[8]) -> f32[8] {{\n  %p.{name} = f32[8]{{0}} parameter(0)\n"
        f"{lines}}}\n\n"
    )


def _module(first: str, second: str) -> str:
    return (
        _fused("one", first)
        + _fused("two", second)
        + "ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {\n  %a = f32[8]{0} parameter(0)\n"
        "  %f = f32[8]{0} fusion(%a), kind=kLoop, calls=%one\n"
        "  %g = f32[8]{0} fusion(%a), kind=kLoop, calls=%two\n"
        "  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%f, %g)\n}\n"
    )


def _twice(name: str) -> str:
    return (
        f"  %c.{name} = f32[] constant(2)\n"
        f"  %b.{name} = f32[8]{{0}} broadcast(%c.{name}), dimensions={{}}\n"
        f"  %e.{name} = f32[8]{{0}} exponential(%p.{name})\n"
        f"  %m.{name} = f32[8]{{0}} multiply(%e.{name}, %b.{name})\n"
        f"  %b.{name}.2 = f32[8]{{0}} broadcast(%c.{name}), dimensions={{}}\n"
        f"  %e.{name}.2 = f32[8]{{0}} exponential(%p.{name})\n"
        f"  %m.{name}.2 = f32[8]{{0}} multiply(%e.{name}.2, %b.{name}.2)\n"
        f"  ROOT %s.{name} = f32[8]{{0}} subtract(%m.{name}, %m.{name}.2)\n"
    )


def _once(name: str) -> str:
    lines = _twice(name).splitlines(keepends=True)
    root = lines[-1].replace(f", %m.{name}.2", f", %m.{name}")
    return "".join((*lines[:4], root))


def test_duplicates_are_merged_with_those_of_their_own_fusion(read: Read) -> None:
    before = read(_module(_twice("one"), _twice("two")))
    after = read(_module(_once("one"), _once("two")))
    merged = [one for one in match(before, after).pairings if one.relation is Relation.MERGED]
    pairs = {
        (place, pairing.after[0])
        for pairing in merged
        for place in pairing.before
        if place.instruction.endswith(".2")
    }
    assert pairs == {
        (Place(name, f"{letter}.{name}.2"), Place(name, f"{letter}.{name}"))
        for name in ("one", "two")
        for letter in "bem"
    }
