from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.pairing import Place, Relation
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
