"""Originals that a pass left under longer names, while clones in fusions do their work."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule m
ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %constant.9 = f32[] constant(0.1)
  %b = f32[4]{0} broadcast(%constant.9), dimensions={}
  ROOT %add = f32[4]{0} add(%x, %b)
}
"""
_AFTER = """
HloModule m
%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  %constant.9.1 = f32[] constant(0.1)
  %b.1 = f32[4]{0} broadcast(%constant.9.1), dimensions={}
  ROOT %add.1 = f32[4]{0} add(%p, %b.1)
}
ENTRY %main (x.0: f32[4]) -> f32[4] {
  %constant.9.0 = f32[] constant(0.1)
  %x.0 = f32[4]{0} parameter(0)
  ROOT %fusion = f32[4]{0} fusion(%x.0), kind=kLoop, calls=%fused
}
"""


def test_what_stays_without_users_is_the_original_and_what_is_fused_a_clone(read: Read) -> None:
    before, after = read(_BEFORE), read(_AFTER)
    pairing = match(before, after).pairing_before(Place("main", "constant.9"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.grade is Grade.EXACT
    assert pairing.after == (Place("main", "constant.9.0"), Place("fused", "constant.9.1"))
    change = step(before, after)
    assert "left 1 constant without live users" in change.headline
    assert Kind.UNUSED not in {row.kind for row in change.changes}


def test_another_name_is_no_trace_of_the_original(read: Read) -> None:
    other = read(_AFTER.replace("constant.9.0", "constant.7"))
    pairing = match(read(_BEFORE), other).pairing_before(Place("main", "constant.9"))
    assert pairing is not None
    assert pairing.after == (Place("fused", "constant.9.1"),)
    assert Kind.UNUSED in {row.kind for row in step(read(_BEFORE), other).changes}


_WHOLE = """
HloModule m
ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %zeros.1 = f32[8]{0} broadcast(%zero), dimensions={}, metadata={op_name="zeros"}
  ROOT %sum.1 = f32[8]{0} add(%x, %zeros.1), metadata={op_name="sum"}
}
"""
_DIVIDED = """
HloModule m
ENTRY %main_spmd (y: f32[2]) -> f32[2] {
  %y = f32[2]{0} parameter(0)
  %zero.clone = f32[] constant(0)
  %zeros.9 = f32[2]{0} broadcast(%zero.clone), dimensions={}, metadata={op_name="zeros"}
  %mask = f32[2]{0} custom-call(), custom_call_target="mask"
  ROOT %sum.9 = f32[2]{0} add(%y, %mask), metadata={op_name="sum"}
}
"""


def test_a_share_that_nothing_reads_continues_what_was_divided(read: Read) -> None:
    matching = match(read(_WHOLE), read(_DIVIDED))
    assert matching.partner_after(Place("main", "zeros.1")) == Place("main_spmd", "zeros.9")
    assert matching.partner_after(Place("main", "zero")) == Place("main_spmd", "zero.clone")


def test_what_is_no_share_of_it_is_new(read: Read) -> None:
    other = _DIVIDED.replace("%zeros.9 = f32[2]", "%zeros.9 = f32[16]")
    assert match(read(_WHOLE), read(other)).partner_after(Place("main", "zeros.1")) is None


_RESHAPED = """HloModule m

ENTRY %main (a: f32[4,8,1]) -> f32[4,8] {
  %a = f32[4,8,1]{2,1,0} parameter(0)
  %reshape.1 = f32[4,8]{1,0} reshape(%a)
NEW
  ROOT %out = f32[4,8]{1,0} negate(%READ)
}
"""


@pytest.mark.parametrize(
    ("new", "last"),
    [
        (
            "  %copy.2 = f32[4,8,1]{1,0,2} copy(%a)\n  %bitcast.3 = f32[4,8]{1,0} bitcast(%copy.2)",
            "bitcast.3",
        ),
        (
            "  %bitcast.3 = f32[4,8]{0,1} bitcast(%a)\n  %copy.2 = f32[4,8]{1,0} copy(%bitcast.3)",
            "copy.2",
        ),
    ],
)
def test_a_reshape_that_is_left_became_the_copy_and_bitcast_that_is_read_instead(
    read: Read, new: str, last: str
) -> None:
    before = _RESHAPED.replace("NEW\n", "").replace("READ", "reshape.1")
    told = step(read(before), read(_RESHAPED.replace("NEW", new).replace("READ", last)))
    words = " ".join((told.headline, *told.account))
    assert f"`%reshape.1` in `main` became `%{last}` beside `%copy.2`, which changes the" in words
    assert "without live users" not in words
    kept = _RESHAPED.replace("NEW", new).replace("negate(%READ)", f"add(%{last}, %reshape.1)")
    both = before.replace("negate(%reshape.1)", "add(%reshape.1, %reshape.1)")
    told = step(read(both), read(kept))
    assert "became" not in " ".join((told.headline, *told.account))


_GATHERED = """
ENTRY %main (a: f32[4,8], b: f32[8,8]) -> bf16[8,8] {
  %a = f32[4,8]{1,0} parameter(0)
  %all = f32[8,8]{1,0} all-gather(%a), replica_groups={{0,1}}, dimensions={0}
  %narrow = bf16[8,8]{1,0} convert(%all)
  ROOT %out = bf16[8,8]{1,0} tanh(%narrow)
}
"""
_QUANTIZED = _GATHERED.replace(
    "  ROOT %out = bf16[8,8]{1,0} tanh(%narrow)",
    "  %narrow.1 = bf16[4,8]{1,0} convert(%a)\n"
    "  %all.1 = bf16[8,8]{1,0} all-gather(%narrow.1), replica_groups={{0,1}}, dimensions={0}\n"
    "  ROOT %out = bf16[8,8]{1,0} tanh(%all.1)",
)


def test_a_convert_before_the_collective_moved_where_that_behind_it_is_unread(read: Read) -> None:
    """It is no added convert: the collective sends the narrower values now."""
    made = step(read(_GATHERED), read(_QUANTIZED), "`collective-quantizer`")
    words = " ".join((made.headline, *made.account))
    assert "moved 1 convert past other instructions" in made.headline
    assert "`%narrow` in `main` was moved past `%all` (now `%narrow.1`)" in words
    assert "the original has no live users" in words
    assert "added 1 convert" not in words.lower()


def test_a_convert_to_another_type_is_added(read: Read) -> None:
    other = _QUANTIZED.replace("%narrow.1 = bf16", "%narrow.1 = f16").replace(
        "%all.1 = bf16", "%all.1 = f16"
    )
    made = step(read(_GATHERED), read(other), "`collective-quantizer`")
    assert Kind.ADDED in {change.kind for change in made.changes}


def test_a_convert_that_is_read_behind_the_collective_too_stays(read: Read) -> None:
    other = _QUANTIZED.replace("tanh(%all.1)", "add(%all.1, %narrow)")
    made = step(read(_GATHERED), read(other), "`collective-quantizer`")
    assert "the original has no live users" not in " ".join((made.headline, *made.account))
