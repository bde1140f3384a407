import re
from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.numbers_changed import ORDER, numbers_changed
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

HEAD = """
HloModule step
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}
ENTRY %main (x: f32[8], y: f32[8], z: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %z = f32[8]{0} parameter(2)
"""
APART = f"""{HEAD}
  %one = f32[8]{{0}} all-reduce(%x), to_apply=%sum
  %two = f32[8]{{0}} all-reduce(%y), to_apply=%sum
  %three = f32[8]{{0}} all-reduce(%z), to_apply=%sum
  %add.1 = f32[8]{{0}} add(%one, %two)
  %add.2 = f32[8]{{0}} add(%add.1, %three)
  ROOT %tanh = f32[8]{{0}} tanh(%add.2)
}}
"""


def test_all_reduces_that_were_added_became_one_of_the_sum(read: Read) -> None:
    """What `all-reduce-reassociate` does; its names of the sums stay."""
    after = f"""{HEAD}
  %add.1 = f32[8]{{0}} add(%x, %y)
  %add.2 = f32[8]{{0}} add(%add.1, %z)
  %all-reduce.4 = f32[8]{{0}} all-reduce(%add.2), to_apply=%sum
  ROOT %tanh = f32[8]{{0}} tanh(%all-reduce.4)
}}
"""
    matching = match(read(APART), read(after))
    claim = matching.pairing_before(Place("main", "one"))
    assert claim is not None
    assert claim.relation is Relation.COMBINED
    assert claim.before == tuple(Place("main", name) for name in ("three", "one", "two"))
    assert claim.after == (Place("main", "all-reduce.4"),)
    assert claim.grade is Grade.MATCHED


def test_a_further_term_of_the_sum_that_stays_as_it_is_is_no_part_of_it(read: Read) -> None:
    more = "  %four = f32[8]{0} all-reduce(%u), channel_id=9, to_apply=%sum\n  ROOT"
    given = "  %z = f32[8]{0} parameter(2)\n  %u = f32[8]{0} negate(%z)\n"
    before = APART.replace("  %z = f32[8]{0} parameter(2)\n", given).replace("  ROOT %tanh", more)
    before = before.replace(f"{more} = f32[8]{{0}} tanh(%add.2)", f"{more} %out = TOTAL")
    before = before.replace("TOTAL", "f32[8]{0} add(%add.2, %four)")
    after = before.replace("add(%one, %two)", "add(%x, %y)").replace("%three)", "%z)")
    after = re.sub(r"  %(one|two|three) = .*\n", "", after)
    sent = "  %all-reduce.4 = f32[8]{0} all-reduce(%add.2), to_apply=%sum\n"
    after = after.replace("  %four", f"{sent}  %four").replace("add(%add.2, %four)", "SUM")
    after = after.replace("SUM", "add(%all-reduce.4, %four)")
    after = after.replace("add(%x, %y)", "add(%y, %z)").replace(
        "add(%add.1, %z)", "add(%x, %add.1)"
    )
    after = after.replace("add.1", "sum.7").replace("add.2", "sum.8")
    named = 'to_apply=%sum, metadata={op_name="f/psum"}'
    before, after = (text.replace("to_apply=%sum", named) for text in (before, after))
    claim = match(read(before), read(after)).pairing_before(Place("main", "one"))
    assert claim is not None
    assert claim.relation is Relation.COMBINED
    assert {place.instruction for place in claim.before} == {"one", "two", "three"}


def test_a_sum_that_is_sent_in_parts_stays_apart(read: Read) -> None:
    matching = match(read(APART), read(APART.replace("tanh", "cosine")))
    assert not [claim for claim in matching.pairings if claim.relation is Relation.COMBINED]


PADDED = """
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}
ENTRY %main (x: f32[1,8], y: f32[1,8]) -> f32[2,8] {
  %x = f32[1,8]{1,0} parameter(0)
  %y = f32[1,8]{1,0} parameter(1)
  %zero = f32[] constant(0)
"""


def test_all_reduces_that_were_padded_and_added_became_one_of_the_sum(read: Read) -> None:
    """What `all-reduce-reassociate` does to gradients of two rows of one weight."""
    before = f"""{PADDED}
  %one = f32[1,8]{{1,0}} all-reduce(%x), to_apply=%sum
  %two = f32[1,8]{{1,0}} all-reduce(%y), to_apply=%sum
  %pad.1 = f32[2,8]{{1,0}} pad(%one, %zero), padding=1_0x0_0
  %pad.2 = f32[2,8]{{1,0}} pad(%two, %zero), padding=0_1x0_0
  %add.1 = f32[2,8]{{1,0}} add(%pad.1, %pad.2)
  ROOT %tanh = f32[2,8]{{1,0}} tanh(%add.1)
}}
"""
    after = f"""{PADDED}
  %pad.1 = f32[2,8]{{1,0}} pad(%x, %zero), padding=1_0x0_0
  %pad.2 = f32[2,8]{{1,0}} pad(%y, %zero), padding=0_1x0_0
  %add.1 = f32[2,8]{{1,0}} add(%pad.1, %pad.2)
  %all-reduce.4 = f32[2,8]{{1,0}} all-reduce(%add.1), to_apply=%sum
  ROOT %tanh = f32[2,8]{{1,0}} tanh(%all-reduce.4)
}}
"""
    claim = match(read(before), read(after)).pairing_before(Place("main", "one"))
    assert claim is not None
    assert claim.relation is Relation.COMBINED
    assert {place.instruction for place in claim.before} == {"one", "two"}


def extremes(read: Read, joined: str) -> list[Relation]:
    """Return what became of two all-reduces of maxima joined so, where the maximum is sent."""
    head = HEAD.replace("ROOT %c = f32[] add", "ROOT %c = f32[] maximum")
    sent = "%m = f32[8]{0} all-reduce(%m.0), to_apply=%sum, replica_groups={}"
    before = f"""{head}
  %one = f32[8]{{0}} all-reduce(%x), to_apply=%sum
  %two = f32[8]{{0}} all-reduce(%y), to_apply=%sum
  %m.0 = f32[8]{{0}} {joined}(%one, %two)
  ROOT %tanh = f32[8]{{0}} tanh(%m.0)
}}
"""
    after = f"""{head}
  %m.0 = f32[8]{{0}} {joined}(%x, %y)
  {sent}
  ROOT %tanh = f32[8]{{0}} tanh(%m)
}}
"""
    pairings = match(read(before), read(after)).pairings
    return [pairing.relation for pairing in pairings if len(pairing.before) == len("ab")]


def test_all_reduces_of_maxima_became_one_of_the_maximum(read: Read) -> None:
    assert extremes(read, "maximum") == [Relation.COMBINED]


def test_a_sum_of_maxima_is_no_maximum(read: Read) -> None:
    assert extremes(read, "add") == []


_STATE = "(s32[], f32[2,3]{1,0}, f32[3,2]{1,0}, f32[3,2]{1,0}, f32[2,3]{1,0})"
_IN_A_LOOP = f"""
%plus (s: f32[], t: f32[]) -> f32[] {{
  %s = f32[] parameter(0)
  %t = f32[] parameter(1)
  ROOT %u = f32[] add(%s, %t)
}}
%body (p: {_STATE}) -> {_STATE} {{
  %p = {_STATE} parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%n, %one)
  %total.1 = f32[2,3]{{1,0}} get-tuple-element(%p), index=1
  %total.2 = f32[3,2]{{1,0}} get-tuple-element(%p), index=2
  %x.1 = f32[3,2]{{1,0}} get-tuple-element(%p), index=3
  %x.2 = f32[2,3]{{1,0}} get-tuple-element(%p), index=4
  %share.1 = f32[3,2]{{1,0}} sine(%x.1)
  %share.2 = f32[2,3]{{1,0}} sine(%x.2)
  %sent.1 = f32[3,2]{{1,0}} all-reduce(%share.1), replica_groups={{{{0,1}}}}, to_apply=%plus
  %sent.2 = f32[2,3]{{1,0}} all-reduce(%share.2), replica_groups={{{{0,1}}}}, to_apply=%plus
  %turned.1 = f32[2,3]{{1,0}} transpose(%sent.1), dimensions={{1,0}}
  %turned.2 = f32[3,2]{{1,0}} transpose(%sent.2), dimensions={{1,0}}
  %more.1 = f32[2,3]{{1,0}} add(%total.1, %turned.1)
  %more.2 = f32[3,2]{{1,0}} add(%total.2, %turned.2)
  ROOT %out = {_STATE} tuple(%next, %more.1, %more.2, %x.1, %x.2)
}}
%condition (q: {_STATE}) -> pred[] {{
  %q = {_STATE} parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  %six = s32[] constant(6)
  ROOT %goes = pred[] compare(%k, %six), direction=LT
}}
ENTRY %main (a: f32[2,3], b: f32[3,2], c: f32[3,2], d: f32[2,3]) -> (f32[2,3], f32[3,2]) {{
  %a = f32[2,3]{{1,0}} parameter(0)
  %b = f32[3,2]{{1,0}} parameter(1)
  %c = f32[3,2]{{1,0}} parameter(2)
  %d = f32[2,3]{{1,0}} parameter(3)
  %zero = s32[] constant(0)
  %start = {_STATE} tuple(%zero, %a, %b, %c, %d)
  %loop = {_STATE} while(%start), condition=%condition, body=%body
  %last.1 = f32[2,3]{{1,0}} get-tuple-element(%loop), index=1
  %last.2 = f32[3,2]{{1,0}} get-tuple-element(%loop), index=2
  ROOT %end = (f32[2,3]{{1,0}}, f32[3,2]{{1,0}}) tuple(%last.1, %last.2)
}}
"""


def test_all_reduces_of_what_a_loop_adds_up_follow_the_loop_in_another_shape(read: Read) -> None:
    after = re.sub(r"  %sent.*\n", "", _IN_A_LOOP)
    after = after.replace("transpose(%sent", "transpose(%share")
    after = after.replace("tuple(%last.1, %last.2)", "tuple(%all.8, %all.9)").replace(
        "  ROOT %end",
        """  %all.8 = f32[2,3]{1,0} all-reduce(%last.1), replica_groups={{0,1}}, to_apply=%plus
  %all.9 = f32[3,2]{1,0} all-reduce(%last.2), replica_groups={{0,1}}, to_apply=%plus
  ROOT %end""",
    )
    (numbers,) = numbers_changed(step(read(_IN_A_LOOP), read(after)))
    assert (numbers.what, numbers.count) == (ORDER, 2)
    matching = match(read(_IN_A_LOOP), read(after))
    for number, name in ((1, "all.8"), (2, "all.9")):
        assert matching.partner_after(Place("body", f"sent.{number}")) == Place("main", name)


_SHARES = f"""{HEAD}
  %p = u32[] partition-id()
  %i = s32[] convert(%p)
  %j = s32[] negate(%i)
  %one = f32[8]{{0}} all-reduce(%x), to_apply=%sum
  %two = f32[8]{{0}} all-reduce(%y), to_apply=%sum
  %part.1 = f32[4]{{0}} dynamic-slice(%one, %i), dynamic_slice_sizes={{4}}
  %part.2 = f32[4]{{0}} dynamic-slice(%two, %i), dynamic_slice_sizes={{4}}
  %add.1 = f32[4]{{0}} add(%part.1, %part.2), metadata={{op_name="add_any"}}
  ROOT %tanh = f32[4]{{0}} tanh(%add.1)
}}
"""
_SHARE_OF_SUM = f"""{HEAD}
  %p = u32[] partition-id()
  %i = s32[] convert(%p)
  %j = s32[] negate(%i)
  %add.9 = f32[8]{{0}} add(%x, %y), metadata={{op_name="add_any"}}
  %all-reduce.9 = f32[8]{{0}} all-reduce(%add.9), to_apply=%sum
  %part.9 = f32[4]{{0}} dynamic-slice(%all-reduce.9, %i), dynamic_slice_sizes={{4}}
  ROOT %tanh = f32[4]{{0}} tanh(%part.9)
}}
"""


def test_all_reduces_of_which_equal_shares_were_added_became_one_of_the_sum(read: Read) -> None:
    claim = match(read(_SHARES), read(_SHARE_OF_SUM)).pairing_before(Place("main", "one"))
    assert claim is not None
    assert claim.relation is Relation.COMBINED
    assert {place.instruction for place in claim.before} == {"one", "two"}
    assert claim.after == (Place("main", "all-reduce.9"),)


def test_all_reduces_of_which_different_shares_were_added_stay_apart(read: Read) -> None:
    other = _SHARES.replace("dynamic-slice(%two, %i)", "dynamic-slice(%two, %j)")
    pairings = match(read(other), read(_SHARE_OF_SUM)).pairings
    assert not [claim for claim in pairings if claim.relation is Relation.COMBINED]
