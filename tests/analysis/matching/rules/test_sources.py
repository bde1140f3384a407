"""What continues behind converts and moves that a pass put elsewhere."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
%most (u: TYPE[], v: TYPE[]) -> TYPE[] {
  %u = TYPE[] parameter(0)
  %v = TYPE[] parameter(1)
  ROOT %m = TYPE[] maximum(%u, %v)
}

ENTRY %main (a: bf16[4,8], b: bf16[4,8]) -> f32[4,1] {
  %a = bf16[4,8]{1,0} parameter(0)
  %b = bf16[4,8]{1,0} parameter(1)
  %least = f32[] constant(-inf)
"""
_TAIL = "  ROOT %out = f32[4,1]{1,0} reshape(%LAST)\n}\n"
_OVER = "dimensions={1}, to_apply=%most"
_OP = ', metadata={op_name="reduce_max"}'


def test_a_reduction_of_what_is_not_converted_yet_is_the_same(read: Read) -> None:
    before = _HEAD.replace("TYPE", "f32") + (
        "  %sine = bf16[4,8]{1,0} sine(%a)\n"
        "  %convert.1 = f32[4,8]{1,0} convert(%sine)\n"
        f"  %reduce.1 = f32[4]{{0}} reduce(%convert.1, %least), {_OVER}{_OP}\n"
        + _TAIL.replace("LAST", "reduce.1")
    )
    after = _HEAD.replace("TYPE", "bf16") + (
        "  %sine = bf16[4,8]{1,0} sine(%a)\n"
        "  %low = bf16[] convert(%least)\n"
        f"  %reduce.9 = bf16[4]{{0}} reduce(%sine, %low), {_OVER}{_OP}\n"
        "  %convert.9 = f32[4]{0} convert(%reduce.9)\n" + _TAIL.replace("LAST", "convert.9")
    )
    partner = match(read(before), read(after)).partner_after
    assert partner(Place("main", "reduce.1")) == Place("main", "reduce.9")


def _joined(lines: str) -> str:
    head = "ENTRY %main (a: f32[4,8], b: f32[4,8]) -> bf16[16,4] {\n"
    parameters = "".join(
        f"  %{name} = f32[4,8]{{1,0}} parameter({n})\n" for n, name in enumerate("ab")
    )
    root = "  ROOT %out = bf16[16,4]{1,0} transpose(%LAST), dimensions={1,0}\n}\n"
    return head + parameters + lines + root


def test_a_convert_moves_past_a_concatenate(read: Read) -> None:
    before = _joined(
        "  %join.1 = f32[4,16]{1,0} concatenate(%a, %b), dimensions={1}\n"
        "  %convert.1 = bf16[4,16]{1,0} convert(%join.1)\n"
    ).replace("LAST", "convert.1")
    after = _joined(
        "  %convert.8 = bf16[4,8]{1,0} convert(%a)\n"
        "  %convert.9 = bf16[4,8]{1,0} convert(%b)\n"
        "  %join.9 = bf16[4,16]{1,0} concatenate(%convert.8, %convert.9), dimensions={1}\n"
    ).replace("LAST", "join.9")
    origin = ', metadata={op_name="concatenate"}'
    before, after = (
        text.replace("dimensions={1}\n", f"dimensions={{1}}{origin}\n") for text in (before, after)
    )
    made = step(read(before), read(after), "`convert-mover`")
    kinds = {change.opcodes[0]: change.kind for change in made.changes if change.before}
    assert kinds["concatenate"] is Kind.TYPE
    assert kinds["convert"] is Kind.SPLIT


def test_a_copy_goes_on_as_the_copy_that_a_bitcast_hides_from_its_reader(read: Read) -> None:
    head = "HloModule m\n\nENTRY %main (a: f32[3,8]) -> f32[3,8] {\n"
    head += "  %a = f32[3,8]{1,0} parameter(0)\n  %sine = f32[3,8]{1,0} sine(%a)\n"
    op = 'metadata={op_name="turn"}'
    before = head + (
        f"  %copy.1 = f32[3,8]{{0,1}} copy(%sine), {op}\n"
        "  ROOT %out = f32[3,8]{0,1} exponential(%copy.1)\n}\n"
    )
    after = head + (
        "  %bitcast.1 = f32[3,2,4]{2,1,0} bitcast(%sine)\n"
        "  %copy.9 = f32[3,2,4]{0,2,1} copy(%bitcast.1)\n"
        f"  %bitcast.2 = f32[3,8]{{0,1}} bitcast(%copy.9), {op}\n"
        "  ROOT %out = f32[3,8]{0,1} exponential(%bitcast.2)\n}\n"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "copy.1")) == Place("main", "copy.9")


def test_a_copy_goes_on_as_the_transpose_that_a_bitcast_hides(read: Read) -> None:
    head = "HloModule m\n\nENTRY %main (a: f32[2,4,8]) -> f32[2,4,8] {\n"
    head += "  %a = f32[2,4,8]{2,1,0} parameter(0)\n  %sine = f32[2,4,8]{2,1,0} sine(%a)\n"
    before = head + (
        '  %copy.1 = f32[2,4,8]{2,0,1} copy(%sine), metadata={op_name="turn"}\n'
        "  ROOT %out = f32[2,4,8]{2,0,1} exponential(%copy.1)\n}\n"
    )
    after = head + (
        "  %turned = f32[4,2,8]{2,1,0} transpose(%sine), dimensions={1,0,2}\n"
        '  %bitcast.1 = f32[2,4,8]{2,0,1} bitcast(%turned), metadata={op_name="turn"}\n'
        "  ROOT %out = f32[2,4,8]{2,0,1} exponential(%bitcast.1)\n}\n"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "copy.1")) == Place("main", "turned")


def test_a_copy_goes_on_as_the_transpose_that_makes_its_order_in_memory(read: Read) -> None:
    """The transpose after the copy moved nothing, and is part of a bitcast when normalized."""
    head = "HloModule m\n\nENTRY %main (a: f32[2,4,8]) -> f32[3,2,8,4] {\n"
    head += "  %a = f32[2,4,8]{2,1,0} parameter(0)\n  %sine = f32[2,4,8]{2,1,0} sine(%a)\n"
    before = head + (
        "  %copy.1 = f32[2,4,8]{2,0,1} copy(%sine)\n"
        "  %turned.1 = f32[2,8,4]{1,0,2} transpose(%copy.1), dimensions={0,2,1}\n"
        "  %many.1 = f32[3,2,8,4]{2,1,3,0} broadcast(%turned.1), dimensions={1,2,3}\n"
        "  ROOT %out = f32[3,2,8,4]{2,1,3,0} exponential(%many.1)\n}\n"
    )
    after = head + (
        "  %turned.9 = f32[4,2,8]{2,1,0} transpose(%sine), dimensions={1,0,2}\n"
        "  %many.9 = f32[3,4,2,8]{3,2,1,0} broadcast(%turned.9), dimensions={1,2,3}\n"
        "  %bitcast.9 = f32[3,2,8,4]{2,1,3,0} bitcast(%many.9)\n"
        "  ROOT %out = f32[3,2,8,4]{2,1,3,0} exponential(%bitcast.9)\n}\n"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "copy.1")) == Place("main", "turned.9")


def test_a_reshape_and_a_copy_that_changed_places_go_on_as_themselves(read: Read) -> None:
    head = "HloModule m\n\nENTRY %main (a: f32[4,8]) -> f32[32] {\n"
    head += "  %a = f32[4,8]{1,0} parameter(0)\n  %sine = f32[4,8]{1,0} sine(%a)\n"
    copied = head + (
        "  %copy.1 = f32[4,8]{0,1} copy(%sine)\n  %flat.1 = f32[32]{0} reshape(%copy.1)\n"
        "  ROOT %out = f32[32]{0} exponential(%flat.1)\n}\n"
    )
    shaped = head + (
        "  %flat.9 = f32[32]{0:T(128)} bitcast(%sine)\n  %copy.9 = f32[32]{0} copy(%flat.9)\n"
        "  ROOT %out = f32[32]{0} exponential(%copy.9)\n}\n"
    )
    for before, after, numbers in ((copied, shaped, (1, 9)), (shaped, copied, (9, 1))):
        matching = match(read(before), read(after))
        for name in ("copy", "flat"):
            old, new = (Place("main", f"{name}.{number}") for number in numbers)
            assert matching.partner_after(old) == new


def test_a_sharded_iota_goes_on_as_the_iota_to_which_an_offset_is_added(read: Read) -> None:
    whole = """
ENTRY %main (a: s32[8]) -> s32[8] {
  %a = s32[8]{0} parameter(0), sharding={devices=[2]<=[2]}
  %iota.1 = s32[8]{0} iota(), iota_dimension=0, sharding={devices=[2]<=[2]}
  ROOT %out = s32[8]{0} multiply(%a, %iota.1), sharding={devices=[2]<=[2]}
}
"""
    share = """
ENTRY %main_spmd (a.1: s32[4]) -> s32[4] {
  %a.1 = s32[4]{0} parameter(0), sharding={devices=[2]<=[2]}
  %device = u32[] partition-id()
  %starts = s32[2]{0} constant({0, 4})
  %start = s32[1]{0} dynamic-slice(%starts, %device), dynamic_slice_sizes={1}
  %scalar = s32[] reshape(%start)
  %offset = s32[4]{0} broadcast(%scalar), dimensions={}
  %iota.2 = s32[4]{0} iota(), iota_dimension=0
  %add = s32[4]{0} add(%iota.2, %offset)
  ROOT %out.1 = s32[4]{0} multiply(%a.1, %add)
}
"""
    matching = match(read(whole), read(share))
    assert matching.partner_after(Place("main", "iota.1")) == Place("main_spmd", "iota.2")


_LOOKED_UP = """
ENTRY %main (table: s32[2], place: s32[8,1]) -> s32[8] {
  %table = s32[2]{0} parameter(0)
  %place = s32[8,1]{1,0} parameter(1)
  %gather.1 = s32[8]{0} gather(%table, %place), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
  ROOT %negate.1 = s32[8]{0} negate(%gather.1)
}
"""  # noqa: E501 - lines as XLA writes them
_SELECTED = """
ENTRY %main (table: s32[2], place: s32[8,1]) -> s32[8] {
  %table = s32[2]{0} parameter(0)
  %place = s32[8,1]{1,0} parameter(1)
  %row = s32[8]{0} reshape(%place)
  %slice.1 = s32[1]{0} slice(%table), slice={[0:1]}
  %first = s32[] reshape(%slice.1)
  %wide.1 = s32[8]{0} broadcast(%first), dimensions={}
  %slice.2 = s32[1]{0} slice(%table), slice={[1:2]}
  %second = s32[] reshape(%slice.2)
  %wide.2 = s32[8]{0} broadcast(%second), dimensions={}
  %one = s32[] constant(1)
  %ones = s32[8]{0} broadcast(%one), dimensions={}
  %compare.1 = pred[8]{0} compare(%row, %ones), direction=GE
  %select.1 = s32[8]{0} select(%compare.1, %wide.2, %wide.1)
  %transpose.1 = s32[8]{0} transpose(%select.1), dimensions={0}
  %reshape.1 = s32[8]{0} reshape(%transpose.1)
  ROOT %negate.1 = s32[8]{0} negate(%reshape.1)
}
"""


def test_an_expanded_gather_goes_on_as_the_work_behind_moves_that_move_nothing(read: Read) -> None:
    matching = match(read(_LOOKED_UP), read(_SELECTED))
    assert matching.partner_after(Place("main", "gather.1")) == Place("main", "select.1")


def test_a_transpose_that_permutes_equally_long_dimensions_is_not_passed(read: Read) -> None:
    before, after = _LOOKED_UP.replace("vector_dim=1", "vector_dim=2"), _SELECTED
    for old, new in (("[8,1]{1,0}", "[2,2,1]{2,1,0}"), ("[8]{0}", "[2,2]{1,0}")):
        before, after = before.replace(old, new), after.replace(old, new)
    kept = after.replace("(%select.1), dimensions={0}", "(%select.1), dimensions={0,1}")
    turned = after.replace("(%select.1), dimensions={0}", "(%select.1), dimensions={1,0}")
    gather = Place("main", "gather.1")
    assert match(read(before), read(kept)).partner_after(gather) == Place("main", "select.1")
    assert match(read(before), read(turned)).partner_after(gather) == Place("main", "transpose.1")


def _normed(lines: str) -> str:
    """Return a module with lines for each of two values, of which numbers tell."""
    both = "".join(lines.replace("#", number) for number in "12")
    return f"""HloModule m

ENTRY %main (a.1: f32[4,1], a.2: f32[4,1], b: f32[4,8]) -> (f32[4,8], f32[4,8]) {{
  %a.1 = f32[4,1]{{1,0}} parameter(0)
  %a.2 = f32[4,1]{{1,0}} parameter(1)
  %b = f32[4,8]{{1,0}} parameter(2)
{both}  ROOT %t = (f32[4,8]{{1,0}}, f32[4,8]{{1,0}}) tuple(%out.1, %out.2)
}}
"""


_KEPT_DIMENSIONS = _normed("""  %pre.# = f32[4,1]{1,0} tan(%a.#)
  %root.# = f32[4,1]{1,0} rsqrt(%pre.#), metadata={op_name="rsqrt"}
  %same.# = f32[4,1]{1,0} broadcast(%root.#), dimensions={0,1}, metadata={op_name="mul"}
  %less.# = f32[4]{0} reshape(%same.#), metadata={op_name="mul"}
  %wide.# = f32[4,8]{1,0} broadcast(%less.#), dimensions={0}, metadata={op_name="mul"}
  %out.# = f32[4,8]{1,0} multiply(%b, %wide.#), metadata={op_name="mul"}
""")
_LOST_DIMENSIONS = _normed("""  %flat.# = f32[4]{0} bitcast(%a.#)
  %low.# = f32[4]{0} multiply(%flat.#, %flat.#)
  %r.# = f32[4]{0} rsqrt(%low.#), metadata={op_name="rsqrt"}
  %wide.# = f32[4,8]{1,0} broadcast(%r.#), dimensions={0}, metadata={op_name="mul"}
  %out.# = f32[4,8]{1,0} multiply(%b, %wide.#), metadata={op_name="mul"}
""")


def test_a_broadcast_that_repeats_nothing_is_passed_as_a_reshape(read: Read) -> None:
    matching = match(read(_KEPT_DIMENSIONS), read(_LOST_DIMENSIONS))
    for number in "12":
        place = Place("main", f"root.{number}")
        assert matching.partner_after(place) == Place("main", f"r.{number}")
        assert matching.partner_after(Place("main", f"less.{number}")) is None


def test_a_copy_of_a_transpose_to_another_layout_is_not_the_transpose(read: Read) -> None:
    head = "ENTRY %main (a: f32[4,6], b: f32[2,2]) -> f32[3,4,2] {\n"
    given = "  %a = f32[4,6]{1,0} parameter(0)\n  %b = f32[2,2]{1,0} parameter(1)\n"
    contracted = "lhs_contracting_dims={2}, rhs_contracting_dims={0}"
    op = ', metadata={op_name="turn"}'
    before = (
        f"{head}{given}  %split = f32[4,3,2]{{2,1,0}} reshape(%a){op}\n"
        f"  %turned = f32[3,4,2]{{2,0,1}} transpose(%split), dimensions={{1,0,2}}{op}\n"
        f"  ROOT %dot = f32[3,4,2]{{2,1,0}} dot(%turned, %b), {contracted}\n}}\n"
    )
    after = (
        "%fused (p: f32[4,6]) -> f32[3,4,2] {\n  %p = f32[4,6]{1,0} parameter(0)\n"
        f"  %bits = f32[4,3,2]{{2,1,0}} bitcast(%p){op}\n"
        f"  %turned.9 = f32[3,4,2]{{2,0,1}} transpose(%bits), dimensions={{1,0,2}}{op}\n"
        f"  ROOT %copy.9 = f32[3,4,2]{{2,1,0}} copy(%turned.9){op}\n}}\n\n{head}{given}"
        "  %fusion = f32[3,4,2]{2,1,0} fusion(%a), kind=kLoop, calls=%fused\n"
        f"  ROOT %dot = f32[3,4,2]{{2,1,0}} dot(%fusion, %b), {contracted}\n}}\n"
    )
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "turned")) == Place("fused", "turned.9")
    assert matching.partner_after(Place("main", "split")) == Place("fused", "bits")


_NEGATED = """
%plus (u: f32[], v: f32[]) -> f32[] {
  %u = f32[] parameter(0)
  %v = f32[] parameter(1)
  ROOT %w = f32[] add(%u, %v)
}

ENTRY %main (a: f32[4,8], b: f32[4]) -> f32[4] {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %zero = f32[] constant(0)
  %neg = f32[4,8]{1,0} negate(%a)
  %sum = f32[4]{0} reduce(%neg, %zero), dimensions={1}, to_apply=%plus
  %one = f32[4,1]{1,0} reshape(%sum)
  %same = f32[4]{0} reduce(%one, %zero), dimensions={1}, to_apply=%plus
  ROOT %out = f32[4]{0} add(%same, %b)
}
"""


def test_a_sum_over_one_element_is_not_the_work_that_is_done_on_its_operand(read: Read) -> None:
    after = _NEGATED.replace("reduce(%neg,", "reduce(%a,").replace("add(%same,", "add(%negate,")
    gone = ("  %one", "  %same")
    after = "\n".join(line for line in after.splitlines() if not line.startswith(gone))
    after = after.replace("  ROOT %out", "  %negate = f32[4]{0} negate(%sum)\n  ROOT %out")
    before, now = read(_NEGATED), read(after)
    assert match(before, now).partner_before(Place("main", "negate")) != Place("main", "same")
    account = " ".join(step(before, now).account)
    assert "`%neg` in `main` was moved past `%sum` (now `%negate`)" in account


def test_a_reciprocal_of_what_a_reshape_read_is_not_the_reshape(read: Read) -> None:
    head = "ENTRY %main (a: f32[4,8], b: f32[4,1]) -> f32[4,8] {\n"
    given = "  %a = f32[4,8]{1,0} parameter(0)\n  %b = f32[4,1]{1,0} parameter(1)\n"
    op = ', metadata={op_name="div"}'
    turned = "dimensions={0}"
    before = (
        f"{head}{given}  %root = f32[4,1]{{1,0}} sqrt(%b)\n"
        f"  %flat = f32[4]{{0}} reshape(%root){op}\n"
        f"  %wide = f32[4,8]{{1,0}} broadcast(%flat), {turned}{op}\n"
        f"  ROOT %out = f32[4,8]{{1,0}} add(%a, %wide)\n}}\n"
    )
    after = (
        f"{head}{given}  %root = f32[4,1]{{1,0}} sqrt(%b)\n"
        "  %one = f32[] constant(1)\n  %ones = f32[4]{0} broadcast(%one), dimensions={}\n"
        "  %bits = f32[4]{0} bitcast(%root)\n  %over = f32[4]{0} divide(%ones, %bits)\n"
        f"  %wide = f32[4,8]{{1,0}} broadcast(%over), {turned}{op}\n"
        f"  ROOT %out = f32[4,8]{{1,0}} add(%a, %wide)\n}}\n"
    )
    partner = match(read(before), read(after)).partner_before(Place("main", "over"))
    assert partner is None
