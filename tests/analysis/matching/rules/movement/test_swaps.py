"""Moves of data that change places with what reads them."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def _module(*lines: str) -> str:
    body = "".join(f"  {line}\n" for line in lines)
    head = "HloModule m\n\nENTRY %main (a: f32[8]) -> f32[2,4] {\n  %a = f32[8]{0} parameter(0)\n"
    return f"{head}{body}}}\n"


_BEFORE = _module(
    "%reshape.1 = f32[2,4]{1,0} reshape(%a)",
    "%log.1 = f32[2,4]{1,0} log(%reshape.1)",
    "ROOT %out = f32[2,4]{1,0} negate(%log.1)",
)
_AFTER = _module(
    "%log.7 = f32[8]{0} log(%a)",
    "%reshape.9 = f32[2,4]{1,0} reshape(%log.7)",
    "ROOT %out = f32[2,4]{1,0} negate(%reshape.9)",
)


def _at(name: str) -> Place:
    return Place("main", name)


def test_a_reshape_moves_below_its_user(read: Read) -> None:
    matching = match(read(_BEFORE), read(_AFTER))
    assert matching.partner_after(_at("log.1")) == _at("log.7")
    pairing = matching.pairing_before(_at("reshape.1"))
    assert pairing is not None
    assert pairing.relation is Relation.SWAPPED
    assert pairing.after == (_at("reshape.9"),)


def test_a_reshape_moves_above_what_it_read(read: Read) -> None:
    matching = match(read(_AFTER), read(_BEFORE))
    assert matching.partner_after(_at("reshape.9")) == _at("reshape.1")


def test_the_account_adds_and_removes_nothing(read: Read) -> None:
    made = step(read(_BEFORE), read(_AFTER), "`reshape-mover`")
    assert not made.added
    assert not made.removed
    assert "`%reshape.1` in `main` was moved past `%log.1` (renamed to `%reshape.9`)" in " ".join(
        (made.headline, *made.account)
    )


def test_moves_of_other_values_are_left_alone(read: Read) -> None:
    other = _AFTER.replace("log(%a)", "log(%b)").replace(
        "  %log.7", "  %b = f32[8]{0} sine(%a)\n  %log.7"
    )
    pairing = match(read(_BEFORE), read(other)).pairing_before(_at("reshape.1"))
    assert pairing is not None
    assert pairing.relation is not Relation.SWAPPED


_PAIRED_BY_PLACE = """
HloModule m

ENTRY %main (a: u32[1], b: s32[]) -> s32[] {
  %a = u32[1]{0} parameter(0)
  %b = s32[] parameter(1)
  %clamp.2 = u32[1]{0} clamp(%a, %a, %a)
  LINES
  %multiply.122 = s32[] multiply(%OPERAND, %b)
  %multiply.124 = s32[] multiply(%OPERAND, %OPERAND)
  ROOT %out = s32[] add(%multiply.122, %multiply.124)
}
"""
_CONVERTED = _PAIRED_BY_PLACE.replace(
    "LINES",
    '%reshape.442 = u32[] reshape(%clamp.2), metadata={op_name="mul"}\n'
    '  %convert = s32[] convert(%reshape.442), metadata={op_name="mul"}',
).replace("OPERAND", "convert")
_RESHAPED = _PAIRED_BY_PLACE.replace(
    "LINES",
    '%convert.2 = s32[1]{0} convert(%clamp.2), metadata={op_name="mul"}\n'
    '  %reshape.446 = s32[] reshape(%convert.2), metadata={op_name="mul"}',
).replace("OPERAND", "reshape.446")


def test_a_reshape_that_passes_a_convert_changes_no_type(read: Read) -> None:
    pairing = match(read(_CONVERTED), read(_RESHAPED)).pairing_before(_at("reshape.442"))
    assert pairing is not None
    assert pairing.after == (_at("reshape.446"),)
    assert pairing.relation is Relation.SWAPPED


def test_a_reshape_that_passes_a_convert_as_a_bitcast_changes_no_type(read: Read) -> None:
    """What `hoist-fused-bitcasts` does in the fusion of a matmul."""
    before = """
HloModule m

ENTRY %main (a: bf16[4,6], b: f32[4,2,3]) -> f32[2,4,4] {
  %a = bf16[4,6]{1,0} parameter(0)
  %b = f32[4,2,3]{2,1,0} parameter(1)
  %wide = f32[4,6]{1,0} convert(%a)
  %reshape.1 = f32[4,2,3]{2,1,0} reshape(%wide)
  ROOT %dot = f32[2,4,4]{2,1,0} dot(%b, %reshape.1), lhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={2}
}
"""  # noqa: E501 - lines as XLA writes them
    after = before.replace(
        "%wide = f32[4,6]{1,0} convert(%a)", "%bitcast.1 = bf16[4,2,3]{2,1,0} bitcast(%a)"
    )
    after = after.replace("%reshape.1 =", "%wide =").replace(
        "reshape(%wide)", "convert(%bitcast.1)"
    )
    made = step(read(before), read(after.replace("(%b, %reshape.1)", "(%b, %wide)")))
    changes = [change for change in made.changes if change.before == _at("reshape.1")]
    assert [(change.kind, change.after) for change in changes] == [(Kind.SWAPPED, _at("bitcast.1"))]
    words = " ".join((made.headline, *made.account))
    assert "`%reshape.1` in `main` was moved past `%wide` (now `%bitcast.1`)" in words
    assert "element type" not in words


def test_a_reshape_that_stays_where_it_is_passes_nothing(read: Read) -> None:
    before = _CONVERTED.replace("clamp(%a, %a, %a)", "negate(%a)")
    after = _CONVERTED.replace("reshape.442", "reshape.7").replace("clamp(%a, %a, %a)", "not(%a)")
    matching = match(read(before), read(after))
    assert matching.partner_after(_at("reshape.442")) == _at("reshape.7")
    assert not any(known.relation is Relation.SWAPPED for known in matching.pairings)


def test_moves_of_both_operands_on_either_side_change_places_with_their_user(read: Read) -> None:
    """Before one operand is moved, after the other one; behind the moves both are the same."""
    head = "ENTRY %main (a: f32[8], b: f32[8,1]) -> pred[8] {\n  %a = f32[8]{0} parameter(0)\n"
    body = "  %b = f32[8,1]{1,0} parameter(1)\n  LINES\n  ROOT %out = pred[8]{0} not(%last)\n}\n"
    before = (head + body).replace(
        "LINES",
        "%reshape.1 = f32[8,1]{1,0} reshape(%a)\n"
        "  %compare.1 = pred[8,1]{1,0} compare(%reshape.1, %b), direction=EQ\n"
        "  %last = pred[8]{0} reshape(%compare.1)",
    )
    after = (head + body).replace(
        "LINES",
        "%reshape.2 = f32[8]{0} reshape(%b)\n"
        "  %last = pred[8]{0} compare(%a, %reshape.2), direction=EQ",
    )
    matching = match(read("HloModule m\n\n" + before), read("HloModule m\n\n" + after))
    assert matching.partner_after(_at("compare.1")) == _at("last")


_NEGATED = """
HloModule m

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add.0 = f32[] add(%x, %y)
}

ENTRY %main (a: f32[4,8]) -> f32[4,1] {
  %a = f32[4,8]{1,0} parameter(0)
  %zero = f32[] constant(0)
  %mul.1 = f32[4,8]{1,0} multiply(%a, %a)
  LINES
}
"""
_SUM_OF_NEGATED = _NEGATED.replace(
    "LINES",
    """%neg.0 = f32[4,8]{1,0} negate(%mul.1)
  %reduce.1 = f32[4]{0} reduce(%neg.0, %zero), dimensions={1}, to_apply=%sum
  ROOT %reshape.1 = f32[4,1]{1,0} reshape(%reduce.1)""",
)
_NEGATED_SUM = _NEGATED.replace(
    "LINES",
    """%reduce.1 = f32[4]{0} reduce(%mul.1, %zero), dimensions={1}, to_apply=%sum
  %negate.1 = f32[4]{0} negate(%reduce.1)
  ROOT %reshape.1 = f32[4,1]{1,0} reshape(%negate.1)""",
)


def test_a_negation_moves_past_a_sum(read: Read) -> None:
    matching = match(read(_SUM_OF_NEGATED), read(_NEGATED_SUM))
    pairing = matching.pairing_before(_at("neg.0"))
    assert pairing is not None
    assert pairing.after == (_at("negate.1"),)
    assert pairing.relation is Relation.SWAPPED
    assert matching.partner_after(_at("reduce.1")) == _at("reduce.1")


def test_a_negation_that_is_left_without_users_is_copied_past_the_sum(read: Read) -> None:
    left = _NEGATED_SUM.replace(
        "  %reduce.1", "  %neg.0 = f32[4,8]{1,0} negate(%mul.1)\n  %reduce.1", 1
    )
    pairing = match(read(_SUM_OF_NEGATED), read(left)).pairing_after(_at("negate.1"))
    assert pairing is not None
    assert pairing.before == (_at("neg.0"),)


_READ_BY_TWO = """
HloModule m

ENTRY %main (a: s32[8], b: s32[8,1], c: s32[8,1]) -> (pred[8,1], pred[8,1]) {
  %a = s32[8]{0} parameter(0)
  %b = s32[8,1]{1,0} parameter(1)
  %c = s32[8,1]{1,0} parameter(2)
  LINES
  ROOT %out = (pred[8,1]{1,0}, pred[8,1]{1,0}) tuple(%first, %second)
}
"""


def test_a_reshape_that_moves_past_each_of_its_users_is_moved_each_time(read: Read) -> None:
    before = _READ_BY_TWO.replace(
        "LINES",
        """%reshape.1 = s32[8,1]{1,0} reshape(%a)
  %first = pred[8,1]{1,0} compare(%reshape.1, %b), direction=LT
  %second = pred[8,1]{1,0} compare(%reshape.1, %c), direction=GT""",
    )
    after = _READ_BY_TWO.replace(
        "LINES",
        """%reshape.2 = s32[8]{0} reshape(%b)
  %reshape.3 = s32[8]{0} reshape(%c)
  %compare.1 = pred[8]{0} compare(%a, %reshape.2), direction=LT
  %compare.2 = pred[8]{0} compare(%a, %reshape.3), direction=GT
  %first = pred[8,1]{1,0} reshape(%compare.1)
  %second = pred[8,1]{1,0} reshape(%compare.2)""",
    )
    made = step(read(before), read(after), "`reshape-mover`")
    told = [change.kind for change in made.changes if change.before == _at("reshape.1")]
    assert told == [Kind.SWAPPED, Kind.SWAPPED]
    assert "moved 1 reshape past other instructions (2 results)" in made.headline
    assert sum(change.balance for change in made.changes) == 3


_CONVERTED_FIRST = _module(
    '%made = bf16[8]{0} custom-call(%a), custom_call_target="make"',
    "%wide = f32[8]{0} convert(%made)",
    "%one = f32[4,2]{1,0} reshape(%wide)",
    "%two = f32[2,4]{1,0} transpose(%one), dimensions={1,0}",
    "%three = f32[1,8]{1,0} reshape(%two)",
    "ROOT %out = f32[1,8]{1,0} sine(%three)",
)
_CONVERTED_LAST = _module(
    '%made = bf16[8]{0} custom-call(%a), custom_call_target="make"',
    "%one.1 = bf16[4,2]{1,0} reshape(%made)",
    "%two.1 = bf16[2,4]{1,0} transpose(%one.1), dimensions={1,0}",
    "%three.1 = bf16[1,8]{1,0} reshape(%two.1)",
    "%wide.1 = f32[1,8]{1,0} convert(%three.1)",
    "ROOT %out = f32[1,8]{1,0} sine(%wide.1)",
)


def test_a_convert_that_passes_a_chain_of_moves_leaves_the_moves_as_they_are(read: Read) -> None:
    for before, after, moved in (
        (_CONVERTED_FIRST, _CONVERTED_LAST, "moved 1 convert past"),
        (_CONVERTED_LAST, _CONVERTED_FIRST, "moved 1 transpose and 2 reshapes past"),
    ):
        account = step(read(before), read(after), "convert-mover")
        assert moved in account.headline
        assert "removed" not in account.headline


_NARROW_DOT = """
ENTRY %main (a: bf16[8,16], b: bf16[16,32]) -> f32[8,32] {
  %a = bf16[8,16]{1,0} parameter(0)
  %b = bf16[16,32]{1,0} parameter(1)
  %product = bf16[8,32]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %wide.1 = f32[8,32]{1,0} convert(%product)
  ROOT %root = f32[8,32]{1,0} tanh(%wide.1)
}
"""
_WIDE_DOT = """
ENTRY %main (a: bf16[8,16], b: bf16[16,32]) -> f32[8,32] {
  %a = bf16[8,16]{1,0} parameter(0)
  %b = bf16[16,32]{1,0} parameter(1)
  %left = f32[8,16]{1,0} convert(%a)
  %right = f32[16,32]{1,0} convert(%b)
  %product = f32[8,32]{1,0} dot(%left, %right), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %root = f32[8,32]{1,0} tanh(%product)
}
"""


def test_a_convert_of_an_operand_is_not_that_of_the_product_moved(read: Read) -> None:
    matching = match(read(_NARROW_DOT), read(_WIDE_DOT))
    assert all("past %" not in str(pairing.reason) for pairing in matching.pairings)


_SLICED = _module(
    "%wide = bf16[4,8]{1,0} broadcast(%h), dimensions={1}",
    "%convert.1 = f32[4,8]{1,0} convert(%wide)",
    "%slice.1 = f32[2,4]{1,0} slice(%convert.1), slice={[0:2], [2:6]}",
    "ROOT %out = f32[2,4]{1,0} exponential(%slice.1)",
).replace("(a: f32[8]) -> f32[2,4] {\n", "(h: bf16[8]) -> f32[2,4] {\n")
_SLICED = _SLICED.replace("%a = f32[8]{0}", "%h = bf16[8]{0}")
_CONVERTED_LATER = _SLICED.replace(
    "%convert.1 = f32[4,8]{1,0} convert(%wide)",
    "%slice.5 = bf16[2,4]{1,0} slice(%wide), slice={[0:2], [2:6]}",
).replace(
    "%slice.1 = f32[2,4]{1,0} slice(%convert.1), slice={[0:2], [2:6]}",
    "%convert.9 = f32[2,4]{1,0} convert(%slice.5)",
)
_CONVERTED_LATER = _CONVERTED_LATER.replace("%slice.1)", "%convert.9)")


def test_a_convert_moves_past_a_slice_both_ways(read: Read) -> None:
    for texts in ((_SLICED, _CONVERTED_LATER), (_CONVERTED_LATER, _SLICED)):
        made = step(*map(read, texts), "`convert-mover`")
        assert not made.added
        assert not made.removed
        moved = [change for change in made.modified if change.kind is Kind.SWAPPED]
        assert [change.opcodes for change in moved] == [("convert", "convert")]


def _square(*lines: str) -> str:
    body = "".join(f"  {line}\n" for line in lines)
    head = (
        "ENTRY %main (a: f32[4,4], b: f32[4,4]) -> f32[4,4] {\n  %a = f32[4,4]{1,0} parameter(0)\n"
    )
    return f"{head}  %b = f32[4,4]{{1,0}} parameter(1)\n{body}}}\n"


_DIMENSIONS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"


def test_a_transpose_of_an_operand_is_no_transpose_of_the_product(read: Read) -> None:
    before = _square(
        "%sine = f32[4,4]{1,0} sine(%b)",
        "%transpose.1 = f32[4,4]{1,0} transpose(%sine), dimensions={1,0}",
        f"%dot.1 = f32[4,4]{{1,0}} dot(%a, %transpose.1), {_DIMENSIONS}",
        "ROOT %out = f32[4,4]{1,0} negate(%dot.1)",
    )
    after = _square(
        "%sine = f32[4,4]{1,0} sine(%b)",
        f"%dot.1 = f32[4,4]{{1,0}} dot(%a, %sine), {_DIMENSIONS.replace('{0}', '{1}')}",
        "%transpose.9 = f32[4,4]{1,0} transpose(%dot.1), dimensions={1,0}",
        "ROOT %out = f32[4,4]{1,0} negate(%transpose.9)",
    )
    assert match(read(before), read(after)).partner_after(_at("transpose.1")) is None


def test_a_transpose_behind_a_bitcast_is_no_new_bitcast_before_it(read: Read) -> None:
    passed = "%reshape.2 = f32[4,2]{1,0} reshape(%log.1)"
    passing = "%reshape.9 = f32[4,2]{1,0} reshape(%a)"
    before = _module(
        "%sine = f32[8]{0} sine(%a)",
        "%log.1 = f32[8]{0} log(%a)",
        passed,
        "%bitcast.1 = f32[2,4]{1,0} bitcast(%sine)",
        "%transpose.1 = f32[4,2]{1,0} transpose(%bitcast.1), dimensions={1,0}",
        "%out = f32[4,2]{1,0} multiply(%reshape.2, %transpose.1)",
        "%end = f32[2,4]{1,0} bitcast(%out)",
        "ROOT %sum = f32[2,4]{1,0} add(%end, %bitcast.1)",
    )
    after = _module(
        "%sine = f32[8]{0} sine(%a)",
        passing,
        "%log.7 = f32[4,2]{1,0} log(%reshape.9)",
        "%bitcast.7 = f32[1,8]{1,0} bitcast(%sine)",
        "%bitcast.1 = f32[2,4]{0,1} bitcast(%bitcast.7)",
        "%bitcast.6 = f32[1,2,4]{2,1,0} bitcast(%sine)",
        "%bitcast.8 = f32[4,2]{1,0} bitcast(%bitcast.6)",
        "%out = f32[4,2]{1,0} multiply(%log.7, %bitcast.8)",
        "%end = f32[2,4]{1,0} bitcast(%out)",
        "ROOT %sum = f32[2,4]{1,0} add(%end, %bitcast.1)",
    )
    assert match(read(before), read(after)).partner_after(_at("transpose.1")) == _at("bitcast.8")


_GATHERED = """
HloModule m

ENTRY %main (a: f32[8,16], b: s32[8], c: f32[8]) -> f32[8] {
  %a = f32[8,16]{1,0} parameter(0)
  %b = s32[8]{0} parameter(1)
  %c = f32[8]{0} parameter(2)
  %row = f32[8,16]{1,0} sine(%a)
  %index = s32[8]{0} negate(%b)
  LINES
  ROOT %out = f32[8]{0} subtract(%c, %last)
}
"""
_BY_INDEX = (
    "offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0},"
    " start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}"
)
_INDICES_RESHAPED = _GATHERED.replace(
    "LINES",
    f"""%reshape.1 = s32[8,1,1]{{2,1,0}} reshape(%index)
  %gather.1 = f32[8,1]{{1,0}} gather(%row, %reshape.1), {_BY_INDEX}
  %exp.1 = f32[8,1]{{1,0}} exponential(%gather.1)
  %last = f32[8]{{0}} reshape(%exp.1)""",
)
_RESULT_RESHAPED = _GATHERED.replace(
    "LINES",
    f"""%gather.1 = f32[8,1]{{1,0}} gather(%row, %index), {_BY_INDEX}
  %reshape.9 = f32[8]{{0}} reshape(%gather.1)
  %last = f32[8]{{0}} exponential(%reshape.9)""",
)


def test_a_reshape_of_indices_is_no_reshape_of_what_they_gather(read: Read) -> None:
    matching = match(read(_INDICES_RESHAPED), read(_RESULT_RESHAPED))
    assert matching.partner_after(_at("reshape.1")) is None
    pairing = matching.pairing_before(_at("last"))
    assert pairing is not None
    assert pairing.after == (_at("reshape.9"),)
    assert pairing.relation is Relation.SWAPPED
    assert str(pairing.reason) == "past %exp.1"


def test_a_reshape_of_a_predicate_is_no_reshape_of_what_it_selects(read: Read) -> None:
    head = "ENTRY %main (p: pred[8], a: f32[8]) -> f32[8,1] {\n  %p = pred[8]{0} parameter(0)\n"
    head += "  %a = f32[8]{0} parameter(1)\n  %c = f32[] constant(1)\n"
    before = head + (
        "  %reshape.1 = pred[8,1]{1,0} reshape(%p)\n"
        "  %reshape.2 = f32[8,1]{1,0} reshape(%a)\n"
        "  %b.1 = f32[8,1]{1,0} broadcast(%c), dimensions={}\n"
        "  %select.1 = f32[8,1]{1,0} select(%reshape.1, %reshape.2, %b.1)\n"
        "  ROOT %out = f32[8,1]{1,0} sine(%select.1)\n}\n"
    )
    after = head + (
        "  %b.2 = f32[8]{0} broadcast(%c), dimensions={}\n"
        "  %select.2 = f32[8]{0} select(%p, %a, %b.2)\n"
        "  %reshape.3 = f32[8,1]{1,0} reshape(%select.2)\n"
        "  ROOT %out = f32[8,1]{1,0} sine(%reshape.3)\n}\n"
    )
    matching = match(read("HloModule m\n\n" + before), read("HloModule m\n\n" + after))
    assert matching.partner_before(_at("reshape.3")) == _at("reshape.2")


def test_a_reshape_under_its_name_passes_nothing_by_indices(read: Read) -> None:
    """Another rule pairs the two by their name; still the one is of indices."""
    named = _RESULT_RESHAPED.replace("reshape.9", "reshape.1")
    matching = match(read(_INDICES_RESHAPED), read(named))
    assert not any("past %gather" in str(pairing.reason) for pairing in matching.pairings)


def test_a_transpose_that_stays_behind_is_not_the_bitcast_before(read: Read) -> None:
    before = _module(
        "%sine = f32[2,32,16]{2,0,1} sine(%a)",
        "%square = f32[2,32,16]{2,0,1} multiply(%sine, %sine)",
        "%turned = f32[2,16,32]{1,0,2} transpose(%square), dimensions={0,2,1}",
        "ROOT %out = f32[2,16,32]{1,0,2} exponential(%turned)",
    )
    after = _module(
        "%sine = f32[2,32,16]{2,0,1} sine(%a)",
        "%bitcast.1 = f32[32,2,16]{2,1,0} bitcast(%sine)",
        "%square.1 = f32[32,2,16]{2,1,0} multiply(%bitcast.1, %bitcast.1)",
        "%bitcast.2 = f32[2,16,32]{1,0,2} bitcast(%square.1)",
        "ROOT %out = f32[2,16,32]{1,0,2} exponential(%bitcast.2)",
    )
    shaped = [text.replace("f32[8]", "f32[2,32,16]") for text in (before, after)]
    matching = match(*map(read, shaped))
    assert matching.partner_after(_at("square")) == _at("square.1")
    assert matching.partner_after(_at("turned")) == _at("bitcast.2")


_COPIED_FIRST = _module(
    "%cube = f32[2,2,2]{2,1,0} reshape(%a)",
    "%sine = f32[2,2,2]{2,1,0} sine(%cube)",
    "%copy.1 = f32[2,2,2]{2,0,1} copy(%sine)",
    "%reshape.1 = f32[2,4]{0,1} reshape(%copy.1)",
    "ROOT %out = f32[2,4]{0,1} add(%reshape.1, %reshape.1)",
)
_COPIED_LAST = _module(
    "%cube = f32[2,2,2]{2,1,0} reshape(%a)",
    "%sine = f32[2,2,2]{2,1,0} sine(%cube)",
    "%reshape.9 = f32[2,4]{1,0} reshape(%sine)",
    "%copy.9 = f32[2,4]{0,1} copy(%reshape.9)",
    "ROOT %out = f32[2,4]{0,1} add(%copy.9, %copy.9)",
)


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        (_COPIED_FIRST, _COPIED_LAST, ("copy.1", "copy.9", "reshape.1")),
        (_COPIED_LAST, _COPIED_FIRST, ("copy.9", "copy.1", "reshape.9")),
    ],
)
def test_a_copy_that_passes_a_reshape_changes_no_shape(
    read: Read, before: str, after: str, names: tuple[str, str, str]
) -> None:
    old, new, passed = names
    pairing = match(read(before), read(after)).pairing_before(_at(old))
    assert pairing is not None
    assert (pairing.relation, pairing.after) == (Relation.SWAPPED, (_at(new),))
    assert str(pairing.reason) == f"past %{passed}"
    made = step(read(before), read(after))
    assert "moved 1 copy past other instructions" in made.headline
    assert "shape of 1 copy" not in " ".join((made.headline, *made.account))


def test_a_copy_of_another_value_passes_no_reshape(read: Read) -> None:
    after = _COPIED_LAST.replace("reshape(%sine)", "reshape(%cube)")
    pairing = match(read(_COPIED_FIRST), read(after)).pairing_before(_at("copy.1"))
    assert pairing is None or pairing.relation is not Relation.SWAPPED


_TURNED_BEFORE = """
ENTRY %main (a: f32[4,6,8], i: s32[]) -> f32[2,1,32] {
  %a = f32[4,6,8]{2,1,0} parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %exp = f32[4,6,8]{2,1,0} exponential(%a)
  %transpose.1 = f32[6,4,8]{2,0,1} transpose(%exp), dimensions={1,0,2}, metadata={op_name="t"}
  %part.1 = f32[2,4,8] dynamic-slice(%transpose.1, %i, %zero, %zero), \
    dynamic_slice_sizes={2,4,8}, metadata={op_name="d"}
  %reshape.1 = f32[2,32]{1,0} reshape(%part.1), metadata={op_name="d"}
  ROOT %reshape.2 = f32[2,1,32]{2,1,0} reshape(%reshape.1)
}
"""
_TURNED_AFTER = """
ENTRY %main (a: f32[4,6,8], i: s32[]) -> f32[2,1,32] {
  %a = f32[4,6,8]{2,1,0} parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %exp = f32[4,6,8]{2,1,0} exponential(%a)
  %part.2 = f32[4,2,8] dynamic-slice(%exp, %zero, %i, %zero), \
    dynamic_slice_sizes={4,2,8}, metadata={op_name="d"}
  %transpose.2 = f32[2,4,8]{2,0,1} transpose(%part.2), dimensions={1,0,2}, metadata={op_name="d"}
  ROOT %reshape.2 = f32[2,1,32]{2,1,0} reshape(%transpose.2)
}
"""


def test_a_transpose_that_passed_a_slice_is_no_reshape_that_read_the_slice(read: Read) -> None:
    matching = match(read(_TURNED_BEFORE), read(_TURNED_AFTER))
    assert matching.partner_after(Place("main", "transpose.1")) == Place("main", "transpose.2")
    assert matching.partner_after(Place("main", "reshape.1")) is None
