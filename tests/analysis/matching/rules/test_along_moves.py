"""Elementwise work on one value, behind other moves than before."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule m
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}
ENTRY %main (a: f32[8,256]) -> (f32[8,256], f32[8,256]) {
  %a = f32[8,256]{1,0} parameter(0)
  %zero = f32[] constant(0)
  %total = f32[8]{0} reduce(%a, %zero), dimensions={1}, to_apply=%sum
  %column = f32[8,1]{1,0} reshape(%total)
  %count = f32[] constant(256)
  %counts = f32[8,1]{1,0} broadcast(%count), dimensions={}
  %mean = f32[8,1]{1,0} divide(%column, %counts)
  %small = f32[] constant(1e-06)
  %smalls = f32[8,1]{1,0} broadcast(%small), dimensions={}
  %shifted = f32[8,1]{1,0} add(%mean, %smalls)
  %scale = f32[8,1]{1,0} rsqrt(%shifted)
  %flat = f32[8]{0} reshape(%scale)
  %scales = f32[8,256]{1,0} broadcast(%flat), dimensions={0}
  %left = f32[8,256]{1,0} multiply(%a, %scales)
  %right = f32[8,256]{1,0} subtract(%a, %scales)
  ROOT %out = (f32[8,256]{1,0}, f32[8,256]{1,0}) tuple(%left, %right)
}
"""
_FUSED = """
%{name} (p: f32[8], q: f32[8,256]) -> f32[8,256] {{
  %p.{name} = f32[8]{{0}} parameter(0)
  %row.{name} = f32[1,8]{{1,0}} bitcast(%p.{name})
  %q.{name} = f32[8,256]{{1,0}} parameter(1)
  %inverse.{name} = f32[] constant(0.00390625)
  %inverses.{name} = f32[1,8]{{1,0}} broadcast(%inverse.{name}), dimensions={{}}
  %mean.{name} = f32[1,8]{{1,0}} multiply(%row.{name}, %inverses.{name})
  %small.{name} = f32[] constant(1e-06)
  %smalls.{name} = f32[1,8]{{1,0}} broadcast(%small.{name}), dimensions={{}}
  %shifted.{name} = f32[1,8]{{1,0}} add(%mean.{name}, %smalls.{name})
  %deep.{name} = f32[1,8,1]{{2,1,0}} bitcast(%shifted.{name})
  %scale.{name} = f32[1,8,1]{{2,1,0}} rsqrt(%deep.{name})
  %flat.{name} = f32[8]{{0}} bitcast(%scale.{name})
  %scales.{name} = f32[8,256]{{1,0}} broadcast(%flat.{name}), dimensions={{0}}
  ROOT %result.{name} = f32[8,256]{{1,0}} {opcode}(%q.{name}, %scales.{name})
}}
"""
_HEAD, _, _REST = _BEFORE.partition("ENTRY")
_AFTER = (
    _HEAD
    + _FUSED.format(name="l", opcode="multiply")
    + _FUSED.format(name="r", opcode="subtract")
    + "ENTRY"
    + _REST.partition("  %column")[0]
    + """  %l = f32[8,256]{1,0} fusion(%total, %a), kind=kLoop, calls=%l
  %r = f32[8,256]{1,0} fusion(%total, %a), kind=kLoop, calls=%r
  ROOT %out = (f32[8,256]{1,0}, f32[8,256]{1,0}) tuple(%l, %r)
}
"""
)


def test_a_normalization_is_followed_into_each_fusion_that_repeats_it(read: Read) -> None:
    matching = match(read(_BEFORE), read(_AFTER))
    for name in ("mean", "shifted", "scale", "scales"):
        known = matching.pairing_before(Place("main", name))
        assert known is not None
        assert set(known.after) == {Place("l", f"{name}.l"), Place("r", f"{name}.r")}
        assert known.relation is not Relation.REMOVED
    for name, home in (("left", "l"), ("right", "r")):
        assert matching.partner_after(Place("main", name)) == Place(home, f"result.{home}")


def test_work_with_another_constant_is_no_copy(read: Read) -> None:
    other = _AFTER.replace("%small.r = f32[] constant(1e-06)", "%small.r = f32[] constant(1e-05)")
    matching = match(read(_BEFORE), read(other))
    known = matching.pairing_before(Place("main", "shifted"))
    assert known is not None
    assert known.after == (Place("l", "shifted.l"),)


_BOUNDED = """
HloModule m
ENTRY %main (a: s32[], b: s32[], x: u32[8]) -> (u32[1,1], u32[8]) {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  %x = u32[8]{0} parameter(2)
  %least = s32[] constant(-2147483648)
  %most = s32[] constant(2147483647)
  %max.1 = s32[] maximum(%least, %a)
  %min.1 = s32[] minimum(%most, %max.1)
  %in.1 = s32[1,1]{1,0} reshape(%min.1)
  %in.2 = s32[1,1]{1,0} reshape(%b)
  %le.1 = pred[1,1]{1,0} compare(%in.1, %in.2), direction=LE, metadata={op_name="le"}
  %one = u32[1,1]{1,0} constant({ {1} })
  %sub.1 = s32[1,1]{1,0} subtract(%in.1, %in.2), metadata={op_name="sub"}
  %type.1 = u32[1,1]{1,0} convert(%sub.1), metadata={op_name="type"}
  %select.1 = u32[1,1]{1,0} select(%le.1, %one, %type.1), metadata={op_name="select"}
  %rem.1 = u32[1,1]{1,0} remainder(%one, %select.1), metadata={op_name="rem"}
  %scalar = u32[] reshape(%select.1)
  %many = u32[8]{0} broadcast(%scalar), dimensions={}
  %rem.2 = u32[8]{0} remainder(%x, %many), metadata={op_name="rem"}
  ROOT %out = (u32[1,1]{1,0}, u32[8]{0}) tuple(%rem.1, %rem.2)
}
"""
_CHOSEN = """  %a.N = s32[] parameter(0)
  %b.N = s32[] parameter(1)
  %le.N = pred[] compare(%a.N, %b.N), direction=LE, metadata={op_name="le"}
  %one.N = u32[] constant(1)
  %sub.N = s32[] subtract(%a.N, %b.N), metadata={op_name="sub"}
  %type.N = u32[] convert(%sub.N), metadata={op_name="type"}
  %select.N = u32[] select(%le.N, %one.N, %type.N), metadata={op_name="select"}
"""
_IN_FUSIONS = (
    "HloModule m\n%first (p: s32[], q: s32[]) -> u32[1,1] {\n"
    + _CHOSEN.replace(".N", ".8")
    + """  %bitcast.8 = u32[1,1]{1,0} bitcast(%select.8)
  %one = u32[1,1]{1,0} constant({ {1} })
  ROOT %rem.8 = u32[1,1]{1,0} remainder(%one, %bitcast.8), metadata={op_name="rem"}
}
%second (p: s32[], q: s32[], r: u32[8]) -> u32[8] {
"""
    + _CHOSEN.replace(".N", ".9")
    + """  %r = u32[8]{0} parameter(2)
  %many.9 = u32[8]{0} broadcast(%select.9), dimensions={}
  ROOT %rem.9 = u32[8]{0} remainder(%r, %many.9), metadata={op_name="rem"}
}
ENTRY %main (a: s32[], b: s32[], x: u32[8]) -> (u32[1,1], u32[8]) {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  %x = u32[8]{0} parameter(2)
  %fusion.1 = u32[1,1]{1,0} fusion(%a, %b), kind=kLoop, calls=%first
  %fusion.2 = u32[8]{0} fusion(%a, %b, %x), kind=kLoop, calls=%second
  ROOT %out = (u32[1,1]{1,0}, u32[8]{0}) tuple(%fusion.1, %fusion.2)
}
"""
)


def test_scalars_continue_arrays_of_one_element_in_each_fusion(read: Read) -> None:
    matching = match(read(_BOUNDED), read(_IN_FUSIONS))
    for name in ("le", "sub", "type", "select"):
        known = matching.pairing_before(Place("main", f"{name}.1"))
        assert known is not None
        assert set(known.after) == {Place("first", f"{name}.8"), Place("second", f"{name}.9")}
