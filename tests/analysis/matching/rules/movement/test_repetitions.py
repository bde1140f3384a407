"""Work that is done before its data is repeated."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (a: f32[8], b: f32[8], c: f32[4,8]) -> f32[4,8] {
  %a = f32[8] parameter(0)
  %b = f32[8] parameter(1)
  %c = f32[4,8] parameter(2)
  %two = f32[] constant(2)
  %wide.a = f32[4,8] broadcast(%a), dimensions={1}
  %wide.b = f32[4,8] broadcast(%b), dimensions={1}
  %wide.two = f32[4,8] broadcast(%two), dimensions={}
  %less = f32[4,8] subtract(%wide.a, %wide.b)
  %far = f32[4,8] multiply(%less, %wide.two)
  ROOT %out = f32[4,8] power(%c, %far)
}
"""
_SMALL = """
  %flat.two = f32[8] broadcast(%two), dimensions={}
  %n.1 = f32[8] subtract(%a, %b)
  %n.2 = f32[8] multiply(%n.1, %flat.two)
  %n.3 = f32[4,8] broadcast(%n.2), dimensions={1}
  ROOT"""
_LEFT = _BEFORE.replace("(%c, %far)", "(%c, %n.3)").replace("\n  ROOT", _SMALL)
_REMOVED = "\n".join(
    line for line in _LEFT.splitlines() if not line.startswith(("  %less", "  %far", "  %wide"))
)


def test_work_on_repeated_data_goes_on_before_the_repetition(read: Read) -> None:
    matching = match(read(_BEFORE), read(_REMOVED))
    assert matching.partner_after(Place("main", "less")) == Place("main", "n.1")
    assert matching.partner_after(Place("main", "far")) == Place("main", "n.2")


def test_work_that_is_left_unread_has_a_copy_before_the_repetition(read: Read) -> None:
    matching = match(read(_BEFORE), read(_LEFT))
    for old, new in (("less", "n.1"), ("far", "n.2")):
        pairing = matching.pairing_after(Place("main", new))
        assert pairing is not None
        assert pairing.relation is Relation.CLONED
        assert pairing.before == (Place("main", old),)


def test_work_of_which_an_operand_was_simplified_has_a_copy_too(read: Read) -> None:
    """A select of a known predicate became the broadcast that it chose, in the same step."""
    selected = _BEFORE.replace("subtract(%wide.a,", "subtract(%chosen,").replace(
        "  %less",
        "  %yes = pred[] constant(true)\n  %always = pred[4,8] broadcast(%yes), dimensions={}\n"
        "  %chosen = f32[4,8] select(%always, %wide.a, %c)\n  %less",
    )
    few = "  %n.1 = f32[8] subtract(%a, %b)\n  %n.2 = f32[4,8] broadcast(%n.1), dimensions={1}\n"
    after = _BEFORE.replace("multiply(%less,", "multiply(%n.2,").replace("  %far", f"{few}  %far")
    pairing = match(read(selected), read(after)).pairing_after(Place("main", "n.1"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.before == (Place("main", "less"),)


def test_work_on_other_data_is_no_copy(read: Read) -> None:
    other = _LEFT.replace("subtract(%a, %b)", "subtract(%a, %flat.two)")
    matching = match(read(_BEFORE), read(other))
    assert {Place("main", "n.1"), Place("main", "n.2")} <= set(matching.added)


def test_a_broadcast_that_lost_its_operand_repeats_nothing(read: Read) -> None:
    match(read(_BEFORE.replace("broadcast(%a)", "broadcast()")), read(_REMOVED))


def test_work_beside_others_that_were_paired_before_has_a_copy_too(read: Read) -> None:
    both = _BEFORE.replace("(%c, %far)", "(%most, %far)").replace(
        "  ROOT", "  %most = f32[4,8] maximum(%c, %less)\n  ROOT"
    )
    after = both.replace("(%c, %less)", "(%c, %n.4)").replace("(%most, %far)", "(%most, %n.3)")
    after = after.replace("  %most", f"{_SMALL.removesuffix('  ROOT').strip(chr(10))}\n  %most")
    after = after.replace("  %most", "  %n.4 = f32[4,8] broadcast(%n.1), dimensions={1}\n  %most")
    matching = match(read(both), read(after))
    pairing = matching.pairing_after(Place("main", "n.2"))
    assert pairing is not None
    assert pairing.before == (Place("main", "far"),)


_MARKED = """
ENTRY %main (a: f32[8], b: f32[8], c: f32[4,8]) -> f32[4,8] {
  %a = f32[8] parameter(0)
  %b = f32[8] parameter(1)
  %c = f32[4,8] parameter(2)
  %wide.a = f32[4,8] broadcast(%a), dimensions={1}
  %wide.b = f32[4,8] broadcast(%b), dimensions={1}
  %less = f32[4,8] subtract(%wide.a, %wide.b), metadata={op_name="jit(f)/sub"}
  %far = f32[4,8] multiply(%less, %wide.b)
  %gone = f32[4,8] subtract(%wide.a, %far), metadata={op_name="jit(f)/sub"}
  ROOT %out = f32[4,8] power(%far, %gone)
}
"""
_MARKED_AFTER = (
    _MARKED.replace(
        "  %far",
        '  %n.1 = f32[8] subtract(%a, %b), metadata={op_name="jit(f)/sub"}\n'
        "  %n.2 = f32[4,8] broadcast(%n.1), dimensions={1}\n  %far",
        1,
    )
    .replace("(%less, %wide.b)", "(%n.2, %wide.b)")
    .replace("(%far, %gone)", "(%far, %c)")
    .replace('  %gone = f32[4,8] subtract(%wide.a, %far), metadata={op_name="jit(f)/sub"}\n', "")
)


def test_such_a_copy_is_not_what_went_of_its_framework_op(read: Read) -> None:
    """The original is unread now, and another of its framework op was removed."""
    matching = match(read(_MARKED), read(_MARKED_AFTER))
    pairing = matching.pairing_after(Place("main", "n.1"))
    assert pairing is not None
    assert pairing.before == (Place("main", "less"),)
    assert matching.partner_after(Place("main", "gone")) is None


def test_what_such_a_copy_reads_is_no_operand_of_anything_new(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_LEFT)).pairing_after(Place("main", "flat.two"))
    assert pairing is not None
    assert pairing.reason == "an operand of %n.2, which leads to %out"


_MARK = 'metadata={op_name="jit(f)/slice"}'
_CUT = """
ENTRY %main (a: f32[8,1], c: f32[4,2,1]) -> (f32[4,2,1], f32[8,1]) {
  %a = f32[8,1]{1,0} parameter(0)
  %c = f32[4,2,1]{2,1,0} parameter(1)
  %one = f32[] constant(1)
  %sine = f32[8,1]{1,0} sine(%a)
  %wide = f32[4,8,1]{2,1,0} broadcast(%a), dimensions={1,2}
  %equal = f32[4,8,1]{2,1,0} sine(%wide)
  %ones = f32[4,8,1]{2,1,0} broadcast(%one), dimensions={}
  %most = f32[4,8,1]{2,1,0} maximum(%equal, %ones)
  %near = f32[4,2,1]{2,1,0} slice(%most), slice={[0:4], [0:2], [0:1]}, MARK
  %both = f32[4,2,1]{2,1,0} add(%near, %c)
  ROOT %out = (f32[4,2,1]{2,1,0}, f32[8,1]{1,0}) tuple(%both, %sine)
}
""".replace("MARK", _MARK)
_CUT_EARLIER = _CUT.replace(
    f"  %near = f32[4,2,1]{{2,1,0}} slice(%most), slice={{[0:4], [0:2], [0:1]}}, {_MARK}\n",
    """  %equal.1 = f32[8,1]{1,0} sine(%a)
  %ones.1 = f32[8,1]{1,0} broadcast(%one), dimensions={}
  %most.1 = f32[8,1]{1,0} maximum(%equal.1, %ones.1)
  %near.1 = f32[2,1]{1,0} slice(%most.1), slice={[0:2], [0:1]}, MARK
  %flat = f32[2]{0} reshape(%near.1)
  %near.2 = f32[4,2,1]{2,1,0} broadcast(%flat), dimensions={1}
""".replace("MARK", _MARK),
).replace("add(%near, %c)", "add(%near.2, %c)")


def test_work_before_a_slice_of_fewer_elements_is_a_copy_too(read: Read) -> None:
    """What `algsimp` does; that the new work equals other work says nothing of where it is from."""
    matching = match(read(_CUT), read(_CUT_EARLIER))
    for name in ("most", "equal"):
        pairing = matching.pairing_after(Place("main", f"{name}.1"))
        assert pairing is not None
        assert pairing.before == (Place("main", name),), name
        assert str(pairing.reason) == "a further copy, past a broadcast"


def test_work_on_what_two_steps_repeat_is_paired_with_work_on_one_element(read: Read) -> None:
    """Frameworks repeat a number by an array of one element, which is no constant."""
    before = """
ENTRY %main (a: f32[], b: f32[], c: f32[4,8]) -> f32[4,8] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  %c = f32[4,8] parameter(2)
  %a.1 = f32[1] reshape(%a)
  %wide.a = f32[4,8] broadcast(%a.1), dimensions={1}
  %wide.b = f32[4,8] broadcast(%b), dimensions={}
  %times = f32[4,8] multiply(%wide.a, %wide.b)
  ROOT %out = f32[4,8] power(%c, %times)
}
"""
    after = """
ENTRY %main (a: f32[], b: f32[], c: f32[4,8]) -> f32[4,8] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  %c = f32[4,8] parameter(2)
  %n.1 = f32[] multiply(%a, %b)
  %n.2 = f32[4,8] broadcast(%n.1), dimensions={}
  ROOT %out = f32[4,8] power(%c, %n.2)
}
"""
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "times")) == Place("main", "n.1")
