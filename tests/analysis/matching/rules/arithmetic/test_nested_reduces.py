"""A reduce of a reduce that became one reduce."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
HloModule m
%sum.N (x.N: f32[], y.N: f32[]) -> f32[] {
  %x.N = f32[] parameter(0)
  %y.N = f32[] parameter(1)
  ROOT %s.N = f32[] add(%x.N, %y.N)
}
"""
_HEADS = _HEAD.replace("N", "1") + _HEAD.replace("N", "2").replace("HloModule m\n", "")
_ENTRY = """
ENTRY %main (a: f32[8,4]) -> f32[] {
  %a = f32[8,4]{1,0} parameter(0)
  %zero = f32[] constant(0)
"""
_BEFORE = f"""{_HEADS}{_ENTRY}
  %rows = f32[8]{{0}} reduce(%a, %zero), dimensions={{1}}, to_apply=%sum.1
  %all = f32[] reduce(%rows, %zero), dimensions={{0}}, to_apply=%sum.2
  ROOT %out = f32[] negate(%all)
}}
"""
_AFTER = f"""{_HEADS}{_ENTRY}
  %all = f32[] reduce(%a, %zero), dimensions={{0,1}}, to_apply=%sum.2
  ROOT %out = f32[] negate(%all)
}}
"""


def test_both_became_one_over_the_dimensions_of_both(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_AFTER)).pairing_after(Place("main", "all"))
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED
    assert {place.instruction for place in pairing.before} == {"rows", "all"}


def test_a_reduce_that_another_instruction_reads_is_not_merged(read: Read) -> None:
    read_twice = _BEFORE.replace("negate(%all)", 'custom-call(%all, %rows), target="f"').replace(
        "target=", "custom_call_target="
    )
    pairing = match(read(read_twice), read(_AFTER)).pairing_after(Place("main", "all"))
    assert pairing is None or pairing.relation is not Relation.COMBINED


def test_a_reduce_that_else_only_dead_code_reads_is_merged(read: Read) -> None:
    """TensorFlow converts sums to the type that they have, and nothing reads that."""
    unread = _BEFORE.replace("  %all =", "  %dead = f32[8]{0} convert(%rows)\n  %all =")
    pairing = match(read(unread), read(_AFTER)).pairing_after(Place("main", "all"))
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED


def test_reduces_between_which_converts_do_nothing_are_merged(read: Read) -> None:
    """Whatever else changed: the new one is in a fusion, and reads what is computed otherwise."""
    before = _BEFORE.replace("reduce(%a,", "reduce(%twice,").replace("reduce(%rows", "reduce(%d")
    lines = "  %c = f32[8]{0} convert(%rows)\n  %d = f32[8]{0} convert(%c)\n  %all ="
    before = before.replace("  %all =", lines)
    before = before.replace("  %rows =", "  %twice = f32[8,4]{1,0} add(%a, %a)\n  %rows =")
    after = f"""{_HEADS}
%fused (p: f32[8,4]) -> f32[] {{
  %p = f32[8,4]{{1,0}} parameter(0)
  %scaled = f32[8,4]{{1,0}} negate(%p)
  %none = f32[] constant(0)
  ROOT %total = f32[] reduce(%scaled, %none), dimensions={{0,1}}, to_apply=%sum.2
}}
{_ENTRY}
  %fusion = f32[] fusion(%a), kind=kLoop, calls=%fused
  ROOT %out = f32[] negate(%fusion)
}}
"""
    pairing = match(read(before), read(after)).pairing_after(Place("fused", "total"))
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED
    assert {place.instruction for place in pairing.before} == {"rows", "all"}


def test_a_reduce_behind_which_another_only_drops_dimensions_goes_on(read: Read) -> None:
    inner = "  %rows = f32[8]{0} reduce(%a, %zero), dimensions={1}, to_apply=%sum.1\n"
    outer = "  %all = f32[] reduce(%rows, %zero), dimensions={0}, to_apply=%sum.2\n"
    chain = """  %flat = f32[32,1]{1,0} reshape(%a)
  %rows = f32[1]{0} reduce(%flat, %zero), dimensions={0}, to_apply=%sum.1
  %turned = f32[1,1]{1,0} reshape(%rows)
  %all = f32[] reduce(%turned, %zero), dimensions={0,1}, to_apply=%sum.2
"""
    before = _BEFORE.replace(inner, "").replace(outer, chain)
    alone = """  %f = f32[32]{0} reshape(%a)
  %s = f32[] reduce(%f, %zero), dimensions={0}, to_apply=%sum.1
"""
    line = "  %all = f32[] reduce(%a, %zero), dimensions={0,1}, to_apply=%sum.2\n"
    after = _AFTER.replace(line, alone).replace("(%all)", "(%s)")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "rows")) == Place("main", "s")
    assert matching.partner_after(Place("main", "all")) is None


def test_a_reduce_of_one_element_goes_on_as_the_reshape_that_another_user_reads(read: Read) -> None:
    before = f"""{_HEADS}
ENTRY %main (a: f32[8,1], b: f32[8,4]) -> f32[8,4] {{
  %a = f32[8,1]{{1,0}} parameter(0)
  %b = f32[8,4]{{1,0}} parameter(1)
  %zero = f32[] constant(0)
  %flat = f32[8]{{0}} reduce(%a, %zero), dimensions={{1}}, to_apply=%sum.1
  %wide = f32[8,4]{{1,0}} broadcast(%flat), dimensions={{0}}
  ROOT %out = f32[8,4]{{1,0}} multiply(%b, %wide)
}}
"""
    new = """%moved = f32[8]{0} reshape(%a)
  %scaled = f32[8]{0} add(%moved, %moved)
  %wider = f32[8,4]{1,0} broadcast(%scaled), dimensions={0}"""
    lines = [line for line in before.splitlines() if "%wide =" not in line]
    old = "%flat = f32[8]{0} reduce(%a, %zero), dimensions={1}, to_apply=%sum.1"
    after = "\n".join(lines).replace(old, new).replace("(%b, %wide)", "(%b, %wider)")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "flat")) == Place("main", "moved")


def test_a_reduce_of_one_element_is_not_continued_by_a_sum_over_several(read: Read) -> None:
    """In a whole compilation the partitioner divides what the inner one reduces."""
    before = f"""{_HEADS}
ENTRY %main (a: f32[16,8,4]) -> f32[4] {{
  %a = f32[16,8,4]{{2,1,0}} parameter(0)
  %zero = f32[] constant(0)
  %rows = f32[4]{{0}} reduce(%a, %zero), dimensions={{0,1}}, to_apply=%sum.1
  %flat = f32[1,1,4]{{2,1,0}} reshape(%rows)
  %all = f32[4]{{0}} reduce(%flat, %zero), dimensions={{0,1}}, to_apply=%sum.2
  %half = f32[4]{{0}} negate(%all)
  ROOT %out = f32[4]{{0}} add(%all, %half)
}}
"""
    after = f"""{_HEADS}
ENTRY %main (a: f32[2,8,4]) -> f32[4] {{
  %a = f32[2,8,4]{{2,1,0}} parameter(0)
  %zero = f32[] constant(0)
  %turned = f32[2,8,4]{{2,1,0}} sine(%a)
  %total = f32[4]{{0}} reduce(%turned, %zero), dimensions={{0,1}}, to_apply=%sum.2
  %half = f32[4]{{0}} negate(%total)
  ROOT %out = f32[4]{{0}} add(%total, %half)
}}
"""
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "rows")) == Place("main", "total")
    assert matching.partner_after(Place("main", "all")) is None


def test_a_reduce_of_one_element_is_no_duplicate_of_what_it_reads(read: Read) -> None:
    """It has the value of the reduce that it reads, which goes on in a fusion."""
    before = f"""{_HEADS}
ENTRY %main (a: f32[8,4]) -> f32[4] {{
  %a = f32[8,4]{{1,0}} parameter(0)
  %zero = f32[] constant(0)
  %rows = f32[4]{{0}} reduce(%a, %zero), dimensions={{0}}, to_apply=%sum.1
  %flat = f32[1,4]{{1,0}} reshape(%rows)
  %all = f32[4]{{0}} reduce(%flat, %zero), dimensions={{0}}, to_apply=%sum.2
  ROOT %out = f32[4]{{0}} negate(%all)
}}
"""
    after = f"""{_HEADS}
ENTRY %main (a: f32[8,4]) -> f32[4] {{
  %a = f32[8,4]{{1,0}} parameter(0)
  %zero = f32[] constant(0)
  %all.1 = f32[4]{{0}} reduce(%a, %zero), dimensions={{0}}, to_apply=%sum.1
  ROOT %out = f32[4]{{0}} negate(%all.1)
}}
"""
    pairing = match(read(before), read(after)).pairing_before(Place("main", "all"))
    assert pairing is not None
    assert pairing.relation is Relation.REMOVED
    assert pairing.reason == "it only reduced dimensions of one element"


def test_a_reduce_that_is_read_behind_a_convert_too_is_not_merged(read: Read) -> None:
    """TensorFlow asks for the size of what it sums up: the inner one stays."""
    lines = (
        "  %d = f32[8]{0} convert(%rows)\n  %size = u32[] get-dimension-size(%d), dimensions={0}"
    )
    before = _BEFORE.replace("reduce(%rows", "reduce(%d").replace("  %all =", f"{lines}\n  %all =")
    before = before.replace("negate(%all)", "add(%all, %size)")
    inner = "  %rows = f32[8]{0} reduce(%a, %zero), dimensions={1}, to_apply=%sum.1\n"
    size = "  %size = u32[] get-dimension-size(%rows), dimensions={0}\n"
    after = _AFTER.replace("  %all =", f"{inner}{size}  %whole =").replace(
        "negate(%all)", "add(%whole, %size)"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "rows")) == Place("main", "rows")


def test_a_reshape_goes_on_as_the_reduce_that_drops_its_dimensions_of_one_element(
    read: Read,
) -> None:
    """`tpu-copy-normalizer` makes such reduces."""
    before = f"""{_HEADS}
ENTRY %main (a: f32[1,8], b: f32[4,8]) -> f32[4,8] {{
  %a = f32[1,8]{{1,0}} parameter(0)
  %b = f32[4,8]{{1,0}} parameter(1)
  %wave = f32[1,8]{{1,0}} sine(%a)
  %flat = f32[8]{{0}} reshape(%wave)
  %wide = f32[4,8]{{1,0}} broadcast(%flat), dimensions={{1}}
  ROOT %out = f32[4,8]{{1,0}} multiply(%b, %wide)
}}
"""
    reduced = """%start = f32[] constant(-0)
  %reduce.1 = f32[8]{0} reduce(%wave, %start), dimensions={0}, to_apply=%sum.1"""
    after = before.replace("%flat = f32[8]{0} reshape(%wave)", reduced).replace(
        "broadcast(%flat)", "broadcast(%reduce.1)"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "flat")) == Place("main", "reduce.1")
    chosen = [text.replace("f32", "pred").replace("sine", "not") for text in (before, after)]
    matching = match(read(chosen[0]), read(chosen[1].replace("constant(-0)", "constant(false)")))
    assert matching.partner_after(Place("main", "flat")) == Place("main", "reduce.1")
    counted = after.replace("constant(-0)", "constant(1)")
    matching = match(read(before), read(counted))
    assert matching.partner_after(Place("main", "flat")) is None
