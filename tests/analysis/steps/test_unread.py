"""What a step bypassed and left behind."""

from collections.abc import Callable

from xlareport.analysis.matching.account.additions import DEAD, IDLE
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import changes
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.analysis.steps.unread import left_unread
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule m
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %copy.1 = f32[8]{0} copy(%a)
  %send = f32[8]{0} custom-call(%copy.1), custom_call_target="f", custom_call_has_side_effect=true
  %idle = f32[8]{0} sine(%a)
  ROOT %out = f32[8]{0} negate(%copy.1)
}
"""


def test_what_is_bypassed_is_left_without_users(read: Read) -> None:
    after = _BEFORE.replace("negate(%copy.1)", "negate(%a)").replace("(%copy.1),", "(%a),")
    change = step(read(_BEFORE), read(after), "`bypass`")
    assert change.headline == (
        "`bypass` bypassed 1 copy; `%copy.1` in `main` has no live users now: "
        "`%send` uses its operand `%a` instead."
    )
    assert not change.added
    assert not change.removed


def test_what_had_no_users_before_and_what_acts_is_not_left(read: Read) -> None:
    before = _BEFORE.replace("negate(%copy.1)", "negate(%send)")
    after = before.replace("ROOT %out", "%old")
    after = after.replace("negate(%send)\n", "negate(%send)\n  ROOT %out = f32[8]{0} abs(%a)\n")
    headline = step(read(before), read(after)).headline
    assert "left 1 negate without live users" in headline  # and neither the sine nor the call


def test_a_chain_that_only_leads_to_what_is_bypassed_is_left_with_it(read: Read) -> None:
    longer = _BEFORE.replace("copy(%a)", "copy(%b)").replace(
        "  %copy.1", "  %b = f32[8]{0} cosine(%a)\n  %copy.1"
    )
    after = longer.replace("negate(%copy.1)", "negate(%a)").replace("(%copy.1),", "(%a),")
    headline = step(read(longer), read(after), "`bypass`").headline
    assert headline.startswith("`bypass` left 1 cosine and 1 copy without live users and ")


def test_a_chain_is_bypassed_where_its_users_read_what_it_begins_with(read: Read) -> None:
    longer = _BEFORE.replace(
        "  %copy.1 = f32[8]{0} copy(%a)",
        "  %b = f32[8]{0} copy(%a)\n  %copy.1 = f32[8]{0} copy(%b)",
    )
    after = longer.replace("negate(%copy.1)", "negate(%a)").replace("(%copy.1),", "(%a),")
    change = step(read(longer), read(after), "`bypass`")
    assert change.headline.startswith("`bypass` bypassed 1 copy and left 1 copy without live users")
    assert "`%send` uses `%a` instead" in change.headline


def test_what_one_user_reads_beside_the_operand_is_not_bypassed(read: Read) -> None:
    after = _BEFORE.replace("negate(%copy.1)", "negate(%a)").replace("(%copy.1),", "(%idle),")
    lines = after.splitlines()
    lines.insert(3, lines.pop(next(at for at, text in enumerate(lines) if "%idle =" in text)))
    headline = step(read(_BEFORE), read("\n".join(lines)), "`pass`").headline
    assert "left 1 copy without live users" in headline
    assert "bypassed" not in headline


def test_what_is_added_for_nothing_is_told_apart(read: Read) -> None:
    added = "  %c = f32[8]{0} cosine(%a)\n  %d = f32[8]{0} tanh(%c)\n  %idle"
    change = step(read(_BEFORE), read(_BEFORE.replace("  %idle", added)), "`pass`")
    assert {row.kind for row in change.added} == {Kind.UNUSED}
    assert {row.reason for row in change.added} == {IDLE, DEAD}
    assert change.headline.startswith("`pass` added 1 cosine and 1 tanh without live users; ")
    assert change.weight == 0


_BYPASSED = _BEFORE.replace("negate(%copy.1)", "negate(%a)").replace("(%copy.1),", "(%a),")


def left(read: Read, relation: Relation, name: str) -> list[Grade]:
    """Return the grades of what is left where a name is paired so with the copy."""
    before, after = read(_BEFORE), read(_BYPASSED.replace("%copy.1 =", f"%{name} ="))
    places = (Place("main", "copy.1"),), (Place("main", name),)
    pairing = Pairing(*places, Grade.GUESSED, "in order", relation)
    return [pairing.grade for pairing in left_unread(Matching(before, after, {}, (pairing,)))]


def test_what_is_left_is_no_surer_than_its_partner(read: Read) -> None:
    assert left(read, Relation.SAME, "copy.1") == [Grade.GUESSED]
    assert left(read, Relation.SAME, "copy.2") == [Grade.GUESSED]


def test_dead_code_that_took_the_place_of_another_is_not_left(read: Read) -> None:
    assert not left(read, Relation.REPLACED, "copy.2")


def test_what_lost_its_users_with_them_has_no_word_of_what_is_used(read: Read) -> None:
    lines = [line for line in _BEFORE.splitlines() if "%send" not in line]
    lines[-2] = "  ROOT %other = f32[8]{0} sine(%a)"
    change = step(read(_BEFORE), read("\n".join(lines)), "`other`")
    [left] = [known for known in change.changes if known.kind is Kind.LEFT]
    assert left.details == ()


def cloned(before: HloModule, after: HloModule) -> list[Kind]:
    """Return what is told of the copy where it is paired with itself and a clone of itself."""
    copy = Place("main", "copy.1")
    pairing = Pairing((copy,), (Place("main", "twin"), copy), Grade.EXACT, "", Relation.CLONED)
    matching = Matching(before, after, {"main": "main"}, (pairing,))
    return [change.kind for change in changes(matching) if change.after == copy]


def test_what_was_cloned_is_left_only_where_nothing_uses_it(read: Read) -> None:
    """A constant that passes copy into each of their fusions is still used by others."""
    twin = "  %twin = f32[8]{0} copy(%a)\n  ROOT"
    still = _BEFORE.replace("  ROOT", twin).replace("(%copy.1),", "(%twin),")
    assert Kind.LEFT not in cloned(read(_BEFORE), read(still))
    gone = still.replace("negate(%copy.1)", "negate(%twin)")
    assert Kind.LEFT in cloned(read(_BEFORE), read(gone))


def test_what_is_left_under_another_name_says_its_name(read: Read) -> None:
    """What `algsimp` does to the operand of what it makes anew, and then does without."""
    after = _BEFORE.replace("negate(%copy.1)", "negate(%a)").replace("(%copy.1),", "(%a),")
    renamed = after.replace("%copy.1", "%copy.7")
    headline = step(read(_BEFORE), read(renamed), "`bypass`").headline
    assert "`%copy.1` in `main` has no live users now (renamed to `%copy.7`)" in headline
    assert "renamed to" not in step(read(_BEFORE), read(after), "`bypass`").headline


_RESHAPED = """
HloModule m
ENTRY %main (a: s32[8,1], b: s32[8,1]) -> pred[8,1] {
  %a = s32[8,1]{1,0} parameter(0)
  %b = s32[8,1]{1,0} parameter(1)
  %one = s32[] constant(1)
  %filled = s32[8]{0} broadcast(%one), dimensions={}
  %turned.1 = s32[8,1]{1,0} reshape(%filled)
  %turned.2 = s32[8,1]{1,0} reshape(%filled)
  %low = pred[8,1]{1,0} compare(%a, %turned.1), direction=LT
  %high = pred[8,1]{1,0} compare(%b, %turned.2), direction=GT
  ROOT %both = pred[8,1]{1,0} and(%low, %high)
}
"""


def test_an_unread_twin_of_another_opcode_is_added_and_no_counterpart(read: Read) -> None:
    fill = "s32[8,1]{1,0} broadcast(%one), dimensions={}\n  "
    after = _RESHAPED.replace("%filled = s32[8]{0}", "%fill.1 = s32[8,1]{1,0}")
    after = after.replace("  %turned.1 = s32[8,1]{1,0} reshape(%filled)\n", "")
    after = after.replace(
        "%turned.2 = s32[8,1]{1,0} reshape(%filled)", f"%fill.2 = {fill}%fill.3 = {fill}"
    )
    after = after.replace("%a, %turned.1", "%a, %fill.1").replace("%b, %turned.2", "%b, %fill.2")
    change = step(read(_RESHAPED), read(after), "`algsimp`")
    account = [change.headline, *change.account]
    assert not any("no live users now" in said for said in account), account
    assert any("`%fill.3` in `main` was added: it has no users" in said for said in account)
