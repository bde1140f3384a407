"""Sums of the same terms in another order."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.arithmetic.regrouped import regrouped_apart
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_SUM = """
HloModule m

ENTRY %main (i: s32[], a: f32[8]) -> f32[1] {
  %i = s32[] parameter(0)
  %a = f32[8]{0} parameter(1)
  %four = s32[] constant(4)
  %less = s32[] constant(-1)
LINES  ROOT %slice = f32[1]{0} dynamic-slice(%a, ROOT), dynamic_slice_sizes={1}
}
"""


def _of(lines: str, root: str) -> str:
    return _SUM.replace("LINES", lines).replace("ROOT)", f"{root})")


_FIRST = _of(
    "  %sub.1 = s32[] subtract(%four, %i)\n  %add.1 = s32[] add(%sub.1, %less)\n", "%add.1"
)
_SECOND = _of(
    "  %add.2 = s32[] add(%four, %less)\n  %sub.2 = s32[] subtract(%add.2, %i)\n", "%sub.2"
)


def test_a_sum_goes_on_as_the_one_of_the_same_terms(read: Read) -> None:
    """What `algsimp` makes of (4 - i) + -1."""
    matching = match(read(_FIRST), read(_SECOND))
    assert matching.partner_after(Place("main", "add.1")) == Place("main", "sub.2")
    made = step(read(_FIRST), read(_SECOND), "`algsimp`")
    replaced = "replaced 1 add with a subtract and regrouped 1 subtract as 1 add"
    assert f"`algsimp` {replaced}" in made.headline


def test_the_first_of_two_sums_is_another_value_and_not_its_continuation(read: Read) -> None:
    """No value of (4 - i) + -1 but the whole is one of (4 + -1) - i."""
    before, after = read(_FIRST), read(_SECOND)
    matching = match(before, after)
    assert matching.partner_after(Place("main", "sub.1")) is None
    assert matching.partner_before(Place("main", "add.2")) is None
    made = step(before, after, "`algsimp`")
    text = " ".join((made.headline, *made.account))
    whole = "`%sub.2`, which adds the terms of `%add.1` in another order"
    assert f"`%sub.1` in `main` was removed: replaced by {whole}" in text
    assert f"`%add.2` in `main` was added: part of {whole}" in text
    assert (
        "`%add.1` in `main` became the subtract `%sub.2`, the same terms, added in another order"
        in text
    )


def test_a_sum_of_other_terms_is_another_one(read: Read) -> None:
    other = _SECOND.replace("subtract(%add.2, %i)", "add(%add.2, %i)")
    matching = match(read(_FIRST), read(other))
    assert matching.partner_after(Place("main", "add.1")) != Place("main", "add.2")
    pairing = matching.pairing_after(Place("main", "sub.2"))
    assert pairing is None or "same terms" not in str(pairing.reason)


_PRODUCT = """
HloModule m

ENTRY %main (x: f32[4,8], y: f32[8]) -> f32[4,8] {
  %x = f32[4,8]{1,0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %eighth = f32[] constant(0.125)
LINES  ROOT %out = f32[4,8]{1,0} tanh(%product)
}
"""
_TWICE = _PRODUCT.replace(
    "LINES",
    """  %eighths = f32[4,8]{1,0} broadcast(%eighth), dimensions={}
  %less = f32[4,8]{1,0} multiply(%x, %eighths)
  %rows = f32[4,8]{1,0} broadcast(%y), dimensions={1}
  %product = f32[4,8]{1,0} multiply(%less, %rows)
""",
)
_ONCE = _PRODUCT.replace(
    "LINES",
    """  %eighths.1 = f32[8]{0} broadcast(%eighth), dimensions={}
  %row = f32[8]{0} multiply(%y, %eighths.1)
  %rows.1 = f32[4,8]{1,0} broadcast(%row), dimensions={1}
  %product = f32[4,8]{1,0} multiply(%x, %rows.1)
""",
)


def test_a_product_of_repeated_factors_is_that_of_their_repeated_product(read: Read) -> None:
    """What `algsimp` makes of (x * 0.125) * broadcast(y)."""
    matching = match(read(_TWICE), read(_ONCE))
    pairing = matching.pairing_before(Place("main", "product"))
    assert pairing is not None
    assert str(pairing.reason) == "the same factors, multiplied in another order"
    assert matching.partner_after(Place("main", "less")) is None
    made = step(read(_TWICE), read(_ONCE), "`algsimp`")
    whole = "`%product`, which multiplies the same factors in another order"
    text = " ".join((made.headline, *made.account))
    assert f"`%less` in `main` was removed: replaced by {whole}" in text
    assert f"`%row` in `main` was added: part of {whole}" in text


_OF_ONE_SHAPE = _PRODUCT.replace("y: f32[8]", "y: f32[4,8]").replace(
    "y = f32[8]{0}", "y = f32[4,8]{1,0}"
)
_LEFT = _OF_ONE_SHAPE.replace(
    "LINES",
    """  %eighths = f32[4,8]{1,0} broadcast(%eighth), dimensions={}
  %mul.1 = f32[4,8]{1,0} multiply(%x, %eighths), metadata={op_name="f/mul"}
  %product = f32[4,8]{1,0} multiply(%mul.1, %y), metadata={op_name="f/product"}
""",
)
_RIGHT = _OF_ONE_SHAPE.replace(
    "LINES",
    """  %eighths = f32[4,8]{1,0} broadcast(%eighth), dimensions={}
  %mul.2 = f32[4,8]{1,0} multiply(%y, %eighths), metadata={op_name="f/mul"}
  %product = f32[4,8]{1,0} multiply(%x, %mul.2), metadata={op_name="f/product"}
""",
)


def test_a_product_within_one_of_another_order_is_no_pair_though_all_but_its_value_is_equal(
    read: Read,
) -> None:
    matching = match(read(_LEFT), read(_RIGHT))
    assert matching.partner_after(Place("main", "product")) == Place("main", "product")
    assert matching.partner_after(Place("main", "mul.1")) != Place("main", "mul.2")


def test_a_product_repeated_along_another_dimension_is_another_one(read: Read) -> None:
    before, after = (text.replace("[4,8]", "[8,8]") for text in (_TWICE, _ONCE))
    after = after.replace("broadcast(%row), dimensions={1}", "broadcast(%row), dimensions={0}")
    pairing = match(read(before), read(after)).pairing_before(Place("main", "product"))
    assert pairing is None or "same factors" not in str(pairing.reason)


def test_a_broadcast_that_lost_its_operand_is_a_factor_as_any(read: Read) -> None:
    match(read(_TWICE), read(_ONCE.replace("broadcast(%row)", "broadcast()")))


def test_a_new_sum_of_the_constants_of_a_sum_and_its_operand_is_part_of_a_regrouped_one(
    read: Read,
) -> None:
    """Others go on reading the operand: (x + 5) + 5 as x + (5 + 5) beside x + 5."""
    head = """
ENTRY %main (x: u32[], y: u32[]) -> u32[] {
  %x = u32[] parameter(0)
  %y = u32[] parameter(1)
  %a = u32[] constant(5)
  %b = u32[] constant(5)
  %add.1 = u32[] add(%x, %a)
  %xor = u32[] xor(%y, %add.1)
"""
    tail = "  ROOT %out = u32[] xor(%xor, %add.2)\n}\n"
    before = read(head + "  %add.2 = u32[] add(%add.1, %b)\n" + tail)
    now = "  %add.3 = u32[] add(%a, %b)\n  %add.2 = u32[] add(%x, %add.3)\n"
    matching = match(before, read(head + now + tail))
    pairing = matching.pairing_after(Place("main", "add.2"))
    assert pairing is not None
    assert str(pairing.reason) == "the same terms, added in another order"
    added = matching.pairing_after(Place("main", "add.3"))
    assert added is not None
    assert str(added.reason) == "part of %add.2, which adds the same terms in another order"


def test_a_sum_of_other_terms_is_not_regrouped(read: Read) -> None:
    head = """
ENTRY %main (x: u32[], y: u32[]) -> u32[] {
  %x = u32[] parameter(0)
  %y = u32[] parameter(1)
  %a = u32[] constant(5)
  %add.1 = u32[] add(%x, %a)
  %xor = u32[] xor(%y, %add.1)
"""
    tail = "  ROOT %out = u32[] xor(%xor, %add.2)\n}\n"
    before = read(head + "  %add.2 = u32[] add(%add.1, %a)\n" + tail)
    now = "  %add.3 = u32[] add(%a, %y)\n  %add.2 = u32[] add(%x, %add.3)\n"
    pairing = match(before, read(head + now + tail)).pairing_after(Place("main", "add.2"))
    assert pairing is not None
    assert "another order" not in str(pairing.reason)


def test_of_sums_that_another_rule_paired_the_inner_one_names_its_whole(read: Read) -> None:
    head = """
ENTRY %main (x: u32[], a: u32[], b: u32[]) -> u32[] {
  %x = u32[] parameter(0)
  %a = u32[] parameter(1)
  %b = u32[] parameter(2)
"""
    before = head + "  %inner = u32[] add(%x, %a)\n  ROOT %all = u32[] add(%inner, %b)\n}\n"
    after = head + "  %other = u32[] add(%a, %b)\n  ROOT %all = u32[] add(%x, %other)\n}\n"
    search = start(read(before), read(after))
    search.evaluate()
    old, new = search.before.homes["main"], search.after.homes["main"]
    inner = old.node(old.computation.by_name["inner"])
    whole, now = (home.node(home.computation.by_name["all"]) for home in (old, new))
    assert search.link(whole, now, Grade.MATCHED, "another rule")
    regrouped_apart(search)
    assert search.regrouped[inner] == "%all, which adds the same terms in another order"
    assert search.regrouped_into[inner] is now


_FACTORS = """
HloModule m

ENTRY %main (a: f32[8], b: f32[8], c: f32[8], d: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %c = f32[8]{0} parameter(2)
  %d = f32[8]{0} parameter(3)
LINES  ROOT %e = f32[8]{0} exponential(ROOT)
}
"""


def _product(opcode: str, *lines: tuple[str, str, str]) -> str:
    text = "".join(f"  %{name} = f32[8]{{0}} {opcode}(%{x}, %{y})\n" for name, x, y in lines)
    return _FACTORS.replace("LINES", text).replace("ROOT)", f"%{lines[-1][0]})")


@pytest.mark.parametrize("opcode", ["add", "multiply"])
def test_the_whole_of_three_goes_on_though_it_reads_another_value(read: Read, opcode: str) -> None:
    """((a * b) * c) * d and a * (b * (c * d)) read d and a beside a product."""
    before = _product(opcode, ("m.1", "a", "b"), ("m.2", "m.1", "c"), ("m.3", "m.2", "d"))
    after = _product(opcode, ("n.1", "c", "d"), ("n.2", "b", "n.1"), ("n.3", "a", "n.2"))
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "m.3")) == Place("main", "n.3")
    made = step(read(before), read(after), "`algsimp`")
    assert f"regrouped 2 {'adds' if opcode == 'add' else 'multiplies'}" in made.headline
