"""Work that is done before its data is repeated, and what repeats its result."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_DIVIDED = """
ENTRY %main (a: f32[8]) -> f32[10,8] {
  %a = f32[8] parameter(0)
  %zero = f32[] constant(0)
  %four = f32[] constant(4)
  %sixteen = f32[] constant(16)
  %few = f32[8] broadcast(%sixteen), dimensions={}
  %div.1 = f32[8] divide(%a, %few), metadata={op_name="div"}
  %wide = f32[4,8] broadcast(%div.1), dimensions={1}, metadata={op_name="wide"}
  %many = f32[4,8] broadcast(%four), dimensions={}
  %div.2 = f32[4,8] divide(%wide, %many), metadata={op_name="div"}
  ROOT %out = f32[10,8] pad(%div.2, %zero), padding=3_3x0_0
}
"""
_BEFORE_REPETITION = """
ENTRY %main (a: f32[8]) -> f32[10,8] {
  %a = f32[8] parameter(0)
  %zero = f32[] constant(0)
  %four = f32[] constant(4)
  %part = f32[] constant(0.0625)
  %parts = f32[8] broadcast(%part), dimensions={}
  %multiply = f32[8] multiply(%a, %parts), metadata={op_name="div"}
  %broadcast.1 = f32[8] broadcast(%four), dimensions={}
  %div.3 = f32[8] divide(%multiply, %broadcast.1), metadata={op_name="div"}
  %broadcast.2 = f32[4,8] broadcast(%div.3), dimensions={1}, metadata={op_name="wide"}
  ROOT %out = f32[10,8] pad(%broadcast.2, %zero), padding=3_3x0_0
}
"""
_LEFT = _BEFORE_REPETITION.replace(
    "  ROOT",
    """  %wide = f32[4,8] broadcast(%multiply), dimensions={1}, metadata={op_name="wide"}
  %many.1 = f32[4,8] broadcast(%part), dimensions={}
  %multiply.1 = f32[4,8] multiply(%wide, %many.1), metadata={op_name="div"}
  ROOT""",
)


def test_a_division_before_a_repetition_is_moved_and_the_first_one_became_a_product(
    read: Read,
) -> None:
    matching = match(read(_DIVIDED), read(_LEFT))
    assert matching.partner_after(Place("main", "div.1")) == Place("main", "multiply")
    pairing = matching.pairing_after(Place("main", "div.3"))
    assert pairing is not None
    assert pairing.before == (Place("main", "div.2"),)
    assert (pairing.relation, str(pairing.reason)) == (Relation.SWAPPED, "past %wide")


def test_what_repeats_the_result_is_a_copy_where_the_former_broadcast_is_left(read: Read) -> None:
    pairing = match(read(_DIVIDED), read(_LEFT)).pairing_after(Place("main", "broadcast.2"))
    assert pairing is not None
    assert pairing.before == (Place("main", "wide"),)
    assert str(pairing.known_of(Place("main", "wide"), Place("main", "broadcast.2")).reason) == (
        "a further copy, past %div.2"
    )


def test_what_repeats_the_result_is_moved_where_the_former_broadcast_is_gone(read: Read) -> None:
    matching = match(read(_DIVIDED), read(_BEFORE_REPETITION))
    pairing = matching.pairing_after(Place("main", "broadcast.2"))
    assert pairing is not None
    assert pairing.before == (Place("main", "wide"),)
    assert pairing.relation is Relation.SWAPPED


_CONSTANTS = """
ENTRY %main (p: pred[4,8]) -> f32[4,8] {
  %p = pred[4,8] parameter(0)
  %zero = f32[] constant(0)
  %few = f32[] constant(-2)
  %zeros = f32[4,8] broadcast(%zero), dimensions={}
  %fill = f32[4,1] broadcast(%few), dimensions={}, metadata={op_name="fill"}
  %reshape = f32[4] reshape(%fill), metadata={op_name="fill"}
  %broadcast = f32[4,8] broadcast(%reshape), dimensions={0}, metadata={op_name="scatter-add"}
  %add.2 = f32[4,8] add(%zeros, %broadcast), metadata={op_name="add"}
  ROOT %out = f32[4,8] select(%p, %add.2, %zeros)
}
"""
_SUM_REPEATED = """
ENTRY %main (p: pred[4,8]) -> f32[4,8] {
  %p = pred[4,8] parameter(0)
  %zero = f32[] constant(0)
  %few = f32[] constant(-2)
  %zeros = f32[4,8] broadcast(%zero), dimensions={}
  %broadcast.4 = f32[4] broadcast(%zero), dimensions={}
  %broadcast.2 = f32[4] broadcast(%few), dimensions={}, metadata={op_name="fill"}
  %add.3 = f32[4] add(%broadcast.4, %broadcast.2), metadata={op_name="add"}
  %broadcast.5 = f32[4,8] broadcast(%add.3), dimensions={0}, metadata={op_name="scatter-add"}
  ROOT %out = f32[4,8] select(%p, %broadcast.5, %zeros)
}
"""


def test_a_sum_of_broadcasts_is_no_reshape_of_what_one_of_them_repeats(read: Read) -> None:
    matching = match(read(_CONSTANTS), read(_SUM_REPEATED))
    assert matching.partner_after(Place("main", "add.2")) == Place("main", "add.3")
    pairing = matching.pairing_after(Place("main", "broadcast.5"))
    assert pairing is not None
    assert (pairing.relation, str(pairing.reason)) == (Relation.SWAPPED, "past %add.2")


def test_a_selection_of_scalars_is_repeated_in_the_place_of_what_it_selected(read: Read) -> None:
    head = "ENTRY %main (p: pred[], x: f32[9,4]) -> f32[9,4] {\n  %p = pred[] parameter(0)\n"
    head += "  %x = f32[9,4] parameter(1)\n  %zero = f32[] constant(0)\n"
    before = read(
        head + "  %ps = pred[9,4] broadcast(%p), dimensions={}\n"
        "  %zeros = f32[9,4] broadcast(%zero), dimensions={}\n"
        '  %select = f32[9,4] select(%ps, %zeros, %zeros), metadata={op_name="s"}\n'
        "  ROOT %out = f32[9,4] add(%select, %x)\n}\n"
    )
    after = read(
        head + '  %select.1 = f32[] select(%p, %zero, %zero), metadata={op_name="s"}\n'
        "  %broadcast.50 = f32[9,4] broadcast(%select.1), dimensions={}\n"
        "  ROOT %out = f32[9,4] add(%broadcast.50, %x)\n}\n"
    )
    matching = match(before, after)
    assert matching.partner_after(Place("main", "select")) == Place("main", "select.1")
    pairing = matching.pairing_after(Place("main", "broadcast.50"))
    assert pairing is not None
    assert pairing.relation is Relation.SWAPPED
