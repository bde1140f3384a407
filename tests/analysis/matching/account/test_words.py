"""Operations on 64-bit integers that became several on 32-bit halves."""

import re
from collections.abc import Callable

from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_WHOLE = """
HloModule m

ENTRY %main (a: u32[4]) -> u32[4] {
  %a = u32[4]{0} parameter(0)
  %count = u64[4]{0} iota(), iota_dimension=0
  %ones = u64[] constant(3)
  %many = u64[4]{0} broadcast(%ones), dimensions={}
  %sum = u64[4]{0} add(%count, %many)
  %short = u32[4]{0} convert(%sum)
  ROOT %out = u32[4]{0} xor(%a, %short)
}
"""
_HALVES = """
HloModule m

ENTRY %main (a: u32[4]) -> u32[4] {
  %a = u32[4]{0} parameter(0)
  %iota = u32[4]{0} iota(), iota_dimension=0
  %constant.1 = u32[] constant(0)
  %broadcast.1 = u32[4]{0} broadcast(%constant.1), dimensions={}
  %tuple.1 = (u32[4]{0}, u32[4]{0}) tuple(%iota, %broadcast.1)
  %constant.2 = u32[] constant(3)
  %constant.3 = u32[] constant(0)
  %tuple.2 = (u32[], u32[]) tuple(%constant.2, %constant.3)
  %many = u32[4]{0} broadcast(%constant.2), dimensions={}
  %broadcast.3 = u32[4]{0} broadcast(%constant.3), dimensions={}
  %tuple.3 = (u32[4]{0}, u32[4]{0}) tuple(%many, %broadcast.3)
  %add.1 = u32[4]{0} add(%iota, %many)
  %compare.1 = pred[4]{0} compare(%add.1, %iota), direction=LT
  %convert.1 = u32[4]{0} convert(%compare.1)
  %add.2 = u32[4]{0} add(%broadcast.1, %broadcast.3)
  %add.3 = u32[4]{0} add(%add.2, %convert.1)
  %tuple.4 = (u32[4]{0}, u32[4]{0}) tuple(%add.1, %add.3)
  %short = u32[4]{0} convert(%add.1)
  ROOT %out = u32[4]{0} xor(%a, %short)
}
"""
_SHIFTED = """
HloModule m

ENTRY %main (a: u32[4]) -> u32[4] {
  %a = u32[4]{0} parameter(0)
  %count = u64[4]{0} convert(%a)
  %constant.9 = u64[] constant(3)
  %many = u64[4]{0} broadcast(%constant.9), dimensions={}
  %product = u64[4]{0} multiply(%count, %many)
  %constant.8 = u64[] constant(32)
  %far = u64[4]{0} broadcast(%constant.8), dimensions={}
  %shifted = u64[4]{0} shift-right-logical(%product, %far)
  %less = pred[4]{0} compare(%shifted, %count), direction=LT
  %short = u32[4]{0} convert(%shifted)
  ROOT %out = u32[4]{0} select(%less, %a, %short)
}
"""
_SHIFTED_HALVES = """
HloModule m

ENTRY %main (a: u32[4]) -> u32[4] {
  %a = u32[4]{0} parameter(0)
  %low = u32[4]{0} bitcast-convert(%a)
  %constant.1 = u32[] constant(0)
  %broadcast.1 = u32[4]{0} broadcast(%constant.1), dimensions={}
  %tuple.1 = (u32[4]{0}, u32[4]{0}) tuple(%low, %broadcast.1)
  %constant.2 = u32[] constant(3)
  %constant.3 = u32[] constant(0)
  %tuple.2 = (u32[], u32[]) tuple(%constant.2, %constant.3)
  %many.1 = u32[4]{0} broadcast(%constant.2), dimensions={}
  %many.2 = u32[4]{0} broadcast(%constant.3), dimensions={}
  %tuple.3 = (u32[4]{0}, u32[4]{0}) tuple(%many.1, %many.2)
  %multiply.1 = u32[4]{0} multiply(%low, %many.1)
  %mulhi = u32[4]{0} mulhi(%low, %many.1)
  %tuple.4 = (u32[4]{0}, u32[4]{0}) tuple(%multiply.1, %mulhi)
  %multiply.2 = u32[4]{0} multiply(%low, %many.2)
  %add.1 = u32[4]{0} add(%mulhi, %multiply.2)
  %tuple.5 = (u32[4]{0}, u32[4]{0}) tuple(%multiply.1, %add.1)
  %constant.4 = u32[] constant(32)
  %constant.5 = u32[] constant(0)
  %tuple.6 = (u32[], u32[]) tuple(%constant.4, %constant.5)
  %far.1 = u32[4]{0} broadcast(%constant.4), dimensions={}
  %far.2 = u32[4]{0} broadcast(%constant.5), dimensions={}
  %tuple.7 = (u32[4]{0}, u32[4]{0}) tuple(%far.1, %far.2)
  %compare.1 = pred[4]{0} compare(%far.2, %broadcast.1), direction=EQ
  %select.1 = u32[4]{0} select(%compare.1, %far.1, %many.1)
  %shift-left = u32[4]{0} shift-left(%add.1, %select.1)
  %shift-right-logical.1 = u32[4]{0} shift-right-logical(%multiply.1, %select.1)
  %or.1 = u32[4]{0} or(%shift-left, %shift-right-logical.1)
  %shift-right-logical.2 = u32[4]{0} shift-right-logical(%add.1, %select.1)
  %tuple.8 = (u32[4]{0}, u32[4]{0}) tuple(%or.1, %shift-right-logical.2)
  %select.2 = u32[4]{0} select(%compare.1, %shift-right-logical.2, %or.1)
  %select.3 = u32[4]{0} select(%compare.1, %many.2, %shift-right-logical.2)
  %tuple.9 = (u32[4]{0}, u32[4]{0}) tuple(%select.2, %select.3)
  %compare.2 = pred[4]{0} compare(%select.3, %broadcast.1), direction=LT
  %compare.3 = pred[4]{0} compare(%select.3, %broadcast.1), direction=EQ
  %compare.4 = pred[4]{0} compare(%select.2, %low), direction=LT
  %and.1 = pred[4]{0} and(%compare.3, %compare.4)
  %or.2 = pred[4]{0} or(%compare.2, %and.1)
  %short.1 = u32[4]{0} convert(%select.2)
  ROOT %out.1 = u32[4]{0} select(%or.2, %a, %short.1)
}
"""


def _at(name: str) -> Place:
    return Place("main", name)


def test_an_operation_becomes_several_of_which_one_gives_the_low_half(read: Read) -> None:
    matching = match(read(_WHOLE), read(_HALVES))
    became = {
        "count": {"iota", "constant.1", "broadcast.1", "tuple.1"},
        "ones": {"constant.2", "constant.3", "tuple.2"},
        "many": {"many", "broadcast.3", "tuple.3"},
        "sum": {"add.1", "compare.1", "convert.1", "add.2", "add.3", "tuple.4"},
    }
    firsts = {"count": "iota", "ones": "constant.2", "many": "many", "sum": "add.1"}
    for name, parts in became.items():
        pairing = matching.pairing_before(_at(name))
        assert pairing is not None
        assert pairing.relation is Relation.EXPANDED, name
        assert pairing.after[0] == _at(firsts[name])
        assert {place.instruction for place in pairing.after} == parts


def test_the_account_adds_and_changes_no_other_instruction(read: Read) -> None:
    made = step(read(_WHOLE), read(_HALVES), "`xprecision-rewriter`")
    kinds = {change.kind for change in made.changes}
    assert not kinds & {Kind.ADDED, Kind.REMOVED, Kind.TYPE}
    assert "expanded 1 add, 1 broadcast, 1 constant and 1 iota into 16" in made.headline
    assert sum(change.balance for change in made.changes) == 12


def test_the_history_of_a_half_goes_back_to_the_whole(read: Read) -> None:
    known = history(SnapshotSequence([read(_WHOLE), read(_HALVES)]), 1, _at("add.3"))
    assert _at("sum") in known[-1].sources or _at("sum") in {k.instruction for k in known}


def test_new_pairs_that_are_read_are_no_halves(read: Read) -> None:
    used = _HALVES.replace(
        "  %short",
        "  %get = u32[4]{0} get-tuple-element(%tuple.4), index=0\n  %short",
    ).replace("convert(%add.1)", "convert(%get)")
    pairing = match(read(_WHOLE), read(used)).pairing_before(_at("sum"))
    assert pairing is not None
    assert pairing.relation is not Relation.EXPANDED


def test_a_part_belongs_to_what_first_depends_on_it(read: Read) -> None:
    matching = match(read(_SHIFTED), read(_SHIFTED_HALVES))
    became = {
        "product": "multiply.1 mulhi tuple.4 multiply.2 add.1 tuple.5",
        "constant.8": "constant.4 constant.5 tuple.6",
        "far": "far.1 far.2 tuple.7",
        "shifted": "select.2 select.3 tuple.9 compare.1 select.1 shift-left"
        " shift-right-logical.1 or.1 shift-right-logical.2 tuple.8",
        "less": "compare.2 compare.3 compare.4 and.1 or.2",
    }
    for name, parts in became.items():
        pairing = matching.pairing_before(_at(name))
        assert pairing is not None
        assert {place.instruction for place in pairing.after} == {*parts.split()}, name
    assert not matching.added
    assert not matching.removed


def test_the_account_names_the_halves(read: Read) -> None:
    made = step(read(_SHIFTED), read(_SHIFTED_HALVES), "`xprecision-rewriter`")
    assert any(
        "`%product` in `main` was expanded into 6 instructions on 32-bit halves: `%multiply.1`"
        " gives the low half, `%add.1` the high half" in sentence
        for sentence in (made.headline, *made.account)
    )


_COMPLEX = """
HloModule m

ENTRY %main (a: f32[4], b: f32[4]) -> f32[2,2] {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %number = c64[4]{0} complex(%a, %b)
  %square = c64[4]{0} multiply(%number, %number)
  %table = c64[2,2]{1,0} reshape(%square)
  %twice = c64[2,2]{1,0} add(%table, %table)
  ROOT %out = f32[2,2]{1,0} real(%twice)
}
"""
_PARTS = """
HloModule m

ENTRY %main (a: f32[4], b: f32[4]) -> f32[2,2] {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %tuple.1 = (f32[4]{0}, f32[4]{0}) tuple(%a, %b)
  %multiply.1 = f32[4]{0} multiply(%a, %a)
  %multiply.2 = f32[4]{0} multiply(%b, %b)
  %subtract.1 = f32[4]{0} subtract(%multiply.1, %multiply.2)
  %multiply.3 = f32[4]{0} multiply(%a, %b)
  %multiply.4 = f32[4]{0} multiply(%b, %a)
  %add.1 = f32[4]{0} add(%multiply.3, %multiply.4)
  %tuple.2 = (f32[4]{0}, f32[4]{0}) tuple(%subtract.1, %add.1)
  %table.1 = f32[2,2]{1,0} reshape(%subtract.1)
  %table.2 = f32[2,2]{1,0} reshape(%add.1)
  %tuple.3 = (f32[2,2]{1,0}, f32[2,2]{1,0}) tuple(%table.1, %table.2)
  %twice.1 = f32[2,2]{1,0} add(%table.1, %table.1)
  %twice.2 = f32[2,2]{1,0} add(%table.2, %table.2)
  %tuple.4 = (f32[2,2]{1,0}, f32[2,2]{1,0}) tuple(%twice.1, %twice.2)
  ROOT %out.1 = f32[2,2]{1,0} copy(%twice.1)
}
"""


def test_a_complex_operation_became_several_on_real_and_imaginary_parts(read: Read) -> None:
    matching = match(read(_COMPLEX), read(_PARTS))
    became = {
        "square": "subtract.1 add.1 tuple.2 multiply.1 multiply.2 multiply.3 multiply.4",
        "table": "table.1 table.2 tuple.3",
        "twice": "twice.1 twice.2 tuple.4",
    }
    for name, parts in became.items():
        pairing = matching.pairing_before(_at(name))
        assert pairing is not None
        assert {place.instruction for place in pairing.after} == {*parts.split()}, name
    made = step(read(_COMPLEX), read(_PARTS), "`complex-rewriter`")
    assert any(
        "`%table` in `main` was expanded into 3 instructions on real and imaginary parts:"
        " `%table.1` gives the real parts, `%table.2` the imaginary ones" in sentence
        for sentence in (made.headline, *made.account)
    )


def test_a_complex_of_two_values_became_their_tuple(read: Read) -> None:
    [pairing] = [
        p for p in match(read(_COMPLEX), read(_PARTS)).pairings if _at("number") in p.before
    ]
    assert (pairing.relation, pairing.after) == (Relation.REPLACED, (_at("tuple.1"),))
    assert str(pairing.reason) == "%a gives the real parts, %b the imaginary ones"


_TURNED = """
HloModule m

ENTRY %main (a: f32[4], b: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %number = c64[4]{0} complex(%a, %b)
  %square = c64[4]{0} multiply(%number, %number)
  %unit = c64[] constant((2, 0))
  %twos = c64[4]{0} broadcast(%unit), dimensions={}
  %half = c64[4]{0} divide(%square, %twos)
  %real = f32[4]{0} real(%half)
  ROOT %out = f32[4]{0} negate(%real)
}
"""
_TURNED_PARTS = """
HloModule m

ENTRY %main (a: f32[4], b: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %tuple.1 = (f32[4]{0}, f32[4]{0}) tuple(%a, %b)
  %multiply.1 = f32[4]{0} multiply(%a, %a)
  %multiply.2 = f32[4]{0} multiply(%b, %b)
  %subtract.1 = f32[4]{0} subtract(%multiply.1, %multiply.2)
  %multiply.3 = f32[4]{0} multiply(%a, %b)
  %multiply.4 = f32[4]{0} multiply(%b, %a)
  %add.1 = f32[4]{0} add(%multiply.3, %multiply.4)
  %tuple.2 = (f32[4]{0}, f32[4]{0}) tuple(%subtract.1, %add.1)
  %two = f32[] constant(2)
  %twos.1 = f32[4]{0} broadcast(%two), dimensions={}
  %divide.1 = f32[4]{0} divide(%subtract.1, %twos.1)
  %divide.2 = f32[4]{0} divide(%add.1, %twos.1)
  %tuple.3 = (f32[4]{0}, f32[4]{0}) tuple(%divide.1, %divide.2)
  ROOT %out = f32[4]{0} negate(%divide.1)
}
"""


def test_what_was_removed_with_an_expanded_user_says_so(read: Read) -> None:
    change = step(read(_TURNED), read(_TURNED_PARTS))
    reasons = {row.before.instruction: str(row.reason) for row in change.removed if row.before}
    assert reasons["twos"].startswith("its user %half was expanded")


def test_the_counterpart_of_the_imaginary_part_alone_is_that_of_the_whole(read: Read) -> None:
    before = _COMPLEX.replace("real(%twice)", "imag(%twice)")
    after = _PARTS.replace("copy(%twice.1)", "copy(%twice.2)")
    pairing = match(read(before), read(after)).pairing_before(_at("twice"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    assert {place.instruction for place in pairing.after} == {"twice.1", "twice.2", "tuple.4"}


def test_the_part_that_was_taken_of_an_expanded_value_is_gone(read: Read) -> None:
    matching = match(read(_TURNED), read(_TURNED_PARTS))
    pairing = matching.pairing_before(_at("real"))
    assert pairing is not None
    assert (pairing.relation, pairing.after) == (Relation.REMOVED, ())
    assert pairing.reason == "%divide.1 gives this part of %half"
    assert matching.partner_after(_at("half")) == _at("divide.1")


_NOT_OF_IT = re.compile(r"^  %(?:constant\.[234589]|tuple\.[26]) = .*", re.MULTILINE)


def _of_one_op(text: str) -> str:
    """Give the framework op of an expansion to all but the constants of the program."""
    lines = [
        line if _NOT_OF_IT.match(line) or " = " not in line else f'{line}, metadata={{op_name="x"}}'
        for line in text.splitlines()
    ]
    return "\n".join(lines)


def test_a_half_of_the_value_of_a_constant_is_no_copy_of_it(read: Read) -> None:
    """The limit in an expansion of a shift by 32 is 64, which the program multiplied by."""
    limit = (
        "  %constant.6 = u32[] constant(64)\n"
        "  %limit = u32[4]{0} broadcast(%constant.6), dimensions={}\n"
        "  %select.1 = u32[4]{0} select(%compare.1, %far.1, %limit)\n"
    )
    line = "  %select.1 = u32[4]{0} select(%compare.1, %far.1, %many.1)\n"
    names = {"%many.1": "%many", "%far.1": "%far", "constant(3)": "constant(64)"}
    halves = _SHIFTED_HALVES.replace(line, limit)
    for old, new in names.items():
        halves = halves.replace(old, new)
    whole = _SHIFTED.replace("constant(3)", "constant(64)")
    change = step(read(_of_one_op(whole)), read(_of_one_op(halves)), "`x64-rewriter`")
    assert not {Kind.CLONED, Kind.TYPE, Kind.ADDED} & {row.kind for row in change.changes}
    assert {"constant.9", "constant.8", "many", "far"} <= {
        row.before.instruction
        for row in change.changes
        if row.kind is Kind.EXPANDED and row.before is not None
    }


_READ_WHOLE = """  %kept = u64[4]{0} or(%count, %many)
  %bits = u32[4]{0} rng-bit-generator(%kept), algorithm=rng_default
  ROOT %out = u32[4]{0} xor(%bits, %short)
"""
_READ_COMBINED = """  %or.1 = u32[4]{0} or(%iota, %many)
  %or.2 = u32[4]{0} or(%broadcast.1, %broadcast.3)
  %tuple.5 = (u32[4]{0}, u32[4]{0}) tuple(%or.1, %or.2)
  %first = u32[4]{0} get-tuple-element(%tuple.5), index=0
  %second = u32[4]{0} get-tuple-element(%tuple.5), index=1
  %again = u64[4]{0} custom-call(%first, %second), custom_call_target="X64Combine"
  %bits = u32[4]{0} rng-bit-generator(%again), algorithm=rng_default
  ROOT %out = u32[4]{0} xor(%bits, %short)
"""


def test_halves_that_are_combined_for_a_reader_are_of_what_it_read(read: Read) -> None:
    last = "  ROOT %out = u32[4]{0} xor(%a, %short)\n"
    change = step(
        read(_WHOLE.replace(last, _READ_WHOLE)), read(_HALVES.replace(last, _READ_COMBINED))
    )
    account = " ".join((change.headline, *change.account))
    assert (
        "`%kept` in `main` was expanded into 3 instructions on 32-bit halves: `%or.1` gives"
        in account
    )
    assert "removed" not in account
