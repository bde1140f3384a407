"""A loop with fewer elements says which are gone, and which have their value."""

from collections.abc import Callable

from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_STATE = "(s32[], f32[8,8]{1,0}, f32[8,8]{1,0}, f32[8,8]{0,1})"
_BEFORE = f"""
HloModule m

%cond (c: {_STATE}) -> pred[] {{
  %c = {_STATE} parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %most = s32[] constant(9)
  ROOT %less = pred[] compare(%k, %most), direction=LT
}}

%body (p: {_STATE}) -> {_STATE} {{
  %p = {_STATE} parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8,8]{{1,0}} get-tuple-element(%p), index=1
  %rows = f32[8,8]{{1,0}} get-tuple-element(%p), index=2
  %columns = f32[8,8]{{0,1}} get-tuple-element(%p), index=3
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %product = f32[8,8]{{1,0}} multiply(%x, %rows)
  %dot = f32[8,8]{{1,0}} dot(%product, %columns), LHS={{1}}, RHS={{0}}
  ROOT %out = {_STATE} tuple(%next, %dot, %rows, %columns)
}}

ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {{
  %a = f32[8,8]{{1,0}} parameter(0)
  %b = f32[8,8]{{1,0}} parameter(1)
  %zero = s32[] constant(0)
  %start = {_STATE} tuple(%zero, %a, %b, %b)
  %while = {_STATE} while(%start), condition=%cond, body=%body
  ROOT %result = f32[8,8]{{1,0}} get-tuple-element(%while), index=1
}}
""".replace("LHS", "lhs_contracting_dims").replace("RHS", "rhs_contracting_dims")
_WITHOUT = (
    _BEFORE.replace(", f32[8,8]{0,1})", ")")
    .replace("{0,1} get-tuple-element(%p), index=3", "{1,0} get-tuple-element(%p), index=2")
    .replace("%rows, %columns)", "%rows)")
    .replace("%b, %b)", "%b)")
    .replace("%body", "%body.clone")
    .replace("%cond", "%cond.clone")
)  # fmt: skip


def _account(read: Read, before: str, after: str) -> str:
    change = step(read(before), read(after), "simplify-while-loops")
    return "\n".join((change.headline, *change.account))


def test_an_element_that_is_passed_twice_is_the_same_as_the_one_that_stays(read: Read) -> None:
    account = _account(read, _BEFORE, _WITHOUT)
    assert (
        "changed what it carries: 4 elements → 3 elements, without element 3 (same as 2)" in account
    )


def test_who_read_the_twin_reads_the_same_value_in_another_layout(read: Read) -> None:
    account = _account(read, _BEFORE, _WITHOUT)
    assert "changed: index: 3 → 2, the same value in another layout" in account
    assert "changed layout" not in account


def test_an_element_that_nothing_reads_is_only_gone(read: Read) -> None:
    unread = _BEFORE.replace("%b, %b)", "%b, %a)").replace(
        "dot(%product, %columns)", "dot(%product, %rows)"
    )
    without = _WITHOUT.replace("dot(%product, %columns)", "dot(%product, %rows)")
    account = _account(read, unread, without)
    assert "changed what it carries: 4 elements → 3 elements, without element 3" in account
    assert "same as" not in account


def test_elements_that_the_body_changes_are_not_known_to_be_the_same(read: Read) -> None:
    changing = _BEFORE.replace("%rows, %columns)", "%rows, %product)").replace("{0,1}", "{1,0}")
    account = _account(read, changing, _WITHOUT.replace("{0,1}", "{1,0}"))
    assert "4 elements → 3 elements" in account
    assert "same as" not in account


def test_of_elements_that_start_alike_the_result_says_which_is_gone(read: Read) -> None:
    before = _BEFORE.replace("%rows, %columns)", "%product, %columns)").replace("{0,1}", "{1,0}")
    after = (
        _WITHOUT.replace("{0,1}", "{1,0}")
        .replace("%dot, %rows)", "%dot, %columns)")
        .replace("multiply(%x, %rows)", "multiply(%x, %columns)")
        .replace("  %rows = f32[8,8]{1,0} get-tuple-element(%p), index=2\n", "")
    )
    assert "without element 2." in _account(read, before, after)


def test_of_elements_that_start_alike_none_is_named_without_more(read: Read) -> None:
    before = _BEFORE.replace("%rows, %columns)", "%product, %dot)").replace("{0,1}", "{1,0}")
    after = _WITHOUT.replace("{0,1}", "{1,0}").replace("%dot, %rows)", "%dot, %next.2)")
    after = after.replace("  ROOT %out", "  %next.2 = f32[8,8]{1,0} tanh(%rows)\n  ROOT %out")
    account = _account(read, before, after)
    assert "4 elements → 3 elements" in account
    assert "without element" not in account


def _many(more: int) -> str:
    """Return the module with so many further elements, which have the value of the third."""
    state = _STATE.replace("f32[8,8]{0,1})", ", ".join(["f32[8,8]{1,0}"] * (more + 1)) + ")")
    taken = "\n".join(
        f"  %again.{n} = f32[8,8]{{1,0}} get-tuple-element(%p), index={n + 4}" for n in range(more)
    )
    given = "".join(f", %again.{n}" for n in range(more))
    return (
        _BEFORE.replace(_STATE, state)
        .replace("{0,1}", "{1,0}")
        .replace("  %one =", f"{taken}\n  %one =")
        .replace("%rows, %columns)", f"%rows, %columns{given})")
        .replace("%b, %b)", f"%b, %b{', %b' * more})")
    )


def test_of_many_elements_it_is_counted_how_many_have_a_twin(read: Read) -> None:
    account = _account(read, _many(6), _many(0))
    assert "dropped 6 elements of 1 loop" in account
    assert "10 elements → 4 elements, without those that have the value of another one" in account


_SAVED = "(s32[], f32[8], f32[8])"
_TWICE = f"""
HloModule m

%cond (c: {_SAVED}) -> pred[] {{
  %c = {_SAVED} parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %most = s32[] constant(8)
  ROOT %less = pred[] compare(%k, %most), direction=LT
}}

%body (p: {_SAVED}) -> {_SAVED} {{
  %p = {_SAVED} parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{{0}} get-tuple-element(%p), index=1
  %y = f32[8]{{0}} get-tuple-element(%p), index=2
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %now = f32[] convert(%next)
  %part = f32[1]{{0}} reshape(%now)
  %save.1 = f32[8]{{0}} dynamic-update-slice(%x, %part, %i)
  %save.2 = f32[8]{{0}} dynamic-update-slice(%y, %part, %i)
  ROOT %out = {_SAVED} tuple(%next, %save.1, %save.2)
}}

ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {{
  %a = f32[8]{{0}} parameter(0)
  %zero = s32[] constant(0)
  %start = {_SAVED} tuple(%zero, %a, %a)
  %while = {_SAVED} while(%start), condition=%cond, body=%body
  %all.1 = f32[8]{{0}} get-tuple-element(%while), index=1
  %all.2 = f32[8]{{0}} get-tuple-element(%while), index=2
  ROOT %result = (f32[8]{{0}}, f32[8]{{0}}) tuple(%all.1, %all.2)
}}
""".replace("f32[8])", "f32[8]{0})").replace("f32[8],", "f32[8]{0},")
_ONCE = (
    _TWICE.replace("(s32[], f32[8]{0}, f32[8]{0})", "(s32[], f32[8]{0})")
    .replace("  %y = f32[8]{0} get-tuple-element(%p), index=2\n", "")
    .replace("  %save.2 = f32[8]{0} dynamic-update-slice(%y, %part, %i)\n", "")
    .replace("%save.1, %save.2)", "%save.1)")
    .replace("%a, %a)", "%a)")
    .replace("(%while), index=2", "(%while), index=1")
    .replace("%body", "%body.clone")
    .replace("%cond", "%cond.clone")
)  # fmt: skip


def test_an_element_that_starts_and_goes_on_as_another_is_the_same(read: Read) -> None:
    account = _account(read, _TWICE, _ONCE)
    assert "3 elements → 2 elements, without element 2 (same as 1)" in account
