"""Duplicates whose kept line gets its value only after the duplicate was numbered."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
ENTRY %main (x: s32[2,8]) -> (s32[16], s32[16], s32[2,8]) {
  %x = s32[2,8]{1,0} parameter(0)
  %c.0 = s32[] constant(1)
  %b.0 = s32[2,8]{1,0} broadcast(%c.0), dimensions={}
  %d.0 = s32[] constant(3)
  %e.0 = s32[2,8]{1,0} broadcast(%d.0), dimensions={}
  %k.0 = s32[2,8]{1,0} add(%x, %b.0)
  %k = s32[2,8]{1,0} add(%k.0, %e.0)
"""
_CONSTANTS = """
  %c.1 = s32[] constant(1)
  %b.1 = s32[2,8]{1,0} broadcast(%c.1), dimensions={}
  %d.1 = s32[] constant(3)
  %e.1 = s32[2,8]{1,0} broadcast(%d.1), dimensions={}
"""
_WORK = """
  %s.1 = s32[2,8]{1,0} shift-left(%k, %b.1)
  %u.1 = s32[2,8]{1,0} shift-left(%x, %e.1)
  %o.1 = s32[2,8]{1,0} or(%s.1, %u.1)
  %r.1 = s32[16]{0} reshape(%o.1)
"""
_END = """
  %f = s32[16]{0} negate(%r.1)
  %g = s32[16]{0} not(%r.2)
  %z = s32[2,8]{1,0} or(%x, %k)
  ROOT %t = (s32[16]{0}, s32[16]{0}, s32[2,8]{1,0}) tuple(%f, %g, %z)
}
"""


def test_a_duplicate_is_found_though_another_reads_what_was_kept(read: Read) -> None:
    """`%z` of the new module reads the same as `%o.1`, and gets its value before `%o.2` does."""
    one, two = _CONSTANTS + _WORK, (_CONSTANTS + _WORK).replace(".1", ".2")
    kept = _WORK.replace("%b.1", "%b.0").replace("%e.1", "%e.0")
    end = _END.replace("%r.2", "%r.1").replace("(%x, %k)", "(%s.1, %u.1)")
    matching = match(read(_HEAD + one + two + _END), read(_HEAD + kept + end))
    for name in "osru":
        merged = matching.pairing_before(Place("main", f"{name}.2"))
        assert merged is not None
        assert merged.relation is Relation.MERGED
        assert merged.after == (Place("main", f"{name}.1"),)


def test_what_repeats_work_on_an_element_with_many_readers_was_merged(read: Read) -> None:
    readers = "\n".join(f"  %sum.{n} = f32[8]{{0}} add(%x, %b.{n})" for n in range(20))
    names = [f"b.{n}" for n in range(20)]
    parameters = "\n".join(
        f"  %{name} = f32[8]{{0}} parameter({number})" for number, name in enumerate(names, 1)
    )
    sums = ", ".join(f"%sum.{n}" for n in range(20))
    shapes = ", ".join(["f32[8]{0}"] * 22)
    module = f"""
ENTRY %main (a: f32[8], {", ".join(f"{name}: f32[8]" for name in names)}) -> ({shapes}) {{
  %a = f32[8]{{0}} parameter(0)
{parameters}
  %iota = s32[8]{{0}} iota(), iota_dimension=0
  %sort = (s32[8]{{0}}, f32[8]{{0}}) sort(%iota, %a), dimensions={{0}}, to_apply=%less
  %x = f32[8]{{0}} get-tuple-element(%sort), index=1
{readers}
  %first = f32[8]{{0}} negate(%x)
  %second = f32[8]{{0}} negate(%x)
  %sine.1 = f32[8]{{0}} sine(%first)
  %cosine.1 = f32[8]{{0}} cosine(%second)
  ROOT %out = ({shapes}) tuple({sums}, %sine.1, %cosine.1)
}}
"""
    after = module.replace("  %second = f32[8]{0} negate(%x)\n", "").replace("%second", "%first")
    pairing = match(read(module), read(after)).pairing_before(Place("main", "second"))
    assert pairing is not None
    assert pairing.relation is Relation.MERGED
