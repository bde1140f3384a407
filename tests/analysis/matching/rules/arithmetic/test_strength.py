"""Dots that became multiplications."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def _module(lines: str, shape: str) -> str:
    return (
        "HloModule m\n\n%sum (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n"
        "  %y = f32[] parameter(1)\n  ROOT %s = f32[] add(%x, %y)\n}\n\n"
        f"ENTRY %main (a: f32[4], b: f32[8], c: f32[4,8]) -> {shape} {{\n"
        "  %a = f32[4]{0} parameter(0)\n  %b = f32[8]{0} parameter(1)\n"
        f"  %c = f32[4,8]{{1,0}} parameter(2)\n{lines}}}\n"
    )


def test_an_outer_product_goes_on_as_a_multiplication(read: Read) -> None:
    before = _module(
        "  %column = f32[4,1]{1,0} reshape(%a)\n  %row = f32[1,8]{1,0} reshape(%b)\n"
        "  %dot.1 = f32[4,8]{1,0} dot(%column, %row), lhs_contracting_dims={1},"
        " rhs_contracting_dims={0}\n  ROOT %out = f32[4,8]{1,0} tanh(%dot.1)\n",
        "f32[4,8]",
    )
    after = _module(
        "  %wide.1 = f32[4,8]{1,0} broadcast(%a), dimensions={0}\n"
        "  %wide.2 = f32[4,8]{1,0} broadcast(%b), dimensions={1}\n"
        "  %multiply.5 = f32[4,8]{1,0} multiply(%wide.1, %wide.2)\n"
        "  ROOT %out = f32[4,8]{1,0} tanh(%multiply.5)\n",
        "f32[4,8]",
    )
    pairing = match(read(before), read(after)).pairing_before(Place("main", "dot.1"))
    assert pairing is not None
    assert pairing.after == (Place("main", "multiply.5"),)
    assert pairing.relation is Relation.REWRITTEN


def test_a_product_with_a_vector_goes_on_as_a_multiplication_and_its_sum(read: Read) -> None:
    before = _module(
        "  %dot.1 = f32[4]{0} dot(%c, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  ROOT %out = f32[4]{0} tanh(%dot.1)\n",
        "f32[4]",
    )
    after = _module(
        "  %wide.2 = f32[4,8]{1,0} broadcast(%b), dimensions={1}\n"
        "  %multiply.5 = f32[4,8]{1,0} multiply(%c, %wide.2)\n  %zero = f32[] constant(0)\n"
        "  %reduce.6 = f32[4]{0} reduce(%multiply.5, %zero), dimensions={1}, to_apply=%sum\n"
        "  ROOT %out = f32[4]{0} tanh(%reduce.6)\n",
        "f32[4]",
    )
    pairing = match(read(before), read(after)).pairing_before(Place("main", "dot.1"))
    assert pairing is not None
    assert [place.instruction for place in pairing.after] == ["reduce.6", "multiply.5"]
    assert pairing.relation is Relation.SPLIT


def test_converts_around_the_sum_of_a_product_are_parts_of_the_dot(read: Read) -> None:
    narrow = "  %d = bf16[4,8]{1,0} convert(%c)\n  %e = bf16[8]{0} convert(%b)\n"
    before = _module(
        narrow + "  %dot.1 = bf16[4]{0} dot(%d, %e), lhs_contracting_dims={1},"
        " rhs_contracting_dims={0}\n  %row = bf16[1,4]{1,0} reshape(%dot.1)\n"
        "  %again = bf16[4]{0} reshape(%row)\n  ROOT %out = bf16[4]{0} tanh(%again)\n",
        "bf16[4]",
    )
    after = _module(
        narrow + "  %wide.2 = bf16[4,8]{1,0} broadcast(%e), dimensions={1}\n"
        "  %multiply.5 = bf16[4,8]{1,0} multiply(%d, %wide.2)\n  %zero = f32[] constant(0)\n"
        "  %convert.7 = f32[4,8]{1,0} convert(%multiply.5)\n"
        "  %reduce.6 = f32[4]{0} reduce(%convert.7, %zero), dimensions={1}, to_apply=%sum\n"
        "  %convert.8 = bf16[4]{0} convert(%reduce.6)\n"
        "  ROOT %out = bf16[4]{0} tanh(%convert.8)\n",
        "bf16[4]",
    )
    matching = match(read(before), read(after))
    pairing = matching.pairing_before(Place("main", "dot.1"))
    assert pairing is not None
    named = [place.instruction for place in pairing.after]
    assert named == ["reduce.6", "multiply.5", "convert.7", "convert.8"]
    again = matching.pairing_before(Place("main", "again"))
    assert again is None or again.after == ()
    headline = step(read(before), read(after)).headline
    assert "rewrote 1 dot as a multiply and a reduce" in headline
    assert "became 4 instructions, including `%multiply.5` and `%reduce.6`" in headline


def test_a_product_over_two_dimensions_goes_on_in_fusions_with_its_sum_in_stages(
    read: Read,
) -> None:
    before = _module(
        "  %dot.1 = f32[] dot(%c, %c), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}\n"
        "  ROOT %out = f32[] tanh(%dot.1)\n",
        "f32[]",
    )
    after = _module(
        "  %zero = f32[] constant(0)\n"
        "  %fusion.1 = f32[32]{0} fusion(%c), kind=kLoop, calls=%multiplied\n"
        "  %fusion.2 = f32[4]{0} fusion(%fusion.1, %zero), kind=kLoop, calls=%windows\n"
        "  %fusion.3 = f32[] fusion(%fusion.2, %zero), kind=kLoop, calls=%rest\n"
        "  ROOT %out = f32[] tanh(%fusion.3)\n",
        "f32[]",
    ).replace("ENTRY", _IN_FUSIONS)
    pairing = match(read(before), read(after)).pairing_before(Place("main", "dot.1"))
    assert pairing is not None
    assert [place.instruction for place in pairing.after] == ["sum.2", "multiply.5", "sum.1"]
    assert pairing.relation is Relation.SPLIT


_IN_FUSIONS = """%multiplied (p: f32[4,8]) -> f32[32] {
  %p = f32[4,8]{1,0} parameter(0)
  %multiply.5 = f32[4,8]{1,0} multiply(%p, %p)
  ROOT %flat = f32[32]{0} bitcast(%multiply.5)
}

%windows (q: f32[32], z: f32[]) -> f32[4] {
  %q = f32[32]{0} parameter(0)
  %z = f32[] parameter(1)
  ROOT %sum.1 = f32[4]{0} reduce-window(%q, %z), window={size=8 stride=8}, to_apply=%sum
}

%rest (r: f32[4], w: f32[]) -> f32[] {
  %r = f32[4]{0} parameter(0)
  %w = f32[] parameter(1)
  ROOT %sum.2 = f32[] reduce(%r, %w), dimensions={0}, to_apply=%sum
}

ENTRY"""


def test_a_product_of_a_value_that_was_made_anew_is_known_by_its_op_and_the_other_value(
    read: Read,
) -> None:
    """An add has changed places with the reverse that it read: the values before differ."""
    origin = ', metadata={op_name="jit(f)/dot_general"}'
    before = _module(
        "  %rev.1 = f32[8]{0} reverse(%b), dimensions={0}\n  %one = f32[] constant(1)\n"
        "  %ones = f32[8]{0} broadcast(%one), dimensions={}\n"
        "  %x = f32[8]{0} add(%rev.1, %ones)\n"
        f"  %dot.1 = f32[4]{{0}} dot(%c, %x), lhs_contracting_dims={{1}}, "
        f"rhs_contracting_dims={{0}}{origin}\n  ROOT %out = f32[4]{{0}} tanh(%dot.1)\n",
        "f32[4]",
    )
    after = _module(
        "  %one = f32[] constant(1)\n  %ones = f32[8]{0} broadcast(%one), dimensions={}\n"
        "  %x = f32[8]{0} add(%b, %ones)\n  %rev.1 = f32[8]{0} reverse(%x), dimensions={0}\n"
        "  %wide.2 = f32[4,8]{1,0} broadcast(%rev.1), dimensions={1}\n"
        "  %multiply.5 = f32[4,8]{1,0} multiply(%c, %wide.2)\n  %zero = f32[] constant(0)\n"
        "  %reduce.6 = f32[4]{0} reduce(%multiply.5, %zero), dimensions={1}, to_apply=%sum"
        f"{origin}\n  ROOT %out = f32[4]{{0}} tanh(%reduce.6)\n",
        "f32[4]",
    )
    pairing = match(read(before), read(after)).pairing_before(Place("main", "dot.1"))
    assert pairing is not None
    assert [place.instruction for place in pairing.after] == ["reduce.6", "multiply.5"]
    assert pairing.relation is Relation.SPLIT


def test_parameters_of_sums_keep_their_numbers(read: Read) -> None:
    total = (
        "  %zero = f32[] constant(0)\n"
        "  ROOT %out = f32[4]{0} reduce(%c, %zero), dimensions={1}, to_apply=%sum\n"
    )
    before = _module(total, "f32[4]")
    after = before.replace("add(%x, %y)", "add(%v, %u)").replace("%x =", "%u =")
    after = after.replace("%y =", "%v =").replace("(x: f32[], y: f32[])", "(u: f32[], v: f32[])")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("sum", "x")) == Place("sum", "u")
    assert matching.partner_after(Place("sum", "y")) == Place("sum", "v")


def test_an_outer_product_with_a_repeated_constant_goes_on_as_a_smaller_multiplication(
    read: Read,
) -> None:
    before = _module(
        "  %two = f32[] constant(2)\n  %column = f32[4,1]{1,0} broadcast(%two), dimensions={}\n"
        "  %row = f32[1,8]{1,0} reshape(%b)\n"
        "  %dot.1 = f32[4,8]{1,0} dot(%column, %row), lhs_contracting_dims={1},"
        " rhs_contracting_dims={0}\n  ROOT %out = f32[4,8]{1,0} tanh(%dot.1)\n",
        "f32[4,8]",
    )
    after = _module(
        "  %two = f32[] constant(2)\n  %wide.1 = f32[8]{0} broadcast(%two), dimensions={}\n"
        "  %multiply.5 = f32[8]{0} multiply(%wide.1, %b)\n"
        "  %wide.2 = f32[4,8]{1,0} broadcast(%two), dimensions={}\n"
        "  %wide.3 = f32[4,8]{1,0} broadcast(%b), dimensions={1}\n"
        "  %multiply.6 = f32[4,8]{1,0} multiply(%wide.2, %wide.3)\n"
        "  %wide.4 = f32[4,8]{1,0} broadcast(%multiply.5), dimensions={1}\n"
        "  ROOT %out = f32[4,8]{1,0} tanh(%wide.4)\n",
        "f32[4,8]",
    )
    pairing = match(read(before), read(after)).pairing_before(Place("main", "dot.1"))
    assert pairing is not None
    assert pairing.after == (Place("main", "multiply.5"),)
    assert pairing.relation is Relation.REWRITTEN


def test_a_sum_over_one_element_is_looked_behind(read: Read) -> None:
    head = "  %zero = f32[] constant(0)\n  %row = f32[1,8]{1,0} reshape(%b)\n"
    before = _module(
        head + "  %v = f32[8]{0} reduce(%row, %zero), dimensions={0}, to_apply=%sum\n"
        "  %dot.1 = f32[] dot(%v, %v), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
        "  ROOT %out = f32[] tanh(%dot.1)\n",
        "f32[]",
    )
    after = _module(
        head + "  %v.1 = f32[8]{0} reshape(%row)\n"
        "  %multiply.5 = f32[8]{0} multiply(%v.1, %v.1)\n"
        "  %total = f32[] reduce(%multiply.5, %zero), dimensions={0}, to_apply=%sum\n"
        "  ROOT %out = f32[] tanh(%total)\n",
        "f32[]",
    )
    pairing = match(read(before), read(after)).pairing_before(Place("main", "dot.1"))
    assert pairing is not None
    assert pairing.relation is Relation.SPLIT
    assert str(pairing.reason) == "%multiply.5 multiplies the same values"


def test_a_dot_of_another_dot_that_became_a_product_goes_on_too(read: Read) -> None:
    head = "  %zero = f32[] constant(0)\n  %e = f32[8,4]{1,0} transpose(%c), dimensions={1,0}\n"
    before = _module(
        head + "  %dot.1 = f32[4]{0} dot(%c, %b), lhs_contracting_dims={1},"
        " rhs_contracting_dims={0}\n  %dot.2 = f32[8]{0} dot(%e, %dot.1),"
        " lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  ROOT %out = f32[8]{0} tanh(%dot.2)\n",
        "f32[8]",
    )
    after = _module(
        head + "  %wide.1 = f32[4,8]{1,0} broadcast(%b), dimensions={1}\n"
        "  %multiply.5 = f32[4,8]{1,0} multiply(%c, %wide.1)\n"
        "  %reduce.6 = f32[4]{0} reduce(%multiply.5, %zero), dimensions={1}, to_apply=%sum\n"
        "  %wide.2 = f32[8,4]{1,0} broadcast(%reduce.6), dimensions={1}\n"
        "  %multiply.7 = f32[8,4]{1,0} multiply(%e, %wide.2)\n"
        "  %reduce.8 = f32[8]{0} reduce(%multiply.7, %zero), dimensions={1}, to_apply=%sum\n"
        "  ROOT %out = f32[8]{0} tanh(%reduce.8)\n",
        "f32[8]",
    )
    pairing = match(read(before), read(after)).pairing_before(Place("main", "dot.2"))
    assert pairing is not None
    assert [place.instruction for place in pairing.after] == ["reduce.8", "multiply.7"]
