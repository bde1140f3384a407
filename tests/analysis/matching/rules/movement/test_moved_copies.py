"""Work that is done again on moved data, beside what does it where it did."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
HloModule m

ENTRY %main (a: f32[4,8], b: f32[4,8]) -> (f32[8,4], f32[4]) {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[4,8]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %sub.1 = f32[4,8]{1,0} subtract(%a, %b)
  %exp.1 = f32[4,8]{1,0} exponential(%sub.1)
  %first = f32[4,1]{1,0} slice(%exp.1), slice={[0:4], [0:1]}
  %row = f32[4]{0} reshape(%first)
"""
_BEFORE = (
    _HEAD
    + """  %transpose.1 = f32[8,4]{1,0} transpose(%exp.1), dimensions={1,0}
  %log.1 = f32[8,4]{1,0} log(%transpose.1)
  ROOT %out = (f32[8,4]{1,0}, f32[4]{0}) tuple(%log.1, %row)
}
"""
)
_AFTER = (
    _HEAD
    + """  %transpose.2 = f32[8,4]{1,0} transpose(%a), dimensions={1,0}
  %transpose.3 = f32[8,4]{1,0} transpose(%b), dimensions={1,0}
  %sub.2 = f32[8,4]{1,0} subtract(%transpose.2, %transpose.3)
  %exp.2 = f32[8,4]{1,0} exponential(%sub.2)
  %log.1 = f32[8,4]{1,0} log(%exp.2)
  ROOT %out = (f32[8,4]{1,0}, f32[4]{0}) tuple(%log.1, %row)
}
"""
)


def _at(name: str) -> Place:
    return Place("main", name)


def test_work_done_again_on_moved_data_is_a_copy(read: Read) -> None:
    matching = match(read(_BEFORE), read(_AFTER))
    for name in ("exp", "sub"):
        pairing = matching.pairing_before(_at(f"{name}.1"))
        assert pairing is not None
        assert pairing.relation is Relation.CLONED
        assert _at(f"{name}.2") in pairing.after


def test_the_move_is_now_done_before_that_work(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_AFTER)).pairing_before(_at("transpose.1"))
    assert pairing is not None
    assert pairing.after[0] == _at("transpose.2")


def test_no_transpose_became_an_exponential(read: Read) -> None:
    made = step(read(_BEFORE), read(_AFTER), "`tpu-broadcast-rewriter`")
    words = " ".join((made.headline, *made.account))
    assert "cloned 1 exponential, 1 subtract and 1 transpose" in words
    assert "became" not in words
    assert not made.removed


def test_work_on_other_data_is_no_copy(read: Read) -> None:
    other = _AFTER.replace("transpose(%a)", "transpose(%first2)").replace(
        "  %transpose.2", "  %first2 = f32[4,8]{1,0} negate(%a)\n  %transpose.2"
    )
    made = step(read(_BEFORE), read(other), "`algsimp`")
    words = " ".join((made.headline, *made.account))
    assert "cloned" not in words
    assert "was moved" not in words


_COPIED = """
HloModule m

ENTRY %main (a: f32[4,8]) -> (f32[4,4], f32[4,8]) {
  %a = f32[4,8]{1,0} parameter(0)
  %copy.1 = f32[4,8]{0,1} copy(%a)
  %slice.1 = f32[4,4]{0,1} slice(%copy.1), slice={[0:4], [0:4]}
  %sine = f32[4,4]{0,1} sine(%slice.1)
  ROOT %out = (f32[4,4]{0,1}, f32[4,8]{0,1}) tuple(%sine, %copy.1)
}
"""
_COPIED_LATER = _COPIED.replace(
    "  %slice.1 = f32[4,4]{0,1} slice(%copy.1), slice={[0:4], [0:4]}\n",
    "  %slice.2 = f32[4,4]{1,0} slice(%a), slice={[0:4], [0:4]}\n"
    "  %copy.2 = f32[4,4]{0,1} copy(%slice.2)\n",
).replace("sine(%slice.1)", "sine(%copy.2)")


def test_a_move_that_stays_for_others_is_copied_past_one_user(read: Read) -> None:
    """What `move_copy_to_users` does."""
    pairing = match(read(_COPIED), read(_COPIED_LATER)).pairing_after(_at("copy.2"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.before == (_at("copy.1"),)
    assert str(pairing.reason) == "a further copy, past %slice.2"
    made = step(read(_COPIED), read(_COPIED_LATER), "`move_copy_to_users`")
    account = " ".join((made.headline, *made.account))
    assert "`%copy.1` in `main` was cloned to `%copy.2` past `%slice.2`" in account


_WORK = """
HloModule m

ENTRY %main (a: f32[8], b: f32[1,8], w: f32[4]) -> (f32[8,4], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[1,8]{1,0} parameter(1)
  %w = f32[4]{0} parameter(2)
  %half = f32[] constant(0.5)
  %ge.1 = f32[8]{0} reshape(%b)
  %sub.1 = f32[8]{0} subtract(%a, %ge.1)
  %many.1 = f32[8]{0} broadcast(%half), dimensions={}
  %mul.1 = f32[8]{0} multiply(%sub.1, %many.1)
LINES  ROOT %out = (f32[8,4]{1,0}, f32[8]{0}) tuple(%dot.1, %mul.1)
}
"""
_READ_TWICE = _WORK.replace(
    "LINES",
    "  %dot.1 = f32[8,4]{1,0} dot(%mul.1, %w), lhs_contracting_dims={}, rhs_contracting_dims={}\n",
)
_SECOND_SHAPE = _WORK.replace(
    "LINES",
    """  %row = f32[1,8]{1,0} reshape(%a)
  %sub.2 = f32[1,8]{1,0} subtract(%row, %b)
  %many.2 = f32[1,8]{1,0} broadcast(%half), dimensions={}
  %mul.2 = f32[1,8]{1,0} multiply(%sub.2, %many.2)
  %back = f32[8]{0} reshape(%mul.2)
  %dot.1 = f32[8,4]{1,0} dot(%back, %w), lhs_contracting_dims={}, rhs_contracting_dims={}
""",
)


def test_what_one_reader_has_done_in_another_shape_is_a_copy(read: Read) -> None:
    matching = match(read(_READ_TWICE), read(_SECOND_SHAPE))
    for name in ("sub", "many", "mul"):
        pairing = matching.pairing_after(_at(f"{name}.2"))
        assert pairing is not None
        assert pairing.relation is Relation.CLONED, name
        assert pairing.before == (_at(f"{name}.1"),)


def test_other_work_in_another_shape_is_no_copy(read: Read) -> None:
    other = _SECOND_SHAPE.replace("subtract(%row, %b)", "subtract(%b, %row)")
    pairing = match(read(_READ_TWICE), read(other)).pairing_after(_at("mul.2"))
    assert pairing is not None
    assert pairing.relation is Relation.ADDED


def test_a_tuple_of_elements_of_another_tuple_is_no_copy(read: Read) -> None:
    """Layout assignment gives a loop its own tuple of the elements of what it was given."""
    before = """
HloModule m

%body (x: (f32[4], f32[4])) -> (f32[4], f32[4]) {
  ROOT %x = (f32[4]{0}, f32[4]{0}) parameter(0)
}

%going (y: (f32[4], f32[4])) -> pred[] {
  %y = (f32[4]{0}, f32[4]{0}) parameter(0)
  ROOT %yes = pred[] constant(true)
}

ENTRY %main (a: f32[4], b: f32[4]) -> (f32[4], f32[4]) {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %tuple.1 = (f32[4]{0}, f32[4]{0}) tuple(%a, %b)
LINES  ROOT %loop = (f32[4]{0}, f32[4]{0}) while(%tuple.1), condition=%going, body=%body
}
"""
    lines = """  %first = f32[4]{0} get-tuple-element(%tuple.1), index=0
  %second = f32[4]{0} get-tuple-element(%tuple.1), index=1
  %copy.1 = f32[4]{0} copy(%second)
  %tuple.2 = (f32[4]{0}, f32[4]{0}) tuple(%first, %copy.1)
"""
    after = before.replace("LINES", lines).replace("while(%tuple.1)", "while(%tuple.2)")
    pairing = match(read(before.replace("LINES", "")), read(after)).pairing_after(_at("tuple.2"))
    assert pairing is not None
    assert pairing.relation is Relation.ADDED


_ROOT_AND_SHAPE = """
HloModule m

ENTRY %main (a: f32[8]) -> (f32[8,1], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %rsqrt.1 = f32[8]{0} rsqrt(%a), metadata={op_name="jit(f)/rsqrt"}
LINES  %div.1 = f32[8]{0} divide(%rsqrt.1, %a), metadata={op_name="jit(f)/div"}
  ROOT %out = (f32[8,1]{1,0}, f32[8]{0}) tuple(%sine.1, %div.1)
}
"""
_OP = ', metadata={op_name="jit(f)/rsqrt"}'


def test_work_that_is_done_again_before_a_move_of_its_own_framework_op_is_a_copy(
    read: Read,
) -> None:
    before = _ROOT_AND_SHAPE.replace(
        "LINES",
        f"  %reshape.1 = f32[8,1]{{1,0}} reshape(%rsqrt.1){_OP}\n"
        "  %sine.1 = f32[8,1]{1,0} sine(%reshape.1)\n",
    )
    after = (
        _ROOT_AND_SHAPE.replace(
            "LINES",
            "  %reshape.2 = f32[8,1]{1,0} reshape(%a)\n"
            f"  %rsqrt.2 = f32[8,1]{{1,0}} rsqrt(%reshape.2){_OP}\n"
            "  %sine.1 = f32[8,1]{1,0} sine(%rsqrt.2)\n",
        )
        .replace("%div.1 =", "%div.2 =")
        .replace("%div.1)", "%div.2)")
    )
    matching = match(read(before), read(after))
    pairing = matching.pairing_after(_at("rsqrt.2"))
    assert pairing is not None
    assert pairing.before == (_at("rsqrt.1"),)
    moved = matching.pairing_before(_at("reshape.1"))
    assert moved is not None
    assert moved.relation is Relation.SWAPPED
    assert moved.after == (_at("reshape.2"),)


_OF_CONSTANTS = """
HloModule m

ENTRY %main () -> (pred[8,16], f32[8,16]) {
  %half = f32[] constant(0.5)
  %zero = f32[] constant(0.25)
  %most.0 = f32[] constant(4)
  %count.1 = f32[1,16]{1,0} iota(), iota_dimension=1
LINES  ROOT %out = (pred[8,16]{1,0}, f32[8,16]{1,0}) tuple(%all, %wide)
}
"""
_ONE_ROW = _OF_CONSTANTS.replace(
    "LINES",
    """  %many.1 = f32[1,16]{1,0} broadcast(%half), dimensions={}
  %add.1 = f32[1,16]{1,0} add(%count.1, %many.1)
  %mul.1 = f32[1,16]{1,0} multiply(%add.1, %many.1)
  %none.1 = f32[1,16]{1,0} broadcast(%zero), dimensions={}
  %sub.1 = f32[1,16]{1,0} subtract(%mul.1, %none.1), metadata={op_name="jit(f)/sub"}
  %ge.1 = pred[1,16]{1,0} compare(%sub.1, %none.1), direction=GE
  %most.1 = f32[1,16]{1,0} broadcast(%most.0), dimensions={}
  %le.1 = pred[1,16]{1,0} compare(%sub.1, %most.1), direction=LE
  %and.1 = pred[1,16]{1,0} and(%ge.1, %le.1)
  %cut = pred[16]{0} reshape(%and.1)
  %all = pred[8,16]{1,0} broadcast(%cut), dimensions={1}
  %row = f32[16]{0} reshape(%sub.1), metadata={op_name="jit(f)/sub"}
  %wide = f32[8,16]{1,0} broadcast(%row), dimensions={1}
""",
)
_TWO_ROWS = _OF_CONSTANTS.replace(
    "LINES",
    """  %count.2 = f32[16]{0} reshape(%count.1)
  %many.2 = f32[16]{0} broadcast(%half), dimensions={}
  %add.2 = f32[16]{0} add(%count.2, %many.2)
  %many.3 = f32[16]{0} broadcast(%half), dimensions={}
  %mul.2 = f32[16]{0} multiply(%add.2, %many.3)
  %none.2 = f32[16]{0} broadcast(%zero), dimensions={}
  %sub.2 = f32[16]{0} subtract(%mul.2, %none.2), metadata={op_name="jit(f)/sub"}
  %none.3 = f32[16]{0} broadcast(%zero), dimensions={}
  %ge.2 = pred[16]{0} compare(%sub.2, %none.3), direction=GE
  %most.2 = f32[16]{0} broadcast(%most.0), dimensions={}
  %le.2 = pred[16]{0} compare(%sub.2, %most.2), direction=LE
  %and.2 = pred[16]{0} and(%ge.2, %le.2)
  %all = pred[8,16]{1,0} broadcast(%and.2), dimensions={1}
  %count.3 = f32[16]{0} reshape(%count.1)
  %many.4 = f32[16]{0} broadcast(%half), dimensions={}
  %add.3 = f32[16]{0} add(%count.3, %many.4)
  %many.5 = f32[16]{0} broadcast(%half), dimensions={}
  %mul.3 = f32[16]{0} multiply(%add.3, %many.5)
  %none.4 = f32[16]{0} broadcast(%zero), dimensions={}
  %sub.3 = f32[16]{0} subtract(%mul.3, %none.4), metadata={op_name="jit(f)/sub"}
  %wide = f32[8,16]{1,0} broadcast(%sub.3), dimensions={1}
""",
)


def test_work_on_constants_that_each_reader_has_done_in_another_shape_is_copied(
    read: Read,
) -> None:
    """What `tpu-broadcast-rewriter` does with what has a dimension of one."""
    matching = match(read(_ONE_ROW), read(_TWO_ROWS))
    for name in ("add", "mul", "sub"):
        for copy in (2, 3):
            pairing = matching.pairing_after(_at(f"{name}.{copy}"))
            assert pairing is not None
            assert pairing.before == (_at(f"{name}.1"),), name


_DIAGONAL = """
HloModule m

ENTRY %main (x: f32[16,3,3]) -> (f32[16,3,3], f32[3,3]) {
  %x = f32[16,3,3]{2,1,0} parameter(0)
  %one = f32[] constant(1)
  %zero = f32[] constant(0)
  %iota.1 = s32[3,3]{1,0} iota(), iota_dimension=0
  %iota.2 = s32[3,3]{1,0} iota(), iota_dimension=1
  %eq.1 = pred[3,3]{1,0} compare(%iota.1, %iota.2), direction=EQ
  %broadcast.1 = f32[3,3]{1,0} broadcast(%one), dimensions={}
  %broadcast.2 = f32[3,3]{1,0} broadcast(%zero), dimensions={}
  %select.1 = f32[3,3]{1,0} select(%eq.1, %broadcast.1, %broadcast.2)
  %transpose.1 = f32[3,3]{0,1} transpose(%select.1), dimensions={1,0}
  %broadcast.3 = f32[16,3,3]{1,2,0} broadcast(%transpose.1), dimensions={1,2}
  %add.1 = f32[16,3,3]{1,2,0} add(%x, %broadcast.3)
  ROOT %out = (f32[16,3,3]{1,2,0}, f32[3,3]{1,0}) tuple(%add.1, %select.1)
}
"""
_TURNED = _DIAGONAL.replace(
    "  %transpose.1 = f32[3,3]{0,1} transpose(%select.1), dimensions={1,0}\n",
    """  %iota.3 = s32[3,3]{0,1} iota(), iota_dimension=1
  %iota.4 = s32[3,3]{0,1} iota(), iota_dimension=0
  %eq.2 = pred[3,3]{0,1} compare(%iota.3, %iota.4), direction=EQ
  %broadcast.4 = f32[3,3]{0,1} broadcast(%one), dimensions={}
  %broadcast.5 = f32[3,3]{0,1} broadcast(%zero), dimensions={}
  %select.2 = f32[3,3]{0,1} select(%eq.2, %broadcast.4, %broadcast.5)
""",
).replace("broadcast(%transpose.1)", "broadcast(%select.2)")


def test_what_a_transpose_was_pushed_through_is_copied_with_its_iotas(read: Read) -> None:
    """What `tpu-broadcast-rewriter` does to an identity matrix."""
    matching = match(read(_DIAGONAL), read(_TURNED))
    for name, original in (
        ("select.2", "select.1"),
        ("eq.2", "eq.1"),
        ("iota.3", "iota.1"),
        ("iota.4", "iota.2"),
        ("broadcast.5", "broadcast.2"),
    ):
        assert matching.partner_before(Place("main", name)) == Place("main", original)


def test_work_on_an_element_that_a_reader_has_done_without_the_reshape_is_a_copy(
    read: Read,
) -> None:
    """What the TPU's broadcast rewriter does to an index that two readers wrap around."""
    head = """
ENTRY %main (a: s32[32]) -> (s32[32,8], s32[32,1,1], s32[32]) {
  %a = s32[32]{0} parameter(0)
  %iota = s32[32]{0} iota(), iota_dimension=0
  %sort = (s32[32]{0}, s32[32]{0}) sort(%a, %iota), dimensions={0}, to_apply=%less
  %x = s32[32]{0} get-tuple-element(%sort), index=1
  %size = s32[] constant(8)
"""
    end = "  ROOT %out = (s32[32,8]{1,0}, s32[32,1,1]{2,1,0}, s32[32]{0}) tuple(%rows, %y, %z)\n}\n"
    z = "  %z = s32[32]{0} negate(%x)\n"
    before = f"""{head}  %x.1 = s32[32,1]{{1,0}} reshape(%x)
  %sizes.1 = s32[32,1]{{1,0}} broadcast(%size), dimensions={{}}
  %more.1 = s32[32,1]{{1,0}} add(%x.1, %sizes.1)
  %flat.1 = s32[32]{{0}} reshape(%more.1)
  %rows = s32[32,8]{{1,0}} broadcast(%flat.1), dimensions={{0}}
  %tall.1 = s32[32,1,1]{{2,1,0}} reshape(%more.1)
  %y = s32[32,1,1]{{2,1,0}} negate(%tall.1)
{z}{end}"""
    after = f"""{head}  %x.2 = s32[32,1,1]{{2,1,0}} reshape(%x)
  %sizes.2 = s32[32,1,1]{{2,1,0}} broadcast(%size), dimensions={{}}
  %more.2 = s32[32,1,1]{{2,1,0}} add(%x.2, %sizes.2)
  %y = s32[32,1,1]{{2,1,0}} negate(%more.2)
  %sizes.3 = s32[32]{{0}} broadcast(%size), dimensions={{}}
  %more.3 = s32[32]{{0}} add(%x, %sizes.3)
  %rows = s32[32,8]{{1,0}} broadcast(%more.3), dimensions={{0}}
{z}{end}"""
    pairing = match(read(before), read(after)).pairing_before(Place("main", "more.1"))
    assert pairing is not None
    assert set(pairing.after) == {Place("main", "more.2"), Place("main", "more.3")}


def test_a_reshape_of_indices_is_not_the_reshape_of_a_result(read: Read) -> None:
    by_index = (
        "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=LAST,"
        " slice_sizes={1}"
    )
    head = "HloModule m\nENTRY %main (a: f32[8], j: s32[4]) -> f32[2,2] {\n"
    head += "  %a = f32[8]{0} parameter(0)\n  %j = s32[4]{0} parameter(1)\n"
    before = (
        f"{head}  %gather.1 = f32[4]{{0}} gather(%a, %j), {by_index.replace('LAST', '1')}\n"
        "  %reshape.1 = f32[2,2]{1,0} reshape(%gather.1)\n"
        "  ROOT %out = f32[2,2]{1,0} negate(%reshape.1)\n}\n"
    )
    after = (
        f"{head}  %reshape.7 = s32[2,2]{{1,0}} reshape(%j)\n"
        f"  %gather.7 = f32[2,2]{{1,0}} gather(%a, %reshape.7), {by_index.replace('LAST', '2')}\n"
        "  ROOT %out = f32[2,2]{1,0} negate(%gather.7)\n}\n"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(_at("gather.1")) == _at("gather.7")
    assert matching.partner_after(_at("reshape.1")) is None


_EQUALLY_LONG = """
HloModule m

ENTRY %main (a: f32[2,4,4,4], b: f32[2,4,4]) -> f32[2,4,4,4] {
  %a = f32[2,4,4,4]{3,2,1,0} parameter(0)
  %b = f32[2,4,4]{2,1,0} parameter(1)
  %row.1 = f32[2,4,4,1]{3,2,1,0} reshape(%b)
  %row.2 = f32[2,4,4]{2,1,0} reshape(%row.1)
  %wide.1 = f32[2,4,4,4]{3,2,1,0} broadcast(%row.2), dimensions={0,1,2}
  %sum.1 = f32[2,4,4,4]{3,2,1,0} add(%wide.1, %a)
  %exp.1 = f32[2,4,4,4]{3,2,1,0} exponential(%sum.1)
  %transpose.1 = f32[2,4,4,4]{1,2,3,0} transpose(%exp.1), dimensions={0,3,2,1}
  ROOT %sine.1 = f32[2,4,4,4]{3,2,1,0} sine(%transpose.1)
}
"""
_EQUALLY_LONG_MOVED = """
HloModule m

ENTRY %main (a: f32[2,4,4,4], b: f32[2,4,4]) -> f32[2,4,4,4] {
  %a = f32[2,4,4,4]{3,2,1,0} parameter(0)
  %b = f32[2,4,4]{2,1,0} parameter(1)
  %transpose.2 = f32[2,4,4]{1,2,0} transpose(%b), dimensions={0,2,1}
  %transpose.3 = f32[2,4,4,4]{1,2,3,0} transpose(%a), dimensions={0,3,2,1}
  %wide.2 = f32[2,4,4,4]{1,2,3,0} broadcast(%transpose.2), dimensions={0,2,3}
  %sum.2 = f32[2,4,4,4]{1,2,3,0} add(%wide.2, %transpose.3)
  %exp.2 = f32[2,4,4,4]{1,2,3,0} exponential(%sum.2)
  ROOT %sine.1 = f32[2,4,4,4]{3,2,1,0} sine(%exp.2)
}
"""


def test_a_transpose_of_equally_long_dimensions_is_moved_as_another_is(read: Read) -> None:
    matching = match(read(_EQUALLY_LONG), read(_EQUALLY_LONG_MOVED))
    for name in ("wide", "sum", "exp"):
        assert matching.partner_after(_at(f"{name}.1")) == _at(f"{name}.2")
    pairing = matching.pairing_before(_at("transpose.1"))
    assert pairing is not None
    assert pairing.relation is Relation.SWAPPED
    assert pairing.after == (_at("transpose.3"), _at("transpose.2"))


def test_a_reshape_does_not_become_the_transpose_that_was_moved(read: Read) -> None:
    matching = match(read(_EQUALLY_LONG), read(_EQUALLY_LONG_MOVED))
    assert matching.partner_after(_at("row.2")) is None


_LAID_OUT = """
HloModule m

ENTRY %main (a: f32[4,8,2,16]) -> f32[4,16,8,2] {
  %a = f32[4,8,2,16]{3,2,1,0} parameter(0)
  %copy.1 = f32[4,8,2,16]{3,1,2,0} copy(%a)
  %exp.1 = f32[4,8,2,16]{3,1,2,0} exponential(%copy.1)
  %sine.1 = f32[4,8,2,16]{3,1,2,0} sine(%copy.1)
  %sum.1 = f32[4,8,2,16]{3,1,2,0} add(%exp.1, %sine.1)
  %transpose.1 = f32[4,16,8,2]{1,2,3,0} transpose(%sum.1), dimensions={0,3,1,2}
  %copy.2 = f32[4,16,8,2]{3,2,1,0} copy(%transpose.1)
  ROOT %log.1 = f32[4,16,8,2]{3,2,1,0} log(%copy.2)
}
"""
_NORMALIZED = """
HloModule m

ENTRY %main (a: f32[4,8,2,16]) -> f32[4,16,8,2] {
  %a = f32[4,8,2,16]{3,2,1,0} parameter(0)
  %transpose.2 = f32[4,2,8,16]{3,2,1,0} transpose(%a), dimensions={0,2,1,3}
  %exp.2 = f32[4,2,8,16]{3,2,1,0} exponential(%transpose.2)
  %bitcast.1 = f32[4,8,2,16]{3,1,2,0} bitcast(%transpose.2)
  %bitcast.2 = f32[4,2,8,16]{3,2,1,0} bitcast(%bitcast.1)
  %sine.2 = f32[4,2,8,16]{3,2,1,0} sine(%bitcast.2)
  %sum.2 = f32[4,2,8,16]{3,2,1,0} add(%exp.2, %sine.2)
  %transpose.3 = f32[4,16,8,2]{3,2,1,0} transpose(%sum.2), dimensions={0,3,2,1}
  ROOT %log.1 = f32[4,16,8,2]{3,2,1,0} log(%transpose.3)
}
"""


def test_a_transpose_that_its_copy_does_as_well_is_not_done_before_the_work(read: Read) -> None:
    """What `layout_normalization` does; the bitcasts are of the operand of the sine."""
    matching = match(read(_LAID_OUT), read(_NORMALIZED))
    assert matching.partner_after(_at("copy.2")) == _at("transpose.3")
    assert matching.partner_after(_at("sum.1")) == _at("sum.2")
    assert matching.partner_after(_at("transpose.1")) is None
    for name in ("bitcast.1", "bitcast.2"):
        assert _at(name) in matching.added


def test_a_bitcast_of_a_broadcast_becomes_a_new_broadcast_without_a_framework_op(
    read: Read,
) -> None:
    """What `algsimp` does after layout normalization, to each bitcast of a broadcast that stays."""
    before = """
HloModule m

ENTRY %main (a: f32[4,8], b: f32[8,4], s: f32[8]) -> (f32[4,8], f32[8,4]) {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[8,4]{0,1} parameter(1)
  %s = f32[8]{0} parameter(2)
  %wide = f32[4,8]{1,0} broadcast(%s), dimensions={1}, metadata={op_name="jit(f)/mul"}
  %turned = f32[8,4]{0,1} bitcast(%wide), metadata={op_name="jit(f)/mul"}
  %more = f32[4,8]{1,0} multiply(%a, %wide)
  %less = f32[8,4]{0,1} subtract(%b, %turned)
  ROOT %out = (f32[4,8]{1,0}, f32[8,4]{0,1}) tuple(%more, %less)
}
"""
    bitcast = '%turned = f32[8,4]{0,1} bitcast(%wide), metadata={op_name="jit(f)/mul"}'
    after = before.replace(bitcast, "%fill = f32[8,4]{0,1} broadcast(%s), dimensions={0}")
    matching = match(read(before), read(after.replace("%turned", "%fill")))
    pairing = matching.pairing_before(_at("turned"))
    assert pairing is not None
    assert (pairing.relation, pairing.after) == (Relation.REPLACED, (_at("fill"),))
    assert matching.partner_after(_at("wide")) == _at("wide")


_FILLED = """
HloModule m

ENTRY %main (x: s32[4,8], n: s32[]) -> (pred[4,8], s32[4,8]) {
  %x = s32[4,8]{1,0} parameter(0)
  %n = s32[] parameter(1)
  %n.1 = s32[] negate(%n)
  %fill = s32[4,8,1]{2,1,0} broadcast(%n.1), dimensions={}, metadata={op_name="gather"}
  %flat.1 = s32[4,8]{1,0} reshape(%fill), metadata={op_name="gather"}
  %less = pred[4,8]{1,0} compare(%x, %flat.1), direction=LT
  %flat.2 = s32[4,8]{1,0} reshape(%fill), metadata={op_name="gather"}
  %difference = s32[4,8]{1,0} subtract(%x, %flat.2)
  ROOT %t = (pred[4,8]{1,0}, s32[4,8]{1,0}) tuple(%less, %difference)
}
"""


def test_of_two_like_copies_both_are_copies(read: Read) -> None:
    """`algsimp` folds a reshape into a broadcast for each of its readers."""
    after = _FILLED.replace("%flat.1 =", "%b.1 =").replace("%flat.1)", "%b.1)")
    after = after.replace("%flat.2)", "%b.2)").replace(
        "  %difference",
        '  %b.2 = s32[4,8]{1,0} broadcast(%n.1), dimensions={}, metadata={op_name="gather"}\n'
        "  %difference",
    )
    after = after.replace("reshape(%fill)", "broadcast(%n.1), dimensions={}", 1)
    made = step(read(_FILLED), read(after), "`algsimp`")
    copies = [row.after for row in made.added if row.kind is Kind.CLONED]
    assert copies == [_at("b.1"), _at("b.2")]


_FLAT = """
ENTRY %main (a: f32[4,8]) -> (f32[32], f32[32]) {
  %a = f32[4,8]{1,0} parameter(0)
  %r = f32[32]{0} reshape(%a)
  %w = f32[32]{0} negate(%r)
  %s = f32[32]{0} sine(%w)
  ROOT %out = (f32[32]{0}, f32[32]{0}) tuple(%s, %r)
}
"""
_TURNED_BACK = """
ENTRY %main (a: f32[4,8]) -> (f32[32], f32[32]) {
  %a = f32[4,8]{1,0} parameter(0)
  %r = f32[32]{0} reshape(%a)
  %w = f32[4,8]{1,0} negate(%a)
  %back = f32[SHAPE] reshape(%w)
  %s = f32[SHAPE] sine(%back)
  %flat = f32[32]{0} reshape(%s)
  ROOT %out = (f32[32]{0}, f32[32]{0}) tuple(%flat, %r)
}
"""


@pytest.mark.parametrize(("shape", "is_copy"), [("32]{0", True), ("8,4]{1,0", False)])
def test_a_move_of_a_result_is_a_copy_only_where_it_gives_the_old_result(
    read: Read, shape: str, *, is_copy: bool
) -> None:
    after = _TURNED_BACK.replace("SHAPE] ", f"{shape}}} ")
    pairing = match(read(_FLAT), read(after)).pairing_after(Place("main", "back"))
    assert pairing is not None
    assert (pairing.before == (Place("main", "r"),)) is is_copy


_MASK = """
HloModule m

ENTRY %main (n: s32[4], a: bf16[4,8]) -> (bf16[4,8,1], bf16[4,8]) {
  %n = s32[4]{0} parameter(0)
  %a = bf16[4,8]{1,0} parameter(1)
  %iota = s32[4,8]{1,0} iota(), iota_dimension=1
  %bound = s32[4,8]{1,0} broadcast(%n), dimensions={0}
  %mask = pred[4,8]{1,0} compare(%iota, %bound), direction=LT
  %kept = bf16[4,8]{1,0} convert(%mask)
  %given = bf16[4,8,1]{2,1,0} reshape(%kept)
  %more = bf16[4,8]{1,0} multiply(%a, %kept)
  ROOT %t = (bf16[4,8,1]{2,1,0}, bf16[4,8]{1,0}) tuple(%given, %more)
}
"""
_MASK_AGAIN = _MASK.replace(
    "  %given = bf16[4,8,1]{2,1,0} reshape(%kept)\n",
    """  %iota.1 = s32[4,8,1]{2,1,0} reshape(%iota)
  %one = s32[4,1]{1,0} reshape(%n)
  %again = s32[4]{0} reshape(%one)
  %wide = s32[4,8]{1,0} broadcast(%again), dimensions={0}
  %bound.1 = s32[4,8,1]{2,1,0} broadcast(%wide), dimensions={0,1}
  %mask.1 = pred[4,8,1]{2,1,0} compare(%iota.1, %bound.1), direction=LT
  %kept.1 = bf16[4,8,1]{2,1,0} convert(%mask.1)
""",
).replace("tuple(%given", "tuple(%kept.1")


def test_work_behind_a_broadcast_that_only_adds_a_dimension_is_a_copy(read: Read) -> None:
    """The rewriter of broadcasts for TPUs computes a mask again, in the shape that a reader has."""
    matching = match(read(_MASK), read(_MASK_AGAIN))
    for name in ("bound", "mask", "kept"):
        pairing = matching.pairing_before(_at(name))
        assert pairing is not None
        assert pairing.relation is Relation.CLONED
        assert _at(f"{name}.1") in pairing.after
    for name in ("one", "again"):
        pairing = matching.pairing_after(_at(name))
        assert pairing is not None
        assert not pairing.before


_ROTATED = """
ENTRY %main (a: f32[2,4,8]) -> bf16[8,2,4] {
  %a = f32[2,4,8]{2,1,0} parameter(0)
  %turned = f32[8,2,4]{2,1,0} transpose(%a), dimensions={2,0,1}
  %low = bf16[8,2,4]{2,1,0} convert(%turned)
  ROOT %out = bf16[8,2,4]{2,1,0} negate(%low)
}
"""
_ROTATED_LATER = _ROTATED.replace(
    "  %low = bf16[8,2,4]{2,1,0} convert(%turned)\n",
    """  %back = f32[2,4,8]{2,1,0} transpose(%turned), dimensions={1,2,0}
  %low.1 = bf16[2,4,8]{2,1,0} convert(%back)
  %turned.1 = bf16[8,2,4]{2,1,0} transpose(%low.1), dimensions={2,0,1}
""",
).replace("negate(%low)", "negate(%turned.1)")


def test_a_transpose_that_is_undone_before_the_work_is_done_again_behind_it(read: Read) -> None:
    """What the reshape mover does; a later pass removes the transposes before the work."""
    pairing = match(read(_ROTATED), read(_ROTATED_LATER)).pairing_after(_at("turned.1"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.before == (_at("turned"),)
    assert str(pairing.reason) == "a further copy, past %low.1"


def test_a_transpose_to_another_order_before_the_work_undoes_nothing(read: Read) -> None:
    after = _ROTATED_LATER.replace("dimensions={1,2,0}", "dimensions={2,1,0}")
    after = after.replace("[2,4,8]{2,1,0} transpose(%turned)", "[4,2,8]{2,1,0} transpose(%turned)")
    after = after.replace("%low.1 = bf16[2,4,8]", "%low.1 = bf16[4,2,8]")
    after = after.replace("dimensions={2,0,1}\n  ROOT", "dimensions={2,1,0}\n  ROOT")
    pairing = match(read(_ROTATED), read(after)).pairing_after(_at("turned.1"))
    assert pairing is not None
    assert not pairing.before


_LARGEST = """
HloModule m

%max (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %largest = f32[] maximum(%x, %y)
}

ENTRY %main (a: bf16[4,8], least: f32[]) -> (f32[4], f32[4,8]) {
  %a = bf16[4,8]{1,0} parameter(0)
  %least = f32[] parameter(1)
  %wide = f32[4,8]{1,0} convert(%a)
  %reduce.1 = f32[4]{0} reduce(%wide, %least), dimensions={1}, to_apply=%max
  %sine = f32[4]{0} sine(%reduce.1)
  %exp = f32[4,8]{1,0} exponential(%wide)
  ROOT %out = (f32[4]{0}, f32[4,8]{1,0}) tuple(%sine, %exp)
}
"""
_NARROW_MAX = """
%max.clone.1 (x.1: bf16[], y.1: bf16[]) -> bf16[] {
  %x.1 = bf16[] parameter(0)
  %y.1 = bf16[] parameter(1)
  ROOT %largest.1 = bf16[] maximum(%x.1, %y.1)
}

ENTRY"""
_LARGEST_NARROW = (
    _LARGEST.replace("\nENTRY", _NARROW_MAX)
    .replace(
        "  %reduce.1 = f32[4]{0} reduce(%wide, %least), dimensions={1}, to_apply=%max\n",
        """  %convert.7 = bf16[] convert(%least)
  %reduce.47 = bf16[4]{0} reduce(%a, %convert.7), dimensions={1}, to_apply=%max.clone.1
  %convert.8 = f32[4]{0} convert(%reduce.47)
""",
    )
    .replace("sine(%reduce.1)", "sine(%convert.8)")
)


def test_a_convert_of_a_narrowed_reduction_is_no_copy_of_one_that_is_read_as_before(
    read: Read,
) -> None:
    """What `tpu-reduce-rewriter` does: the sum of converted elements is another value."""
    pairing = match(read(_LARGEST), read(_LARGEST_NARROW)).pairing_after(_at("convert.8"))
    assert pairing is not None
    assert not pairing.before
    assert str(pairing.reason) == "inserted between %reduce.47 and %sine"


def test_a_convert_that_only_a_reduction_read_was_moved_past_it(read: Read) -> None:
    texts = (
        text.replace("exponential(%wide)", "exponential(%b)")
        for text in (_LARGEST, _LARGEST_NARROW)
    )
    texts = (text.replace("least: f32[])", "least: f32[], b: f32[4,8])") for text in texts)
    other = "  %b = f32[4,8]{1,0} parameter(2)\n  %wide"
    before, after = (read(text.replace("  %wide", other, 1)) for text in texts)
    made = step(before, after, "`tpu-reduce-rewriter`")
    words = " ".join((made.headline, *made.account))
    assert "`%wide` in `main` was moved past" in words


_JOINED = """
ENTRY %main (a: f32[4,1], b: f32[4,3]) -> (f32[4,4], f32[4,4]) {
  %a = f32[4,1]{1,0} parameter(0)
  %b = f32[4,3]{1,0} parameter(1)
  %joined = f32[4,4]{1,0} concatenate(%a, %b), dimensions={1}
  %sine = f32[4,4]{1,0} sine(%joined)
  %reshape.1 = f32[4,4,1]{2,1,0} reshape(%sine)
  %reshape.2 = f32[4,4]{1,0} reshape(%reshape.1)
  %exp = f32[4,4]{1,0} exponential(%reshape.2)
  %tan = f32[4,4]{1,0} tanh(%sine)
  ROOT %out = (f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(%exp, %tan)
}
"""


def _reshaped(name: str, size: int) -> str:
    """Return six reshapes of a value in a row, the last of which has its dimensions."""
    lines, source = [], name
    for number in range(6):
        dimensions, layout = (f"4,{size}", "{1,0}") if number % 2 else (f"4,{size},1", "{2,1,0}")
        lines.append(f"  %{name}.{number} = f32[{dimensions}]{layout} reshape(%{source})\n")
        source = f"{name}.{number}"
    return "".join(lines)


def test_a_concatenate_of_reshapes_many_times_of_the_old_operands_is_a_copy(read: Read) -> None:
    again = """  %joined.2 = f32[4,4]{1,0} concatenate(%a.5, %b.5), dimensions={1}
  %sine.2 = f32[4,4]{1,0} sine(%joined.2)
  %exp = f32[4,4]{1,0} exponential(%sine.2)
"""
    kept, _, rest = _JOINED.partition("  %reshape.1")
    after = (
        f"{kept}{_reshaped('a', 1)}{_reshaped('b', 3)}{again}  %tan{rest.partition('  %tan')[2]}"
    )
    matching = match(read(_JOINED), read(after))
    for name in ("joined", "sine"):
        pairing = matching.pairing_after(_at(f"{name}.2"))
        assert pairing is not None
        assert pairing.before == (_at(name),)
