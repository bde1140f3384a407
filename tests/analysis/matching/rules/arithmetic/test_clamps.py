"""A minimum and a maximum that became a clamp."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
HloModule m
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %low = f32[] constant(-1)
  %high = f32[] constant(1)
"""
_BEFORE = f"""{_HEAD}
  %wide.1 = f32[8]{{0}} broadcast(%low), dimensions={{}}
  %wide.2 = f32[8]{{0}} broadcast(%high), dimensions={{}}
  %max.1 = f32[8]{{0}} maximum(%wide.1, %a)
  %min.1 = f32[8]{{0}} minimum(%wide.2, %max.1)
  ROOT %out = f32[8]{{0}} negate(%min.1)
}}
"""
_AFTER = f"""{_HEAD}
  %clamp.3 = f32[8]{{0}} clamp(%low, %a, %high)
  ROOT %out = f32[8]{{0}} negate(%clamp.3)
}}
"""


def test_both_became_the_clamp(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_AFTER)).pairing_after(Place("main", "clamp.3"))
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED
    assert {place.instruction for place in pairing.before} == {"max.1", "min.1"}


def test_the_account_says_so(read: Read) -> None:
    headline = step(read(_BEFORE), read(_AFTER), "`algsimp`").headline
    assert "combined 2 instructions into 1" in headline
    assert "`%clamp.3` in `main` combines `%min.1` and `%max.1`" in headline


def test_other_bounds_are_no_clamp_of_both(read: Read) -> None:
    other = _AFTER.replace("%low = f32[] constant(-1)", "%least = f32[] constant(-2)")
    other = other.replace("clamp(%low", "clamp(%least")
    pairing = match(read(_BEFORE), read(other)).pairing_after(Place("main", "clamp.3"))
    assert pairing is None or pairing.relation is not Relation.COMBINED


_CLIP = """
HloModule m

%clip (a: f32[8], l: f32[], h: f32[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %l = f32[] parameter(1)
  %h = f32[] parameter(2)
  %low = f32[8]{0} broadcast(%l), dimensions={}
  %max = f32[8]{0} maximum(%low, %a)
  %high = f32[8]{0} broadcast(%h), dimensions={}
  ROOT %min = f32[8]{0} minimum(%high, %max)
}

ENTRY %main (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %c = f32[] constant(-1)
  %d = f32[] constant(1)
  %call.1 = f32[8]{0} call(%x, %c, %d), to_apply=%clip
  %call.2 = f32[8]{0} call(%y, %c, %d), to_apply=%clip
  %first = f32[8]{0} negate(%call.1)
  %second = f32[8]{0} sine(%call.2)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%first, %second)
}
"""


def _fused(number: int, opcode: str) -> str:
    return f"""
%fused.{number} (p.{number}: f32[8]) -> f32[8] {{
  %p.{number} = f32[8]{{0}} parameter(0)
  %c.{number} = f32[] constant(-1)
  %low.{number} = f32[8]{{0}} broadcast(%c.{number}), dimensions={{}}
  %d.{number} = f32[] constant(1)
  %high.{number} = f32[8]{{0}} broadcast(%d.{number}), dimensions={{}}
  %k.{number} = f32[8]{{0}} clamp(%low.{number}, %p.{number}, %high.{number})
  ROOT %r.{number} = f32[8]{{0}} {opcode}(%k.{number})
}}
"""


def test_the_bounds_of_a_clamp_were_those_of_a_function(read: Read) -> None:
    after = f"""
HloModule m
{_fused(1, "negate")}{_fused(2, "sine")}
ENTRY %main (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {{
  %x = f32[8]{{0}} parameter(0)
  %y = f32[8]{{0}} parameter(1)
  %f.1 = f32[8]{{0}} fusion(%x), kind=kLoop, calls=%fused.1
  %f.2 = f32[8]{{0}} fusion(%y), kind=kLoop, calls=%fused.2
  ROOT %out = (f32[8]{{0}}, f32[8]{{0}}) tuple(%f.1, %f.2)
}}
"""
    matching = match(read(_CLIP), read(after))
    for number in (1, 2):
        for name in ("low", "high"):
            place = Place(f"fused.{number}", f"{name}.{number}")
            assert matching.partner_before(place) == Place("clip", name), place


_LOOK_UP = """
HloModule m

ENTRY %main (i: s32[]) -> (s32[], s32[]) {
  %i = s32[] parameter(0)
  %twice = s32[] add(%i, %i)
  %table = s32[2]{0} constant({0, 1})
  %found = s32[1]{0} dynamic-slice(%table, %twice), dynamic_slice_sizes={1}
  %scalar = s32[] reshape(%found)
  ROOT %out = (s32[], s32[]) tuple(%scalar, %twice)
}
"""


def test_a_look_up_in_a_table_of_indices_became_a_clamp(read: Read) -> None:
    after = _LOOK_UP.replace(
        """  %table = s32[2]{0} constant({0, 1})
  %found = s32[1]{0} dynamic-slice(%table, %twice), dynamic_slice_sizes={1}
""",
        """  %least = s32[] constant(0)
  %most = s32[] constant(1)
  %clamp.5 = s32[] clamp(%least, %twice, %most)
""",
    ).replace("reshape(%found)", "reshape(%clamp.5)")
    pairing = match(read(_LOOK_UP), read(after)).pairing_before(Place("main", "found"))
    assert pairing is not None
    assert (pairing.relation, pairing.after) == (Relation.REPLACED, (Place("main", "clamp.5"),))
    other = after.replace("clamp(%least, %twice", "clamp(%least, %i")
    pairing = match(read(_LOOK_UP), read(other)).pairing_before(Place("main", "found"))
    assert pairing is None or not pairing.after


def test_a_table_of_other_numbers_is_no_clamp(read: Read) -> None:
    before = """
ENTRY %main (p: s32[], x: f32[8]) -> f32[2] {
  %p = s32[] parameter(0)
  %table = s32[4]{0} constant({3, 1, 7, 2})
  %row = s32[1]{0} dynamic-slice(%table, %p), dynamic_slice_sizes={1}
  %x = f32[8]{0} parameter(1)
  ROOT %part = f32[2]{0} dynamic-slice(%x, %row), dynamic_slice_sizes={2}
}
"""
    after = before.replace(
        """  %table = s32[4]{0} constant({3, 1, 7, 2})
  %row = s32[1]{0} dynamic-slice(%table, %p), dynamic_slice_sizes={1}
""",
        """  %low = s32[] constant(0)
  %high = s32[] constant(3)
  %clamp = s32[] clamp(%low, %p, %high)
""",
    ).replace("(%x, %row)", "(%x, %clamp)")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "row")) != Place("main", "clamp")
