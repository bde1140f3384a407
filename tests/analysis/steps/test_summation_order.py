"""Which rewrites of sums run over their elements in another order."""

import pytest
from tests.analysis.small_modules import modules

from xlareport.analysis.steps.numbers_changed import ORDER, TYPE, numbers_changed
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader


def _product(shape: str, dims: str, opcode: str = "reshape") -> str:
    """Return a product of two operands of a shape, made of the argument f32[8,4]."""
    contracted = f"lhs_contracting_dims={dims}, rhs_contracting_dims={dims}"
    return (
        f"  %y = {shape} {opcode}(%x)\n  %z = {shape} negate(%y)\n"
        f"  ROOT %d = f32[] dot(%y, %z), {contracted}"
    )


@pytest.mark.parametrize(
    ("shape", "dims"),
    [("f32[8,1,4]", "{0,2}"), ("f32[32]", "{0}"), ("f32[2,4,4]", "{0,1,2}")],
)
def test_dimensions_of_size_one_and_merged_dimensions_keep_the_order(shape: str, dims: str) -> None:
    before, after = modules(_product("f32[8,4]", "{0,1}"), _product(shape, dims))
    assert numbers_changed(step(before, after)) == ()


@pytest.mark.parametrize("dims", ["{1,0}", "{0,2,1}"])
def test_dimensions_in_turn_are_another_order(dims: str) -> None:
    shape = "f32[8,4]" if len(dims) == 5 else "f32[8,2,2]"
    before, after = modules(_product("f32[8,4]", "{0,1}"), _product(shape, dims))
    (change,) = numbers_changed(step(before, after))
    assert change.what == ORDER


def test_a_reversed_kernel_in_the_window_sums_the_same() -> None:
    def convolved(window: str) -> str:
        return (
            "  %k = f32[3,1,1]{2,1,0} constant({...})\n"
            "  %y = f32[8,4,1]{2,1,0} reshape(%x)\n"
            f"  ROOT %d = f32[8,4,1]{{2,1,0}} convolution(%y, %k), window={{{window}}}, "
            "dim_labels=b0f_0io->b0f"
        )

    plain, reversed_, wider = modules(
        convolved("size=3 pad=1_1"),
        convolved("size=3 pad=1_1 rhs_reversal=1"),
        convolved("size=5 pad=2_2"),
    )
    assert numbers_changed(step(plain, reversed_)) == ()
    (change,) = numbers_changed(step(plain, wider))
    assert change.what == ORDER


def test_a_product_whose_operands_changed_places_in_a_convolution_sums_the_same() -> None:
    """The window of 2 with a pad of 1 meets one element of the input for each result."""
    lines = "  %y = f32[1,8,4]{2,1,0} reshape(%x)\n  %k = f32[2,4,1]{2,1,0} constant({...})\n"
    before = lines + (
        "  ROOT %d = f32[1,8,2]{2,1,0} convolution(%y, %k), window={size=1}, "
        "dim_labels=0bf_oi0->0bf"
    )
    after = lines + (
        "  ROOT %d = f32[1,8,2]{2,1,0} convolution(%k, %y), "
        "window={size=1 pad=0_0 rhs_reversal=1}, dim_labels=bf0_0oi->0fb"
    )
    wide = after.replace("size=1 pad=0_0", "size=2 pad=1_1")
    assert numbers_changed(step(*modules(before, wide))) == ()


def test_a_wider_window_over_several_elements_is_another_order() -> None:
    lines = "  %y = f32[8,4,1]{2,1,0} reshape(%x)\n  %k = f32[3,1,1]{2,1,0} constant({...})\n"
    before = lines + (
        "  ROOT %d = f32[8,4,1]{2,1,0} convolution(%y, %k), window={size=3 pad=1_1}, "
        "dim_labels=b0f_0io->b0f"
    )
    after = before.replace("size=3 pad=1_1", "size=1").replace("f32[3,1,1]", "f32[1,1,1]")
    (change,) = numbers_changed(step(*modules(before, after)))
    assert change.what == ORDER


def test_a_layout_written_as_another_shape_sums_the_same() -> None:
    def reduced(bitcast: str, dims: str) -> str:
        return (
            "  %z = f32[] constant(0)\n  %y = f32[2,2,2,4]{1,0,3,2} bitcast(%x)\n"
            f"{bitcast}, dimensions={dims}, to_apply=%add"
        )

    before = reduced("  ROOT %d = f32[2,2]{0,1} reduce(%y, %z)", "{0,3}")
    again = "  %w = f32[2,4,2,2]{3,2,1,0} bitcast(%y)\n  ROOT %d = f32[2,2]{1,0} reduce(%w, %z)"
    assert numbers_changed(step(*modules(before, reduced(again, "{1,2}")))) == ()
    (change,) = numbers_changed(step(*modules(before, reduced(again, "{3,1}"))))
    assert change.what == ORDER


def test_an_outer_product_sums_nothing() -> None:
    def product(dims: str) -> str:
        return (
            "  %y = f32[8,4]{1,0} negate(%x)\n  ROOT %d = f32[8,4]{1,0} dot(%x, %y), "
            "lhs_batch_dims={0}, rhs_batch_dims={0}, "
            f"lhs_contracting_dims={dims}, rhs_contracting_dims={dims}"
        )

    multiplied = "  %y = f32[8,4]{1,0} negate(%x)\n  ROOT %d = f32[8,4]{1,0} multiply(%x, %y)"
    assert numbers_changed(step(*modules(product("{}"), multiplied))) == ()
    (change,) = numbers_changed(step(*modules(product("{1}"), multiplied)))
    assert change.what == ORDER


def _with_sum(body: str, operation: str = "add") -> HloModule:
    read = TextReader().read(
        (
            "HloModule m\n\n%sum (p: f32[], q: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n"
            f"  %q = f32[] parameter(1)\n  ROOT %r = f32[] {operation}(%p, %q)\n}}\n\n"
            "ENTRY %main (x: f32[8,4]) -> f32[8] {\n  %x = f32[8,4]{1,0} parameter(0)\n"
            f"  %z = f32[] constant(0)\n{body}\n}}\n"
        ).encode(),
        "m.txt",
    )
    assert read is not None
    return read


def test_partial_sums_of_devices_are_another_order() -> None:
    total = "  %s = f32[8]{0} reduce(%x, %z), dimensions={1}, to_apply=%sum\n"
    before = total + "  ROOT %d = f32[8]{0} multiply(%s, %s)"
    after = (
        f"{total}  %a = f32[8]{{0}} all-reduce(%s), to_apply=%sum\n"
        "  ROOT %d = f32[8]{0} multiply(%a, %a)"
    )
    (change,) = numbers_changed(step(_with_sum(before), _with_sum(after)))
    assert (change.what, change.count) == (ORDER, 1)
    assert "`%a` in `main`: adds partial sums over devices" in change.example
    largest = step(_with_sum(before, "maximum"), _with_sum(after, "maximum"))
    assert numbers_changed(largest) == ()


_ADD = (
    "%add (a: f32[], b: f32[]) -> f32[] {\n"
    "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n\n"
)
_MAXIMUM = _ADD.replace("%add (", "%maximum (").replace(" add(", " maximum(")
_HEAD = "HloModule jit_f\n\n"


def _text(lines: str, *computations: str) -> HloModule:
    body = f"ENTRY %main (x: f32[256,784], w: f32[784,512]) -> f32[] {{\n{lines}}}\n"
    read = TextReader().read((_HEAD + "".join(computations) + body).encode(), "m.txt")
    assert read is not None
    return read


_GIVEN = "  %x = f32[256,784] parameter(0)\n  %w = f32[784,512] parameter(1)\n"
_PARTS = (
    f"{_GIVEN}  %l = f32[256,4,196] reshape(%x)\n  %r = f32[4,196,512] reshape(%w)\n"
    "  %p = f32[4,256,512] dot(%l, %r), lhs_batch_dims={1}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
    "  %z = f32[] constant(0)\n"
)


_REDUCED = "= f32[256,512] reduce(%p, %z), dimensions={0}, to_apply=%add\n"


@pytest.mark.parametrize(
    ("type_", "end", "kinds"),
    [
        ("f32", f"  ROOT %d.1 {_REDUCED}", [ORDER]),
        ("bf16", f"  %d.1 {_REDUCED}  ROOT %c = bf16[256,512] convert(%d.1)\n", [TYPE, ORDER]),
    ],
)
def test_a_dot_split_into_partial_sums_is_another_order(
    type_: str, end: str, kinds: list[str]
) -> None:
    dot = f"  ROOT %d = {type_}[256,512] dot(%x, %w), "
    before = _text(f"{_GIVEN}{dot}lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n")
    after = _text(_PARTS + end, _ADD)
    changes = numbers_changed(step(before, after, "splitk-rewriter"))
    assert [change.what for change in changes] == kinds
    words = "sums over 196 elements instead of 784, and the partial sums are added"
    assert words in changes[-1].example


@pytest.mark.parametrize(("reducer", "named"), [("add", [ORDER]), ("maximum", [])])
def test_two_reduces_that_became_one_are_another_order_unless_they_select(
    reducer: str, named: list[str]
) -> None:
    tail = f"to_apply=%{reducer}\n"
    zero = f"{_GIVEN}  %z = f32[] constant(0)\n"
    before = _text(
        f"{zero}  %r = f32[256] reduce(%x, %z), dimensions={{1}}, {tail}"
        f"  ROOT %s = f32[] reduce(%r, %z), dimensions={{0}}, {tail}",
        _ADD,
        _MAXIMUM,
    )
    after = _text(
        f"{zero}  ROOT %s = f32[] reduce(%x, %z), dimensions={{0,1}}, {tail}", _ADD, _MAXIMUM
    )
    assert [change.what for change in numbers_changed(step(before, after))] == named


def test_a_dot_over_padded_operands_sums_the_same() -> None:
    tail = "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    before = _text(f"{_GIVEN}  ROOT %d = f32[256,512] dot(%x, %w), {tail}")
    after = _text(
        f"{_GIVEN}  %z = f32[] constant(0)\n"
        "  %xp = f32[256,896] pad(%x, %z), padding=0_0x0_112\n"
        "  %wp = f32[896,512] pad(%w, %z), padding=0_112x0_0\n"
        f"  ROOT %d = f32[256,512] dot(%xp, %wp), {tail}"
    )
    assert numbers_changed(step(before, after)) == ()


def test_an_all_reduce_of_a_sum_instead_of_a_sum_of_all_reduces_is_another_order() -> None:
    given = "  %x = f32[256,784] parameter(0)\n  %y = f32[256,784] negate(%x)\n"
    tail = "replica_groups={{0,1}}, to_apply=%add\n"
    before = _text(
        f"{given}  %a = f32[256,784] all-reduce(%x), channel_id=1, {tail}"
        f"  %b = f32[256,784] all-reduce(%y), channel_id=2, {tail}"
        "  ROOT %s = f32[256,784] add(%a, %b)\n",
        _ADD,
    )
    after = _text(
        f"{given}  %s = f32[256,784] add(%x, %y)\n"
        f"  ROOT %c = f32[256,784] all-reduce(%s), channel_id=3, {tail}",
        _ADD,
    )
    (change,) = numbers_changed(step(before, after, "all-reduce-reassociate"))
    assert change.what == ORDER
    assert change.example.endswith("sends the sum of what 2 sent")


def test_a_scatter_onto_the_other_term_of_a_sum_is_another_order() -> None:
    given = (
        "  %x = f32[256,784] parameter(0)\n  %i = s32[1,1] constant({{0}})\n"
        "  %z = f32[] constant(0)\n  %o = f32[256,784] broadcast(%z), dimensions={}\n"
        "  %u = f32[1,784] slice(%x), slice={[0:1], [0:784]}\n  %y = f32[256,784] tanh(%x)\n"
    )
    tail = (
        "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
        "index_vector_dim=1, to_apply=%add\n"
    )
    before = _text(
        f"{given}  %s = f32[256,784] scatter(%o, %i, %u), {tail}"
        "  ROOT %a = f32[256,784] add(%y, %s)\n",
        _ADD,
    )
    after = _text(
        f"{given}  %a = f32[256,784] add(%y, %o)\n"
        f"  ROOT %s = f32[256,784] scatter(%a, %i, %u), {tail}",
        _ADD,
    )
    assert [change.what for change in numbers_changed(step(before, after))] == [ORDER]


def test_a_sum_over_a_concatenation_that_became_several_sums_is_another_order() -> None:
    given = f"{_GIVEN}  %y = f32[256,784] negate(%x)\n  %z = f32[] constant(0)\n"
    tail = "dimensions={0,1}, to_apply=%add\n"
    before = _text(
        f"{given}  %c = f32[512,784] concatenate(%x, %y), dimensions={{0}}\n"
        f"  %s = f32[] reduce(%c, %z), {tail}  ROOT %n = f32[] negate(%s)\n",
        _ADD,
    )
    after = _text(
        f"{given}  %r.1 = f32[] reduce(%x, %z), {tail}  %r.2 = f32[] reduce(%y, %z), {tail}"
        "  %a = f32[] add(%r.1, %r.2)\n  ROOT %n = f32[] negate(%a)\n",
        _ADD,
    )
    (change,) = numbers_changed(step(before, after))
    assert change.what == ORDER
    assert "sums over 200,704 elements instead of 401,408, and the partial sums" in change.example


@pytest.mark.parametrize(("reducer", "named"), [("add", [ORDER]), ("maximum", [])])
def test_an_all_reduce_over_other_devices_is_another_order_unless_it_selects(
    reducer: str, named: list[str]
) -> None:
    line = "  ROOT %a = f32[256,784] all-reduce(%x), to_apply=%{}, replica_groups={{{}}}\n"
    given = "  %x = f32[256,784] parameter(0)\n"
    before, after = (
        _text(given + line.format(reducer, groups), _ADD, _MAXIMUM)
        for groups in ("{0,1,2,3}", "{0,1},{2,3}")
    )
    assert [change.what for change in numbers_changed(step(before, after))] == named


@pytest.mark.parametrize(
    ("opcode", "words"),
    [
        ("add", "sums over 256 elements instead of 784"),
        ("multiply", "reduces by multiply over 256 elements instead of 784"),
    ],
)
def test_a_shorter_reduction_is_named_by_its_reducer(opcode: str, words: str) -> None:
    computation = _ADD.replace(" add(", f" {opcode}(")
    tail = "  ROOT %r = f32[{}] reduce(%y, %z), dimensions={{{}}}, to_apply=%add\n"
    given = "  %x = f32[256,784] parameter(0)\n  %z = f32[] constant(0)\n"
    given += "  %y = f32[256,784] negate(%x)\n"
    before = _text(given + tail.format(256, 1), computation)
    after = _text(given + tail.format(784, 0), computation)
    (change,) = numbers_changed(step(before, after))
    assert (change.what, words in change.example) == (ORDER, True)
