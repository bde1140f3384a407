from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules import identity
from xlareport.analysis.matching.rules.heavy import joined
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search import NodePair
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

SUM = """
HloModule step
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %total = f32[] add(%a, %b)
}
"""
ARGUMENTS = """
  %x = f32[16,64]{1,0} parameter(0)
  %w = f32[64,8]{1,0} parameter(1)
  %v = f32[64,24]{1,0} parameter(2)
"""
SIGNATURE = "(x: f32[16,64], w: f32[64,8], v: f32[64,24]) -> (f32[16,8], f32[16,24])"
APART = f"""{SUM}
ENTRY %main {SIGNATURE} {{{ARGUMENTS}
  %one = f32[16,8]{{1,0}} dot(%x, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  %two = f32[16,24]{{1,0}} dot(%x, %v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  %sum.1 = f32[16,8]{{1,0}} all-reduce(%one), to_apply=%add
  %sum.2 = f32[16,24]{{1,0}} all-reduce(%two), to_apply=%add
  %sine = f32[16,8]{{1,0}} sine(%sum.1)
  %cosine = f32[16,24]{{1,0}} cosine(%sum.2)
  ROOT %out = (f32[16,8]{{1,0}}, f32[16,24]{{1,0}}) tuple(%sine, %cosine)
}}
"""


def test_collectives_joined_by_a_concatenation_are_told_as_combined(read: Read) -> None:
    """The one sends, side by side, what several sent; slices take the parts out of its result."""
    after = f"""{SUM}
ENTRY %main_spmd {SIGNATURE} {{{ARGUMENTS}
  %dot.7 = f32[16,8]{{1,0}} dot(%x, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  %dot.8 = f32[16,24]{{1,0}} dot(%x, %v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  %both = f32[16,32]{{1,0}} concatenate(%dot.7, %dot.8), dimensions={{1}}
  %start = f32[16,32]{{1,0}} all-reduce-start(%both), to_apply=%add
  %done = f32[16,32]{{1,0}} all-reduce-done(%start)
  %slice.1 = f32[16,8]{{1,0}} slice(%done), slice={{[0:16], [0:8]}}
  %slice.2 = f32[16,24]{{1,0}} slice(%done), slice={{[0:16], [8:32]}}
  %sine.3 = f32[16,8]{{1,0}} sine(%slice.1)
  %cosine.3 = f32[16,24]{{1,0}} cosine(%slice.2)
  ROOT %out = (f32[16,8]{{1,0}}, f32[16,24]{{1,0}}) tuple(%sine.3, %cosine.3)
}}
"""
    claim = match(read(APART), read(after)).pairing_before(Place("main", "sum.2"))
    assert claim is not None
    assert claim.relation is Relation.COMBINED
    assert set(claim.before) == {Place("main", "sum.1"), Place("main", "sum.2")}
    assert claim.after[0] == Place("main_spmd", "start")
    assert claim.grade is not Grade.EXACT


def test_dots_are_found_in_the_one_whose_slices_their_readers_read(read: Read) -> None:
    """A dot of joined operands, split over its contracted dimension as well."""
    before = """
HloModule step
ENTRY %main (x: f32[16,64], w: f32[64,8], v: f32[64,24]) -> (f32[16,8], f32[16,24]) {
  %x = f32[16,64]{1,0} parameter(0)
  %w = f32[64,8]{1,0} parameter(1)
  %v = f32[64,24]{1,0} parameter(2)
  %b = f32[16,64]{1,0} sine(%x)
  %one = f32[16,8]{1,0} dot(%b, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %two = f32[16,24]{1,0} dot(%b, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %tanh = f32[16,8]{1,0} tanh(%one)
  %cosine = f32[16,24]{1,0} cosine(%two)
  ROOT %out = (f32[16,8]{1,0}, f32[16,24]{1,0}) tuple(%tanh, %cosine)
}
"""
    after = f"""{SUM}
ENTRY %main_spmd {SIGNATURE} {{{ARGUMENTS}
  %sine.1 = f32[16,64]{{1,0}} sine(%x)
  %both = f32[64,32]{{1,0}} concatenate(%w, %v), dimensions={{1}}
  %halves = f32[2,32,32]{{2,1,0}} bitcast(%both)
  %parts = f32[16,2,32]{{2,1,0}} bitcast(%sine.1)
  %whole = f32[2,16,32]{{2,1,0}} dot(%parts, %halves), lhs_batch_dims={{1}}, lhs_contracting_dims={{2}}, rhs_batch_dims={{0}}, rhs_contracting_dims={{1}}
  %zero = f32[] constant(0)
  %reduce = f32[16,32]{{1,0}} reduce(%whole, %zero), dimensions={{0}}, to_apply=%add
  %slice.1 = f32[16,8]{{1,0}} slice(%reduce), slice={{[0:16], [0:8]}}
  %slice.2 = f32[16,24]{{1,0}} slice(%reduce), slice={{[0:16], [8:32]}}
  %tanh.1 = f32[16,8]{{1,0}} tanh(%slice.1)
  %cosine.1 = f32[16,24]{{1,0}} cosine(%slice.2)
  ROOT %out = (f32[16,8]{{1,0}}, f32[16,24]{{1,0}}) tuple(%tanh.1, %cosine.1)
}}
"""  # noqa: E501 - as XLA prints it
    matching = match(read(before), read(after))
    for name in ("one", "two"):
        claim = matching.pairing_before(Place("main", name))
        assert claim is not None
        assert claim.relation is Relation.COMBINED
        assert claim.after[0] == Place("main_spmd", "whole")


def test_two_collectives_of_one_value_are_both_in_the_combined_one(read: Read) -> None:
    groups = "replica_groups={{0,1}}, dimensions={0}"
    before = f"""
ENTRY %main (a: f32[4], b: f32[4]) -> (f32[8], f32[8], f32[8]) {{
  %a = f32[4]{{0}} parameter(0)
  %b = f32[4]{{0}} parameter(1)
  %x = f32[8]{{0}} all-gather(%a), channel_id=1, {groups}
  %y = f32[8]{{0}} all-gather(%b), channel_id=2, {groups}
  %z = f32[8]{{0}} all-gather(%a), channel_id=3, {groups}, use_global_device_ids=true
  ROOT %out = (f32[8]{{0}}, f32[8]{{0}}, f32[8]{{0}}) tuple(%x, %y, %z)
}}
"""
    shape = "(f32[8]{0}, f32[8]{0}, f32[8]{0})"
    after = f"""
ENTRY %main (a: f32[4], b: f32[4]) -> (f32[8], f32[8], f32[8]) {{
  %a = f32[4]{{0}} parameter(0)
  %b = f32[4]{{0}} parameter(1)
  %same = f32[4]{{0}} bitcast(%b)
  %all = {shape} all-gather(%same, %a, %a), channel_id=2, {groups}, use_global_device_ids=true
  %e.0 = f32[8]{{0}} get-tuple-element(%all), index=0
  %e.1 = f32[8]{{0}} get-tuple-element(%all), index=1
  %e.2 = f32[8]{{0}} get-tuple-element(%all), index=2
  ROOT %out = {shape} tuple(%e.1, %e.0, %e.2)
}}
"""
    pairing = match(read(before), read(after)).pairing_after(Place("main", "all"))
    assert pairing is not None
    assert {place.instruction for place in pairing.before} == {"x", "y", "z"}


_PARAMETERS = """
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %z = f32[8]{0} parameter(2)
"""
_SIGNATURE = "(x: f32[8], y: f32[8], z: f32[8]) -> (f32[16], f32[16], f32[16], f32[16])"
_RESULT = "(f32[16]{0}, f32[16]{0}, f32[16]{0}, f32[16]{0})"
_LATE = "  %late = f32[16]{0} all-gather(%x), channel_id=9, dimensions={0}\n"
_FIRST = "  %first.1 = f32[16]{0} all-gather(%x), channel_id=1, dimensions={0}\n"
_GATHERED_APART = f"""
HloModule m

ENTRY %main {_SIGNATURE} {{{_PARAMETERS}
{_LATE}{_FIRST}  %second.1 = f32[16]{{0}} all-gather(%y), channel_id=2, dimensions={{0}}
  %first.2 = f32[16]{{0}} all-gather(%z), channel_id=5, dimensions={{0}}
  %c = f32[16]{{0}} cosine(%late)
  %s = f32[16]{{0}} sine(%first.1)
  ROOT %out = {_RESULT} tuple(%c, %s, %second.1, %first.2)
}}
"""


@pytest.mark.parametrize("order", [_LATE + _FIRST, _FIRST + _LATE])
@pytest.mark.parametrize("operand", ["x", "moved"])
def test_collectives_of_one_value_are_told_apart_by_the_channel_of_the_combined_one(
    operand: str, order: str, read: Read
) -> None:
    """A combined collective has the channel of its first member."""
    both = "(f32[16]{0}, f32[16]{0})"
    after = f"""
HloModule m

ENTRY %main {_SIGNATURE} {{{_PARAMETERS}
  %moved = f32[8]{{0}} bitcast(%x)
  %all.1 = {both} all-gather(%{operand}, %y), channel_id=1, dimensions={{0}}
  %all.2 = {both} all-gather(%z, %x), channel_id=5, dimensions={{0}}
  %e.0 = f32[16]{{0}} get-tuple-element(%all.1), index=0
  %e.1 = f32[16]{{0}} get-tuple-element(%all.1), index=1
  %e.2 = f32[16]{{0}} get-tuple-element(%all.2), index=0
  %e.3 = f32[16]{{0}} get-tuple-element(%all.2), index=1
  %c = f32[16]{{0}} cosine(%e.3)
  %s = f32[16]{{0}} sine(%e.0)
  ROOT %out = {_RESULT} tuple(%c, %s, %e.1, %e.2)
}}
"""
    before = _GATHERED_APART.replace(_LATE + _FIRST, order)
    matching = match(read(before), read(after))
    for name, whole in (("first.1", "all.1"), ("late", "all.2")):
        claim = matching.pairing_before(Place("main", name))
        assert claim is not None
        assert (claim.relation, claim.after[0].instruction) == (Relation.COMBINED, whole)


_OF_ONE_VALUE = """
HloModule m

ENTRY %main (x: f32[8], y: f32[8], z: f32[8]) -> (f32[16], f32[16], f32[16], f32[16]) {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %z = f32[8]{0} parameter(2)
"""


@pytest.mark.parametrize("swapped", [False, True])
def test_collectives_of_one_value_are_told_apart_by_what_reads_their_elements(
    *, swapped: bool, read: Read
) -> None:
    """Neither is the first member, so neither channel is left."""
    before = f"""{_OF_ONE_VALUE}
  %first = f32[16]{{0}} all-gather(%y), channel_id=1, dimensions={{0}}
  %one = f32[16]{{0}} all-gather(%x), channel_id=2, dimensions={{0}}
  %second = f32[16]{{0}} all-gather(%z), channel_id=3, dimensions={{0}}
  %two = f32[16]{{0}} all-gather(%x), channel_id=4, dimensions={{0}}
  %c = f32[16]{{0}} cosine(%one)
  %s = f32[16]{{0}} sine(%two)
  ROOT %out = {_RESULT} tuple(%c, %s, %first, %second)
}}
"""
    elements = ("e.3", "e.1") if swapped else ("e.1", "e.3")
    both = "(f32[16]{0}, f32[4,4]{1,0})"
    after = f"""{_OF_ONE_VALUE}
  %moved = f32[4,2]{{1,0}} bitcast(%x)
  %other = f32[4,2]{{1,0}} bitcast(%x)
  %all.1 = {both} all-gather(%y, %moved), channel_id=1, dimensions={{0}}
  %all.2 = {both} all-gather(%z, %other), channel_id=3, dimensions={{0}}
  %e.0 = f32[16]{{0}} get-tuple-element(%all.1), index=0
  %g.1 = f32[4,4]{{1,0}} get-tuple-element(%all.1), index=1
  %e.1 = f32[16]{{0}} bitcast(%g.1)
  %e.2 = f32[16]{{0}} get-tuple-element(%all.2), index=0
  %g.3 = f32[4,4]{{1,0}} get-tuple-element(%all.2), index=1
  %e.3 = f32[16]{{0}} bitcast(%g.3)
  %c = f32[16]{{0}} cosine(%{elements[0]})
  %s = f32[16]{{0}} sine(%{elements[1]})
  ROOT %out = {_RESULT} tuple(%c, %s, %e.0, %e.2)
}}
"""
    matching = match(read(before), read(after))
    wholes = ("all.2", "all.1") if swapped else ("all.1", "all.2")
    for name, whole in zip(("one", "two"), wholes, strict=True):
        claim = matching.pairing_before(Place("main", name))
        assert claim is not None
        assert (claim.relation, claim.after[0].instruction) == (Relation.COMBINED, whole)


_MERGED_IN_TURN = """
HloModule m

ENTRY %main (x: f32[32,64], q: f32[64,16], k: f32[64,24], v: f32[64,8]) -> f32[32,8] {
  %x = f32[32,64]{1,0} parameter(0)
  %q = f32[64,16]{1,0} parameter(1)
  %k = f32[64,24]{1,0} parameter(2)
  %v = f32[64,8]{1,0} parameter(3)
  %both = f32[64,40]{1,0} concatenate(%q, %k), dimensions={1}
  %all = f32[64,48]{1,0} concatenate(%both, %v), dimensions={1}
  %whole = f32[32,48]{1,0} dot(%x, %all), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %half = f32[32,40]{1,0} slice(%whole), slice={[0:32], [0:40]}
  %s.q = f32[32,16]{1,0} slice(%half), slice={[0:32], [0:16]}
  %s.k = f32[32,24]{1,0} slice(%half), slice={[0:32], [16:40]}
  %s.v = f32[32,8]{1,0} slice(%whole), slice={[0:32], [40:48]}
  %sine = f32[32,16]{1,0} sine(%s.q)
  %cosine = f32[32,24]{1,0} cosine(%s.k)
  ROOT %tanh = f32[32,8]{1,0} tanh(%s.v)
}
"""
_DIMS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
_IN_TURN_BEFORE = (
    _MERGED_IN_TURN[: _MERGED_IN_TURN.index("  %both")]
    + "".join(
        f"  %dot.{name} = f32[32,{size}]{{1,0}} dot(%x, %{name}), {_DIMS}\n"
        for name, size in (("q", 16), ("k", 24), ("v", 8))
    )
    + _MERGED_IN_TURN[_MERGED_IN_TURN.index("  %sine") :].replace("%s.", "%dot.")
)


def test_dots_that_were_merged_two_at_a_time_are_all_in_the_last_one(read: Read) -> None:
    """Their readers, of slices of slices, are known, whatever is known of the operands."""
    search = start(read(_IN_TURN_BEFORE), read(_MERGED_IN_TURN), same_program=True)
    identity.same_name(search)
    joined.joined(search)
    members = [link.before.instruction.name for link in search.links if _is_whole(link)]
    assert sorted(members) == ["dot.k", "dot.q", "dot.v"]


def _is_whole(link: NodePair) -> bool:
    return link.after.instruction.name == "whole"
