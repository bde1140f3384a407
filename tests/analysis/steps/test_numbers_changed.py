"""What in a step may change the numbers that a program computes."""

from tests.analysis.small_modules import dot, modules

from xlareport.analysis.steps.numbers_changed import (
    ARITHMETIC,
    ORDER,
    PRECISION,
    TYPE,
    numbers_changed,
)
from xlareport.analysis.steps.step import step
from xlareport.hlo.text import TextReader
from xlareport.knowledge.grades import Grade


def test_a_precision_and_a_type_are_told() -> None:
    before, precise, narrow = modules(
        dot(), dot(", operand_precision={high,high}"), dot("", "bf16")
    )
    (found,) = numbers_changed(step(before, precise))
    assert (found.what, found.count) == (PRECISION, 1)
    assert found.grade is not Grade.GUESSED
    assert "operand_precision: none → {high,high}" in found.example
    (found,) = numbers_changed(step(before, narrow))
    assert found.what == TYPE
    assert found.example == "`%d` in `main`: f32 → bf16"


def test_the_scratch_memory_of_a_library_call_is_no_other_type() -> None:
    def call(kind: str) -> str:
        return (
            f"  %call = ({kind}[4,4]{{1,0}}, s8[64]{{0}}) custom-call(%x, %x), "
            'custom_call_target="__cublas$gemm"\n'
            f"  ROOT %c = {kind}[4,4]{{1,0}} get-tuple-element(%call), index=0"
        )

    product = (
        "  ROOT %d = f32[4,4]{1,0} dot(%x, %x), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    )
    kept, narrow = (
        numbers_changed(step(*modules(product, call(kind)))) for kind in ("f32", "bf16")
    )
    assert not any(changed.what == TYPE for changed in kept)
    assert [changed.example[-10:] for changed in narrow if changed.what == TYPE] == ["f32 → bf16"]


def test_a_sum_in_another_order_is_told_and_integers_are_not() -> None:
    def over(dims: str, kind: str = "f32") -> str:
        return f"  %y = {kind}[8,4]{{1,0}} convert(%x)\n  ROOT %d = {kind}[] dot(%y, %y), {dims}"

    one = "lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}"
    other = "lhs_contracting_dims={1,0}, rhs_contracting_dims={1,0}"
    before, after = modules(over(one), over(other))
    (found,) = numbers_changed(step(before, after))
    assert found.what == ORDER
    assert numbers_changed(step(*modules(over(one, "s32"), over(other, "s32")))) == ()
    assert numbers_changed(step(before, before)) == ()


def test_groups_of_devices_written_in_another_form_are_the_same_groups() -> None:
    def total(groups: str) -> str:
        return f"  ROOT %d = f32[8,4]{{1,0}} all-reduce(%x), replica_groups={groups}, to_apply=%add"

    assert numbers_changed(step(*modules(total("{{0,1},{2,3}}"), total("[2,2]<=[4]")))) == ()
    (found,) = numbers_changed(step(*modules(total("{{0,1},{2,3}}"), total("{{0,2},{1,3}}"))))
    assert found.what == ORDER
    assert "replica_groups: {{0,1},{2,3}} → {{0,2},{1,3}}" in found.example


def test_a_sum_over_one_dimension_has_one_order() -> None:
    def over(dims: str) -> str:
        square = "  %y = f32[8,8]{1,0} concatenate(%x, %x)"
        return f"{square}\n  ROOT %d = f32[8]{{0}} dot(%y, %y), {dims}"

    one = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    other = "lhs_contracting_dims={1}, rhs_contracting_dims={1}"
    assert numbers_changed(step(*modules(over(one), over(other)))) == ()


def test_what_a_fusion_takes_in_keeps_its_numbers() -> None:
    apart = "  %n = f32[8,4]{1,0} negate(%x)\n  ROOT %c = bf16[8,4]{1,0} convert(%n)"
    called = (
        "%f (p: f32[8,4]) -> bf16[8,4] {\n  %p = f32[8,4]{1,0} parameter(0)\n"
        "  %n = f32[8,4]{1,0} negate(%p)\n  ROOT %c = bf16[8,4]{1,0} convert(%n)\n}\n\n"
    )
    (before,) = modules(apart)
    read = TextReader().read(
        f"HloModule m\n\n{called}ENTRY %main (x: f32[8,4]) -> bf16[8,4] {{\n"
        "  %x = f32[8,4]{1,0} parameter(0)\n"
        "  ROOT %fusion = bf16[8,4]{1,0} fusion(%x), kind=kLoop, calls=%f\n}\n".encode(),
        "m.txt",
    )
    assert read is not None
    assert numbers_changed(step(before, read)) == ()


def test_powers_of_two_multiplied_together_are_exact() -> None:
    def scaled(lines: str) -> str:
        return f"  %s = f32[8,4]{{1,0}} sine(%x)\n{lines}"

    def factor(name: str, value: str) -> str:
        return (
            f"  %c{name} = f32[] constant({value})\n"
            f"  %w{name} = f32[8,4]{{1,0}} broadcast(%c{name}), dimensions={{}}\n"
        )

    def twice(value: str) -> str:
        return scaled(
            f"{factor('1', '2')}{factor('2', value)}"
            "  %half = f32[8,4]{1,0} multiply(%s, %w1)\n"
            "  ROOT %d = f32[8,4]{1,0} multiply(%half, %w2)"
        )

    def once(value: str) -> str:
        return scaled(f"{factor('3', value)}  ROOT %d = f32[8,4]{{1,0}} multiply(%s, %w3)")

    assert numbers_changed(step(*modules(twice("0.25"), once("0.5")))) == ()
    (found,) = numbers_changed(step(*modules(twice("0.3"), once("0.6"))))
    assert found.what == ARITHMETIC


def test_one_division_by_a_product_rounds_otherwise_than_two() -> None:
    values = "  %s = f32[8,4]{1,0} sine(%x)\n  %c = f32[8,4]{1,0} cosine(%x)\n"
    twice = "  %q = f32[8,4]{1,0} divide(%x, %s)\n  ROOT %d = f32[8,4]{1,0} divide(%q, %c)"
    once = "  %p = f32[8,4]{1,0} multiply(%s, %c)\n  ROOT %d.1 = f32[8,4]{1,0} divide(%x, %p)"
    (found,) = numbers_changed(step(*modules(f"{values}{twice}", f"{values}{once}")))
    assert (found.what, found.count) == (ARITHMETIC, 1)
    assert "`%d.1` divides by the product of their divisors" in found.example


def test_a_clone_of_an_operand_has_the_same_numbers() -> None:
    shared = (
        "  %s = f32[8,4]{1,0} sine(%x)\n  %y = f32[8,4]{1,0} multiply(%s, %s)\n"
        "  ROOT %d = f32[8,4]{1,0} divide(%y, %s)"
    )

    def cloned(opcode: str) -> str:
        return (
            "  %s = f32[8,4]{1,0} sine(%x)\n"
            f"  %t = f32[8,4]{{1,0}} {opcode}(%x), sharding={{manual}}\n"
            "  %y = f32[8,4]{1,0} multiply(%t, %t)\n  ROOT %d = f32[8,4]{1,0} divide(%y, %s)"
        )

    assert numbers_changed(step(*modules(shared, cloned("sine")))) == ()
    (other,) = numbers_changed(step(*modules(shared, cloned("cosine"))))
    assert other.what == ARITHMETIC


_HEAD = """  %k = bf16[3,4,4]{2,1,0} constant({...})
  %c = bf16[1,8,4]{2,1,0} convert(%x)
  %b = bf16[4]{0} constant({1, 2, 3, 4})
"""


def _call(target: str, operands: str) -> str:
    return (
        f"  %conv = (bf16[1,8,4]{{2,1,0}}, u8[0]{{0}}) custom-call({operands}), "
        f'window={{size=3 pad=1_1}}, dim_labels=b0f_0io->b0f, custom_call_target="{target}"\n'
        "  %value = bf16[1,8,4]{2,1,0} get-tuple-element(%conv), index=0\n"
    )


def test_a_bias_in_the_convolution_is_rounded_once() -> None:
    apart = (
        _HEAD
        + _call("__cudnn$convForward", "%c, %k")
        + "  %w = bf16[1,8,4]{2,1,0} broadcast(%b), dimensions={2}\n"
        "  %sum = bf16[1,8,4]{2,1,0} add(%value, %w)\n"
        "  ROOT %r = bf16[1,8,4]{2,1,0} negate(%sum)"
    )
    fused = (
        _HEAD
        + _call("__cudnn$convBiasActivationForward", "%c, %k, %b")
        + "  ROOT %r = bf16[1,8,4]{2,1,0} negate(%value)"
    )
    (change,) = numbers_changed(step(*modules(apart, fused)))
    assert (change.what, change.count) == (ARITHMETIC, 1)
    assert "takes in `%b` too, before the result of the call is rounded" in change.example


def test_a_scale_of_a_product_is_nothing_that_is_added() -> None:
    scale = "  %one = f32[] constant(1)\n"
    plain = _HEAD + scale + _call("__cudnn$convForward", "%c, %k")
    scaled = _HEAD + scale + _call("__cudnn$convForward", "%c, %k, %one")
    last = "  ROOT %r = bf16[1,8,4]{2,1,0} negate(%value)"
    assert numbers_changed(step(*modules(plain + last, scaled + last))) == ()


def test_an_added_convert_without_an_operand_is_no_fault() -> None:
    added = (
        "  %c = bf16[] convert()\n  %b = bf16[8]{0} broadcast(%c), dimensions={0}\n"
        '  ROOT %d = f32[8]{0} custom-call(%x, %b), custom_call_target="f"'
    )
    call = '  ROOT %d = f32[8]{0} custom-call(%x), custom_call_target="f"'
    numbers_changed(step(*modules(call, added)))


def test_the_example_is_an_instruction_of_another_opcode() -> None:
    lines = "  %c = f32[] constant(3)\n  %b = f32[8,4]{1,0} broadcast(%c), dimensions={}\n"
    lines += "  %n = f32[8,4]{1,0} negate(%x)\n"
    before, after = modules(
        f"{lines}  %s = f32[8,4]{{1,0}} add(%x, %b)\n  ROOT %d = f32[8,4]{{1,0}} divide(%s, %b)",
        f"{lines}  %s = f32[8,4]{{1,0}} add(%n, %b)\n  ROOT %d = f32[8,4]{{1,0}} multiply(%s, %b)",
    )
    (change,) = numbers_changed(step(before, after))
    assert (change.what, change.count) == (ARITHMETIC, 2)
    assert "divide → multiply" in change.example
