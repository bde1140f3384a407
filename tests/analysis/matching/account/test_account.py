"""Pairings of a finished search: each difference has one, whatever was linked."""

from collections.abc import Callable, Mapping

from xlareport.analysis.matching.account.account import pairings
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]
ByNames = Mapping[tuple[tuple[str, ...], tuple[str, ...]], Pairing]

TEXT = """
ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
LINES
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%x, %y)
}
"""


def searched(read: Read, before: str, after: str, computations: str = "") -> Search:
    search = start(
        read(computations + TEXT.replace("LINES", before)),
        read(computations + TEXT.replace("LINES", after)),
    )
    search.evaluate()
    return search


def node(side: Side, name: str) -> Node:
    home = side.homes["main"]
    return home.node(home.computation.by_name[name])


def link(search: Search, before: str, after: str, grade: Grade = Grade.MATCHED) -> None:
    assert search.link(node(search.before, before), node(search.after, after), grade, "linked")


def accounted(search: Search) -> ByNames:
    """Finish a search; return its pairings by the names before and after."""
    search.finish()
    return {
        (
            tuple(place.instruction for place in pairing.before),
            tuple(place.instruction for place in pairing.after),
        ): pairing
        for pairing in pairings(search)
    }


TWO = "  %x = f32[8]{0} abs(%a)\n  %y = f32[8]{0} cosine(%b)"


def test_equal_modules_have_no_pairings(read: Read) -> None:
    assert accounted(searched(read, TWO, TWO)) == {}


def test_what_is_linked_with_nothing_is_removed_and_added(read: Read) -> None:
    by_names = accounted(searched(read, TWO, TWO.replace("abs", "negate")))
    assert {places: pairing.relation for places, pairing in by_names.items()} == {
        (("x",), ()): Relation.REMOVED,
        ((), ("x",)): Relation.ADDED,
    }
    assert all(pairing.reason for pairing in by_names.values())


def test_a_link_is_a_pairing_with_its_grade_and_reason(read: Read) -> None:
    search = searched(read, TWO, TWO.replace("abs", "negate"))
    link(search, "x", "x", Grade.GUESSED)
    (pairing,) = accounted(search).values()
    assert (pairing.relation, pairing.reason) == (Relation.REPLACED, "linked")
    assert pairing.grade is Grade.GUESSED


MORE = (
    "  %x = f32[8]{0} abs(%a)\n  %x.1 = f32[8]{0} abs(%a)\n  %s = f32[8]{0} add(%x, %x.1)\n"
    "  %y = f32[8]{0} cosine(%s)"
)
FEWER = "  %x = f32[8]{0} abs(%a)\n  %s = f32[8]{0} add(%x, %x)\n  %y = f32[8]{0} cosine(%s)"


def test_a_further_new_instruction_of_a_kept_line_is_a_clone(read: Read) -> None:
    by_names = accounted(searched(read, FEWER, MORE))
    pairing = by_names[("x",), ("x", "x.1")]
    assert pairing.relation is Relation.CLONED


def test_a_further_old_instruction_of_a_kept_line_was_merged(read: Read) -> None:
    search = searched(read, MORE, FEWER)
    link(search, "s", "s")
    by_names = accounted(search)
    (places,) = (places for places, known in by_names.items() if known.relation is Relation.MERGED)
    assert places == (("x", "x.1"), ("x",))


BOTH = (
    '  %w = (f32[8]{0}, f32[8]{0}) custom-call(%a, %b), custom_call_target="f"\n'
    "  %x = f32[8]{0} get-tuple-element(%w), index=0\n"
    "  %y = f32[8]{0} get-tuple-element(%w), index=1"
)
SINGLE = "  %u = f32[8]{0} abs(%a)\n  %x = f32[8]{0} negate(%u)\n  %y = f32[8]{0} cosine(%b)"


def test_several_that_became_one_are_in_one_pairing(read: Read) -> None:
    search = searched(read, SINGLE, BOTH)
    members = [node(search.before, name) for name in ("x", "y")]
    search.combine(members, node(search.after, "w"), Grade.MATCHED, "side by side")
    pairing = accounted(search)[("x", "y"), ("w",)]
    assert (pairing.relation, pairing.reason) == (Relation.COMBINED, "side by side")


def test_one_that_became_several_is_in_one_pairing(read: Read) -> None:
    after = "  %p = f32[8]{0} abs(%a)\n  %x = f32[8]{0} negate(%p)\n  %y = f32[8]{0} cosine(%b)"
    search = searched(read, TWO.replace("abs", "tanh"), after)
    link(search, "x", "x")
    search.extend(node(search.before, "x"), node(search.after, "p"))
    pairing = accounted(search)[("x",), ("x", "p")]
    assert pairing.relation is Relation.SPLIT


FUSED = """
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %i = f32[8]{0} abs(%p)
  ROOT %r = f32[8]{0} negate(%i)
}
"""


def test_a_new_fusion_is_paired_with_what_it_holds(read: Read) -> None:
    before = "  %i = f32[8]{0} abs(%a)\n  %x = f32[8]{0} negate(%i)\n  %y = f32[8]{0} cosine(%b)"
    after = "  %x.1 = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused\n  %y = f32[8]{0} cosine(%b)"
    search = start(
        read(TEXT.replace("LINES", before)),
        read(FUSED + TEXT.replace("LINES", after).replace("tuple(%x,", "tuple(%x.1,")),
    )
    inside = search.after.homes["fused"]
    search.evaluate()
    for old, new in (("i", "i"), ("x", "r")):
        pair = node(search.before, old), inside.node(inside.computation.by_name[new])
        search.link(*pair, Grade.EXACT, "the same")
    by_names = accounted(search)
    assert by_names[("i", "x"), ("x.1",)].relation is Relation.FUSED
    assert by_names[("i", "x"), ("x.1",)].reason.startswith("fuses ")


def test_every_difference_has_a_pairing(read: Read) -> None:
    by_names = accounted(searched(read, SINGLE, BOTH))
    before = {name for places, _ in by_names for name in places}
    after = {name for _, places in by_names for name in places}
    assert before >= {"u", "x", "y"}
    assert after >= {"w", "x", "y"}


_FILLED = """HloModule m

%add (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] maximum(%p, %q)
}

ENTRY %main (x: f32[8,1,14,14], k: f32[4,1,3,3], b: f32[4]) -> f32[8,4,7,7] {
  %x = f32[8,1,14,14]{3,2,1,0} parameter(0)
  %k = f32[4,1,3,3]{3,2,1,0} parameter(1)
  %b = f32[4]{0} parameter(2)
  %convolution.33 = f32[8,4,14,14]{3,2,1,0} convolution(%x, %k), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  %broadcast.34 = f32[8,14,14,4]{3,2,1,0} broadcast(%b), dimensions={3}
  %transpose.35 = f32[8,4,14,14]{1,3,2,0} transpose(%broadcast.34), dimensions={0,3,1,2}
  %add.36 = f32[8,4,14,14]{3,2,1,0} add(%convolution.33, %transpose.35)
  %constant.37 = f32[] constant(0)
  %broadcast.38 = f32[8,4,14,14]{3,2,1,0} broadcast(%constant.37), dimensions={}
  %maximum.39 = f32[8,4,14,14]{3,2,1,0} maximum(%add.36, %broadcast.38)
  %constant.40 = f32[] constant(-inf)
  %pad.41 = f32[8,4,14,14]{3,2,1,0} pad(%maximum.39, %constant.40), padding=0_0x0_0x0_0x0_0
  %constant.46 = f32[] constant(-inf)
  ROOT %reduce-window.51 = f32[8,4,7,7]{3,2,1,0} reduce-window(%pad.41, %constant.46), window={size=1x1x2x2 stride=1x1x2x2}, to_apply=%add
}
"""  # noqa: E501 - as XLA prints it
_FILLED_INSIDE = """HloModule m

%add (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] maximum(%p, %q)
}

%fused_computation.6 (param_0.24: f32[8,14,14,4], param_1.35: f32[4]) -> f32[8,4,14,14] {
  %param_0.24 = f32[8,14,14,4]{3,2,1,0} parameter(0)
  %param_1.35 = f32[4]{0} parameter(1)
  %broadcast.45 = f32[8,14,14,4]{3,2,1,0} broadcast(%param_1.35), dimensions={3}
  %add.12 = f32[8,14,14,4]{3,2,1,0} add(%param_0.24, %broadcast.45)
  %constant.29 = f32[] constant(0)
  %broadcast.44 = f32[8,14,14,4]{3,2,1,0} broadcast(%constant.29), dimensions={}
  %maximum.1 = f32[8,14,14,4]{3,2,1,0} maximum(%add.12, %broadcast.44)
  %transpose.13 = f32[8,4,14,14]{1,3,2,0} transpose(%maximum.1), dimensions={0,3,1,2}
  ROOT %copy.3 = f32[8,4,14,14]{3,2,1,0} copy(%transpose.13)
}

ENTRY %main (x: f32[8,1,14,14], k: f32[4,1,3,3], b: f32[4]) -> f32[8,4,7,7] {
  %x = f32[8,1,14,14]{3,2,1,0} parameter(0)
  %k = f32[4,1,3,3]{3,2,1,0} parameter(1)
  %b = f32[4]{0} parameter(2)
  %constant.37 = f32[] constant(0)
  %constant.46 = f32[] constant(-inf)
  %transpose.14 = f32[3,3,1,4]{1,0,2,3} transpose(%k), dimensions={2,3,1,0}
  %bitcast.6 = f32[8,14,14,1]{2,1,0,3} bitcast(%x)
  %convolution = f32[8,14,14,4]{3,2,1,0} convolution(%bitcast.6, %transpose.14), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  %transpose_copy_fusion = f32[8,4,14,14]{3,2,1,0} fusion(%convolution, %b), kind=kLoop, calls=%fused_computation.6
  ROOT %reduce-window.51 = f32[8,4,7,7]{3,2,1,0} reduce-window(%transpose_copy_fusion, %constant.46), window={size=1x1x2x2 stride=1x1x2x2}, to_apply=%add
}
"""  # noqa: E501 - as XLA prints it


def test_what_alone_repeats_a_constant_in_a_fusion_is_no_duplicate(read: Read) -> None:
    place = Place("main", "broadcast.38")
    pairing = match(read(_FILLED), read(_FILLED_INSIDE)).pairing_before(place)
    assert pairing is not None
    assert pairing.relation is Relation.SAME
    assert pairing.after == (Place("fused_computation.6", "broadcast.44"),)
