from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

DOTS = """
ENTRY %main (a: f32[64,32], b: f32[32,16], c: f32[16,8]) -> f32[64,8] {
  %a = f32[64,32]{1,0} parameter(0)
  %b = f32[32,16]{1,0} parameter(1)
  %c = f32[16,8]{1,0} parameter(2)
  %dot.1 = f32[64,16]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %tanh.1 = f32[64,16]{1,0} tanh(%dot.1)
  %dot.2 = f32[64,8]{1,0} dot(%tanh.1, %c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %neg = f32[64,8]{1,0} negate(%dot.2)
}
"""
SWAPPED = """
ENTRY %main (a: f32[64,32], b: f32[32,16], c: f32[16,8]) -> f32[64,8] {
  %a = f32[64,32]{1,0} parameter(0)
  %b = f32[32,16]{1,0} parameter(1)
  %c = f32[16,8]{1,0} parameter(2)
  %dot.7 = f32[16,64]{1,0} dot(%b, %a), lhs_contracting_dims={0}, rhs_contracting_dims={1}
  %tanh.7 = f32[16,64]{1,0} tanh(%dot.7)
  %dot.8 = f32[8,64]{1,0} dot(%c, %tanh.7), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  %neg.7 = f32[8,64]{1,0} negate(%dot.8)
  ROOT %transpose = f32[64,8]{1,0} transpose(%neg.7), dimensions={1,0}
}
"""
CALL = """
  %custom-call.1 = (f32[64,16]{1,0}, s8[4096]{0}) custom-call(%a, %b), custom_call_target="__cublas$gemm"
  %get-tuple-element = f32[64,16]{1,0} get-tuple-element(%custom-call.1), index=0"""  # noqa: E501 - lines as XLA writes them
GEMM = DOTS.replace(
    """
  %dot.1 = f32[64,16]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}""",
    CALL,
).replace("tanh(%dot.1)", "tanh(%get-tuple-element)")
SUMS = """
  %reshape.1 = f32[64,4,8]{2,1,0} reshape(%a)
  %reshape.2 = f32[4,8,16]{2,1,0} reshape(%b)
  %dot.9 = f32[4,64,16]{2,1,0} dot(%reshape.1, %reshape.2), lhs_batch_dims={1}, rhs_batch_dims={0}
  %zero = f32[] constant(0)
  %reduce.9 = f32[64,16]{1,0} reduce(%dot.9, %zero), dimensions={0}, to_apply=%dot.9.sum"""
SPLIT = """
%dot.9.sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}
""" + DOTS.replace(
    """
  %dot.1 = f32[64,16]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}""",
    SUMS,
).replace("tanh(%dot.1)", "tanh(%reduce.9)")


def at(name: str) -> Place:
    return Place("main", name)


def test_dots_with_swapped_operands_are_the_same_products(read: Read) -> None:
    matching = match(read(DOTS), read(SWAPPED))
    assert matching.partner_after(at("dot.1")) == at("dot.7")
    assert matching.partner_after(at("dot.2")) == at("dot.8")


def test_a_dot_was_rewritten_as_a_library_call(read: Read) -> None:
    matching = match(read(DOTS), read(GEMM))
    said = matching.pairing_before(at("dot.1"))
    assert said is not None
    assert (said.relation, said.after) == (Relation.REWRITTEN, (at("custom-call.1"),))
    assert matching.partner_after(at("tanh.1")) == at("tanh.1")


def test_an_account_names_the_dots_that_became_library_calls(read: Read) -> None:
    change = step(read(DOTS), read(GEMM), "cublas-gemm-rewriter")
    assert "rewriter rewrote 1 dot as a `__cublas$gemm` custom-call" in change.headline


def test_a_dot_was_split_into_a_larger_one_and_its_sum(read: Read) -> None:
    matching = match(read(DOTS), read(SPLIT))
    said = matching.pairing_before(at("dot.1"))
    assert said is not None
    assert (said.relation, said.after) == (Relation.SPLIT, (at("dot.9"), at("reduce.9")))
    assert matching.partner_after(at("dot.2")) == at("dot.2")


def test_a_split_dot_is_converted_back_although_its_user_is_a_convert(read: Read) -> None:
    before = DOTS.replace("f32[64,16]{1,0} dot(%a", "bf16[64,16]{1,0} dot(%a")
    before = before.replace("tanh(%dot.1)", "convert(%dot.1)")
    after = SPLIT.replace("tanh(%reduce.9)", "convert(%convert.9)").replace(
        "  %tanh.1", "  %convert.9 = bf16[64,16]{1,0} convert(%reduce.9)\n  %tanh.1"
    )
    split = match(read(before), read(after)).pairing_before(at("dot.1"))
    assert split is not None
    assert split.after == (at("dot.9"), at("reduce.9"), at("convert.9"))


def test_library_calls_in_another_order_are_told_apart_by_what_they_multiply(read: Read) -> None:
    dots = """
ENTRY %main (a: f32[8,8], b: f32[8,8], c: f32[8,8]) -> (f32[8,8], f32[8,8]) {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %c = f32[8,8]{1,0} parameter(2)
  %dot.1 = f32[8,8]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.2 = f32[8,8]{1,0} dot(%a, %c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %out = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%dot.1, %dot.2)
}
"""
    calls = """
ENTRY %main (a: f32[8,8], b: f32[8,8], c: f32[8,8]) -> (f32[8,8], f32[8,8]) {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %c = f32[8,8]{1,0} parameter(2)
  %gemm.1 = f32[8,8]{1,0} custom-call(%c, %a), custom_call_target="__cublas$gemm"
  %gemm.2 = f32[8,8]{1,0} custom-call(%a, %b), custom_call_target="__cublas$gemm"
  ROOT %out = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%gemm.2, %gemm.1)
}
"""
    matching = match(read(dots), read(calls))
    assert matching.partner_after(at("dot.1")) == at("gemm.2")
    assert matching.partner_after(at("dot.2")) == at("gemm.1")


_SUM = """
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %more = f32[] add(%x, %y)
}
"""
_REDUCED = """
ENTRY %main (a: f32[64,1024]) -> f32[64] {
  %a = f32[64,1024]{1,0} parameter(0)
  %zero = f32[] constant(0)
  %reduce = f32[64]{0} reduce(%a, %zero), dimensions={1}, to_apply=%sum, metadata={op_name="f"}
  ROOT %out = f32[64]{0} negate(%reduce)
}
"""


def _in_two(reducer: str) -> str:
    inner = f"""  %bitcast = f32[64,32,32]{{2,1,0}} bitcast(%a)
  %reduce.9 = f32[64,32]{{1,0}} reduce(%bitcast, %zero), dimensions={{2}}, to_apply=%{reducer}
"""
    after = _REDUCED.replace("  %reduce =", f"{inner}  %reduce =")
    return after.replace("reduce(%a,", "reduce(%reduce.9,")


def test_a_reduction_that_became_a_tree_of_two_was_split(read: Read) -> None:
    before, after = _SUM + _REDUCED, _SUM + _in_two("sum")
    matching = match(read(before), read(after))
    said = matching.pairing_before(at("reduce"))
    assert said is not None
    assert (said.relation, {*said.after}) == (Relation.SPLIT, {at("reduce"), at("reduce.9")})
    assert "split 1 reduce" in step(read(before), read(after)).headline


def test_the_new_half_of_a_reduction_may_have_a_computation_of_its_own(read: Read) -> None:
    """Only the first half has a link; a new computation is compared with what it calls."""
    own = _SUM.replace("%sum ", "%own ").replace("add(%x, %y)", "add(%y, %x)")
    for left in (_SUM, ""):
        after = left + own + _in_two("own")
        if not left:
            after = after.replace("to_apply=%sum", "to_apply=%own")
        matching = match(read(_SUM + _REDUCED), read(after))
        said = matching.pairing_before(at("reduce"))
        assert said is not None
        assert {*said.after} == {at("reduce"), at("reduce.9")}


_CALLED_TWICE = """
%total (p: f32[64,1024]) -> f32[64] {
  %p = f32[64,1024]{1,0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %reduce = f32[64]{0} reduce(%p, %zero), dimensions={1}, to_apply=%sum, metadata={op_name="f"}
}

ENTRY %main (a: f32[64,1024], b: f32[64,1024]) -> (f32[64], f32[64]) {
  %a = f32[64,1024]{1,0} parameter(0)
  %b = f32[64,1024]{1,0} parameter(1)
  %call.1 = f32[64]{0} call(%a), to_apply=%total
  %call.2 = f32[64]{0} call(%b), to_apply=%total
  %out.1 = f32[64]{0} negate(%call.1)
  %out.2 = f32[64]{0} sine(%call.2)
  ROOT %out = (f32[64], f32[64]) tuple(%out.1, %out.2)
}
"""


def _inlined_in_two(argument: str, number: int) -> str:
    """Return a reduction of an argument in two halves, with numbered names."""
    return (
        f"  %bitcast.{number} = f32[64,32,32]{{2,1,0}} bitcast(%{argument})\n"
        f"  %half.{number} = f32[64,32]{{1,0}} reduce(%bitcast.{number}, %zero), dimensions={{2}},"
        " to_apply=%sum\n"
        f"  %reduce.{number} = f32[64]{{0}} reduce(%half.{number}, %zero), dimensions={{1}},"
        ' to_apply=%sum, metadata={op_name="f"}\n'
    )


def test_each_reduction_of_a_computation_called_twice_is_split(read: Read) -> None:
    """Halves of the second are those of the instruction that the first is of."""
    entry = "ENTRY" + _CALLED_TWICE.partition("ENTRY")[2]
    lines = [line for line in entry.splitlines() if " call(" not in line]
    halves = f"  %zero = f32[] constant(0)\n{_inlined_in_two('a', 1)}{_inlined_in_two('b', 2)}"
    text = "\n".join(lines).replace("  %out.1", f"{halves}  %out.1").replace("(%call", "(%reduce")
    matching = match(read(_SUM + _CALLED_TWICE), read(_SUM + text))
    said = matching.pairing_before(Place("total", "reduce"))
    assert said is not None
    assert {*said.after} == {
        at(f"{name}.{number}") for name in ("reduce", "half") for number in (1, 2)
    }


def _reduced_parts(opcode: str) -> str:
    return (
        f"  %{opcode} = f32[16,8]{{1,0}} {opcode}(%a)\n"
        f"  %parts.{opcode} = f32[16,2,4]{{2,1,0}} reshape(%{opcode})\n"
        f"  %reduce.{opcode} = f32[2]{{0}} reduce(%parts.{opcode}, %zero), dimensions={{0,2}},"
        ' to_apply=%sum, metadata={op_name="total"}\n'
    )


def _reduced_twice(opcode: str) -> str:
    return (
        f"  %{opcode} = f32[16,8]{{1,0}} {opcode}(%a)\n"
        f"  %first.{opcode} = f32[8]{{0}} reduce(%{opcode}, %zero), dimensions={{0}},"
        ' to_apply=%sum, metadata={op_name="total"}\n'
        f"  %halves.{opcode} = f32[2,4]{{1,0}} reshape(%first.{opcode})\n"
        f"  %reduce.{opcode} = f32[2]{{0}} reduce(%halves.{opcode}, %zero), dimensions={{1}},"
        ' to_apply=%sum, metadata={op_name="total"}\n'
    )


def test_a_reshape_may_have_moved_between_the_halves_of_a_reduction(read: Read) -> None:
    head = "ENTRY %main (a: f32[16,8]) -> f32[2] {\n  %a = f32[16,8]{1,0} parameter(0)\n"
    last = "  ROOT %out = f32[2]{0} add(%reduce.sine, %reduce.cosine)\n}\n"
    before, after = (
        f"{_SUM}{head}  %zero = f32[] constant(0)\n{reduced('sine')}{reduced('cosine')}{last}"
        for reduced in (_reduced_parts, _reduced_twice)
    )
    matching = match(read(before), read(after))
    moved = matching.pairing_before(at("parts.sine"))
    assert moved is not None
    assert moved.relation is Relation.SWAPPED
    said = matching.pairing_before(at("reduce.sine"))
    assert said is not None
    assert said.relation is Relation.SPLIT
    assert {*said.after} == {at("first.sine"), at("reduce.sine")}


def test_a_sum_whose_maximum_is_taken_is_no_half_of_the_maximum(read: Read) -> None:
    maximum = _SUM.replace("%sum ", "%most ").replace("add(", "maximum(")
    before = maximum + _REDUCED.replace("%sum", "%most")
    after = (
        maximum
        + _SUM
        + _in_two("sum").replace(
            "%zero), dimensions={1}, to_apply=%sum", "%zero), dimensions={1}, to_apply=%most"
        )
    )
    matching = match(read(before), read(after))
    said = matching.pairing_before(at("reduce"))
    assert said is None or at("reduce.9") not in said.after


def test_what_reads_a_value_reversed_is_told_from_what_reads_it(
    read: Callable[[str], HloModule],
) -> None:
    """Moves of data aside both do one thing to one value; their order says nothing."""

    def module(first: str, second: str) -> HloModule:
        return read(
            f"""
HloModule m
ENTRY %main (x: f32[8,8], w: f32[8,8]) -> (f32[8,8], f32[8,8]) {{
  %x = f32[8,8]{{1,0}} parameter(0)
  %w = f32[8,8]{{1,0}} parameter(1)
  %reverse = f32[8,8]{{1,0}} reverse(%x), dimensions={{0}}
{first}
{second}
  ROOT %out = (f32[8,8]{{1,0}}, f32[8,8]{{1,0}}) tuple(%a, %b)
}}
"""
        )

    dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    turned = "lhs_contracting_dims={0}, rhs_contracting_dims={1}"
    before = module(
        f"  %a = f32[8,8]{{1,0}} dot(%reverse, %w), {dims}",
        f"  %b = f32[8,8]{{1,0}} dot(%x, %w), {dims}",
    )
    after = module(
        f"  %dot.1 = f32[8,8]{{0,1}} dot(%w, %x), {turned}\n"
        "  %b = f32[8,8]{1,0} transpose(%dot.1), dimensions={1,0}",
        f"  %dot.2 = f32[8,8]{{0,1}} dot(%w, %reverse), {turned}\n"
        "  %a = f32[8,8]{1,0} transpose(%dot.2), dimensions={1,0}",
    )
    matching = match(before, after)
    assert matching.partner_after(Place("main", "a")) == Place("main", "dot.2")
    assert matching.partner_after(Place("main", "b")) == Place("main", "dot.1")


COMPLEX = """
HloModule m
ENTRY %main (a: f32[8,8], b: f32[8,8], c: f32[8,8], d: f32[8,8]) -> c64[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %c = f32[8,8]{1,0} parameter(2)
  %d = f32[8,8]{1,0} parameter(3)
WORK
}
"""
DIMS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
AS_ONE = f"""\
  %x = c64[8,8]{{1,0}} complex(%a, %b)
  %y = c64[8,8]{{1,0}} complex(%c, %d)
  ROOT %dot = c64[8,8]{{1,0}} dot(%x, %y), {DIMS}
"""
AS_THREE = f"""\
  %sum = f32[8,8]{{1,0}} add(%a, %b)
  %first = f32[8,8]{{1,0}} dot(%sum, %c), {DIMS}
  %both = f32[8,8]{{1,0}} add(%c, %d)
  %second = f32[8,8]{{1,0}} dot(%b, %both), {DIMS}
  %real = f32[8,8]{{1,0}} subtract(%first, %second)
  %less = f32[8,8]{{1,0}} subtract(%d, %c)
  %third = f32[8,8]{{1,0}} dot(%a, %less), {DIMS}
  %imaginary = f32[8,8]{{1,0}} add(%first, %third)
  ROOT %out = c64[8,8]{{1,0}} complex(%real, %imaginary)
"""


def test_the_real_products_of_a_complex_one_are_its_parts(
    read: Callable[[str], HloModule],
) -> None:
    before, after = (read(COMPLEX.replace("WORK\n", work)) for work in (AS_ONE, AS_THREE))
    pairing = match(before, after).pairing_before(Place("main", "dot"))
    assert pairing is not None
    assert {place.instruction for place in pairing.after} == {"first", "second", "third"}
    assert pairing.relation is Relation.SPLIT


_IN_PARTS = """HloModule step

%sum (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %add = f32[] add(%p, %q)
}

%gemm (x: f32[64,128], y: f32[128,32]) -> f32[8,64,32] {
  %x = f32[64,128]{1,0} parameter(0)
  %y = f32[128,32]{1,0} parameter(1)
  %rows = f32[64,8,16]{2,1,0} reshape(%x)
  %columns = f32[8,16,32]{2,1,0} reshape(%y)
  ROOT %dot.2 = f32[8,64,32]{2,1,0} dot(%rows, %columns), DIMENSIONS
}

%fused.1 (r: f32[8,64,32]) -> f32[64,32] {
  %r = f32[8,64,32]{2,1,0} parameter(0)
  %zero = f32[] constant(0)
  %reduce.1 = f32[64,32]{1,0} reduce(%r, %zero), dimensions={0}, to_apply=%sum
  ROOT %tanh.2 = f32[64,32]{1,0} tanh(%reduce.1)
}

%fused.2 (s: f32[8,64,32]) -> f32[64,32] {
  %s = f32[8,64,32]{2,1,0} parameter(0)
  %zero.2 = f32[] constant(0)
  %reduce.2 = f32[64,32]{1,0} reduce(%s, %zero.2), dimensions={0}, to_apply=%sum
  ROOT %sine.2 = f32[64,32]{1,0} sine(%reduce.2)
}

ENTRY %main (a: f32[64,128], b: f32[128,32]) -> (f32[64,32], f32[64,32]) {
  %a = f32[64,128]{1,0} parameter(0)
  %b = f32[128,32]{1,0} parameter(1)
  %gemm_fusion = f32[8,64,32]{2,1,0} fusion(%a, %b), kind=kCustom, calls=%gemm
  %tanh_fusion = f32[64,32]{1,0} fusion(%gemm_fusion), kind=kInput, calls=%fused.1
  %sine_fusion = f32[64,32]{1,0} fusion(%gemm_fusion), kind=kInput, calls=%fused.2
  ROOT %out = (f32[64,32]{1,0}, f32[64,32]{1,0}) tuple(%tanh_fusion, %sine_fusion)
}
"""


def test_the_sums_of_a_split_dot_belong_to_it_in_the_fusions_that_read_it(read: Read) -> None:
    """XLA splits long sums of a GEMM, and fuses their sum with what reads it, once each."""
    before = """HloModule step

ENTRY %main (a: f32[64,128], b: f32[128,32]) -> (f32[64,32], f32[64,32]) {
  %a = f32[64,128]{1,0} parameter(0)
  %b = f32[128,32]{1,0} parameter(1)
  %dot.1 = f32[64,32]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %tanh.1 = f32[64,32]{1,0} tanh(%dot.1)
  %sine.1 = f32[64,32]{1,0} sine(%dot.1)
  ROOT %out = (f32[64,32]{1,0}, f32[64,32]{1,0}) tuple(%tanh.1, %sine.1)
}
"""
    dimensions = "lhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
    dimensions += "rhs_contracting_dims={1}"
    matching = match(read(before), read(_IN_PARTS.replace("DIMENSIONS", dimensions)))
    pairing = matching.pairing_before(Place("main", "dot.1"))
    assert pairing is not None
    assert pairing.relation is Relation.SPLIT
    parts = {place.instruction for place in pairing.after}
    assert parts == {"dot.2", "reduce.1", "reduce.2"}
