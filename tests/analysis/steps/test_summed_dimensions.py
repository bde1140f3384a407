"""Over what matrix products and reductions sum, and what a step says if that changes."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.analysis.steps.summed_dimensions import compare_sums, measure_sum

TEXT = """HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  a = f32[32,1,256] parameter(0)
  b = f32[32,1,1024] parameter(1)
  zero = f32[] constant(0)
  d = f32[256,1024] dot(a, b), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  r = f32[256] reduce(a, zero), dimensions={0,1}, to_apply=add
  n = f32[256] negate(r)
  ROOT t = (f32[256,1024], f32[256]) tuple(d, n)
}"""


@pytest.mark.parametrize(("name", "size"), [("d", 32), ("r", 32), ("n", None)])
def test_dimensions_that_are_summed_are_measured(name: str, size: int | None) -> None:
    module = parse_module(TEXT)
    line = module.by_name["e"].by_name[name]
    assert measure_sum(module, Place("e", name), line) == size


def test_a_partial_sum_is_a_change_though_its_result_has_the_same_shape() -> None:
    """The SPMD partitioner divides the batch: each device sums over its part."""
    change = step(parse_module(TEXT), parse_module(TEXT.replace("[32,", "[16,")))
    rows = {row.before.instruction: row for row in change.changes if row.before}
    for name in ("d", "r"):
        assert rows[name].kind is Kind.SUMMED
        assert str(rows[name].details[0]) == "sums over 32 → 16 elements"
    sentence = "changed the number of summands of 1 dot and 1 reduce"
    assert sentence in change.headline
    assert "the dot `%d` in `e` sums over `32` → `16` elements" in change.headline


@pytest.mark.parametrize(
    ("opcode", "does"),
    [
        ("maximum", "reduces by maximum"),
        ("minimum", "reduces by minimum"),
        ("multiply", "reduces by multiply"),
    ],
)
def test_a_reduction_that_adds_nothing_sums_nothing(opcode: str, does: str) -> None:
    """The headline counts it apart from the dot, which sums."""
    text = TEXT.replace("add(x, y)", f"{opcode}(x, y)")
    change = step(parse_module(text), parse_module(text.replace("[32,", "[16,")))
    (detail,) = (row.details[0] for row in change.changes if row.opcodes[0] == "reduce")
    assert str(detail) == f"{does} over 32 → 16 elements"
    counted = "number of summands of 1 dot and the number of reduced elements of 1 reduce"
    assert counted in change.headline


def test_a_reduction_by_several_operations_only_reduces() -> None:
    text = TEXT.replace("z = f32[] add(x, y)", "z = f32[] add(w, y)").replace(
        "  ROOT z", "  w = f32[] abs(x)\n  ROOT z"
    )
    change = step(parse_module(text), parse_module(text.replace("[32,", "[16,")))
    (detail,) = (row.details[0] for row in change.changes if row.opcodes[0] == "reduce")
    assert str(detail) == "reduces over 32 → 16 elements"


DIVIDED = """HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  a = f32[32,64] parameter(0)
  b = f32[32,1024] parameter(1)
  c = f32[4,8,8,16] parameter(2)
  k = f32[3,3,16,8] parameter(3)
  zero = f32[] constant(0)
  d = f32[64,1024] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  r = f32[64] reduce(a, zero), dimensions={0}, to_apply=add
  v = f32[4,8,8,8] convolution(c, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  ROOT t = (f32[64,1024], f32[64], f32[4,8,8,8]) tuple(d, r, v)
}"""


def test_a_partial_sum_of_another_shape_is_both() -> None:
    """The SPMD partitioner divides the summed dimension over one axis and another over a second."""
    divided = DIVIDED
    for whole, part in (
        ("[32,", "[16,"),
        ("64]", "32]"),
        ("[64,", "[32,"),
        ("16]", "8]"),
        ("16,8]", "8,8]"),
        ("[4,8,8,8]", "[2,8,8,8]"),
        ("[4,8,8,16]", "[2,8,8,8]"),
    ):
        divided = divided.replace(whole, part)
    change = step(parse_module(DIVIDED), parse_module(divided))
    rows = {row.before.instruction: row for row in change.changes if row.before}
    for name, sums in (("d", "32 → 16"), ("r", "32 → 16"), ("v", "144 → 72")):
        assert rows[name].kinds[:2] == (Kind.SHAPE, Kind.SUMMED)
        assert str(rows[name].details[1]) == f"sums over {sums} elements"
    sentence = "changed the number of summands of 1 convolution, 1 dot and 1 reduce"
    assert sentence in " ".join((change.headline, *change.account)).lower()


@pytest.mark.parametrize(
    ("window", "size"),
    [
        ("size=8 pad=7_7 rhs_reversal=1", 16),
        ("size=3 pad=1_1", 16),
        ("size=8 stride=7 lhs_dilate=8", 16),
    ],
)
def test_a_window_wider_than_its_input_meets_no_more_than_that(
    window: str, size: int | None
) -> None:
    """So are dimensions of a matrix product written that are not summed over."""
    module = parse_module(f"""HloModule m

ENTRY e {{
  a = f32[4,1,16] parameter(0)
  b = f32[3,16,8] parameter(1)
  ROOT v = f32[4,10,8] convolution(a, b), window={{{window}}}, dim_labels=b0f_0io->b0f
}}""")
    line = module.by_name["e"].by_name["v"]
    assert measure_sum(module, Place("e", "v"), line) == size


def test_a_sum_that_takes_in_the_sum_before_it_names_that() -> None:
    """`algsimp` makes one reduction of a reduction of another."""
    two = TEXT.replace("[32,1,256]", "[32,8,256]").replace(
        "  r = f32[256] reduce(a, zero), dimensions={0,1}, to_apply=add\n",
        "  part = f32[32,256] reduce(a, zero), dimensions={1}, to_apply=add\n"
        "  same = f32[32,256] copy(part)\n"
        "  r = f32[256] reduce(same, zero), dimensions={0}, to_apply=add\n",
    )
    two = two.replace(
        "d = f32[256,1024] dot(a, b), lhs_contracting_dims={0,1}", "d = f32[8] abs(c)"
    )
    two = two.replace(", rhs_contracting_dims={0,1}\n", "\n").replace("f32[256,1024]", "f32[8]")
    two = two.replace("b = f32[32,1,1024]", "c = f32[8]")
    once = (
        two.replace("reduce(same, zero), dimensions={0}", "reduce(a, zero), dimensions={0,1}")
        .replace("  part = f32[32,256] reduce(a, zero), dimensions={1}, to_apply=add\n", "")
        .replace("  same = f32[32,256] copy(part)\n", "")
    )
    change = step(parse_module(two), parse_module(once))
    sentence = "`%r` in `e` sums over `32` → `256` elements, with what `%part` did before it"
    assert sentence in " ".join((change.headline, *change.account))


@pytest.mark.parametrize(
    ("operands", "window", "size"),
    [
        (
            ("[8,8,8,16]", "[8,4,4,32]", "[3,3,16,32]"),
            "size=4x4 pad=0_1x0_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf",
            8 * 4 * 4,
        ),
        (
            ("[2,4,4,64]", "[3,3,32,64]", "[2,8,8,32]"),
            "size=3x3 pad=2_1x2_1 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f",
            64 * 2 * 2,
        ),
        (
            ("[2,4000,1,8]", "[3,1,8,8]", "[2,8000,1,8]"),
            "size=3x1 pad=2_1x0_0 lhs_dilate=2x1}, dim_labels=b01f_01io->b01f",
            None,
        ),
    ],
)
def test_gradients_of_strided_convolutions_are_measured(
    operands: tuple[str, str, str], window: str, size: int | None
) -> None:
    """The first two are those by the kernel and by the input of a convolution of stride 2."""
    lhs, rhs, result = operands
    module = parse_module(f"""HloModule m

ENTRY e {{
  a = f32{lhs} parameter(0)
  b = f32{rhs} parameter(1)
  ROOT v = f32{result} convolution(a, b), window={{{window}
}}""")
    line = module.by_name["e"].by_name["v"]
    assert measure_sum(module, Place("e", "v"), line) == size


WHOLE_K = """HloModule m

ENTRY e {
  a = f32[128,784] parameter(0)
  b = f32[784,512] parameter(1)
  ROOT d = f32[128,512] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""
SPLIT_K = """HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  a = f32[128,784] parameter(0)
  zero = f32[] constant(0)
  p = f32[128,800] pad(a, zero), padding=0_0x0_16
  q = f32[128,8,100] reshape(p)
  b = f32[784,512] parameter(1)
  o = f32[800,512] pad(b, zero), padding=0_16x0_0
  r = f32[8,100,512] reshape(o)
  k = f32[8,128,512] dot(q, r), lhs_batch_dims={1}, lhs_contracting_dims={2}, \
rhs_batch_dims={0}, rhs_contracting_dims={1}
  ROOT s = f32[128,512] reduce(k, zero), dimensions={0}, to_apply=add
}"""


def test_a_sum_that_was_padded_to_be_split_says_so() -> None:
    """784 is no multiple of the 8 parts of split-K."""
    matching = match(parse_module(WHOLE_K), parse_module(SPLIT_K))
    whole, part = Place("e", "d"), Place("e", "k")
    lines = matching.before.find(*whole), matching.after.find(*part)
    assert lines[0] is not None
    assert lines[1] is not None
    found = compare_sums(matching, (whole, lines[0]), (part, lines[1]))
    assert str(found[Kind.SUMMED]) == "sums over 784 → 100 elements, padded to 800 in 8 parts"


def test_rows_that_were_padded_are_not_what_is_summed() -> None:
    whole = """HloModule m

ENTRY e {
  p = f32[8,32] parameter(0)
  q = f32[32,8] parameter(1)
  ROOT d = f32[8,8] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""
    split = """HloModule m

ENTRY e {
  p = f32[8,32] parameter(0)
  q = f32[32,8] parameter(1)
  z = f32[] constant(0)
  pp = f32[16,32] pad(p, z), padding=0_8x0_0
  pr = f32[16,2,16] reshape(pp)
  qr = f32[2,16,8] reshape(q)
  k = f32[2,16,8] dot(pr, qr), lhs_batch_dims={1}, lhs_contracting_dims={2}, \
rhs_batch_dims={0}, rhs_contracting_dims={1}
  ROOT s = f32[8,8] slice(k), slice={[0:1], [0:8], [0:8]}
}"""
    matching = match(parse_module(whole), parse_module(split))
    places = Place("e", "d"), Place("e", "k")
    lines = matching.before.find(*places[0]), matching.after.find(*places[1])
    assert lines[0] is not None
    assert lines[1] is not None
    found = compare_sums(matching, (places[0], lines[0]), (places[1], lines[1]))
    assert str(found[Kind.SUMMED]) == "sums over 32 → 16 elements"
