"""What is said of what a product reads instead of a move, and of element types and elements."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.operand_words import Operand, instead, operand_name
from xlareport.analysis.steps.step import step

TRANSPOSED = """HloModule m

ENTRY e {
  a = f32[128,64] parameter(0)
  b = f32[32,64] parameter(1)
  w = f32[64,32] transpose(b), dimensions={1,0}
  d = f32[128,32] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT o = f32[128,32] negate(d)
}"""
FOLDED = TRANSPOSED.replace("  w = f32[64,32] transpose(b), dimensions={1,0}\n", "")
FOLDED = FOLDED.replace("dot(a, w)", "dot(a, b)")
FOLDED = FOLDED.replace("rhs_contracting_dims={0}", "rhs_contracting_dims={1}")
_TOLD = "rhs_contracting_dims: {0} → {1}; uses %b instead of its transpose %w"


def test_a_dot_that_takes_in_a_transpose_says_what_it_reads_instead() -> None:
    change = step(parse_module(TRANSPOSED), parse_module(FOLDED))
    assert "the transpose `%w` in `e` was folded into `%d`" in change.headline
    told = "rhs_contracting_dims: {0} → {1}; uses `%b` instead of its transpose `%w`"
    assert any(told in sentence for sentence in change.account)


def test_so_does_its_history() -> None:
    snapshots = SnapshotSequence([parse_module(TRANSPOSED), parse_module(FOLDED)])
    events = history(snapshots, 0, Place("e", "d"))
    assert [event.why for event in events[1:-1]] == [_TOLD]


@pytest.mark.parametrize(
    ("was", "now", "types", "move", "words"),
    [
        ("a", "b", ("", ""), "", "%b instead of %a"),
        ("a", "b", ("f32", "bf16"), "", "%b (bf16) instead of %a (f32)"),
        ("a", "b", ("", ""), "transpose", "%b instead of its transpose %a"),
        ("a", "a", ("f32", "bf16"), "", "another %a (bf16)"),
    ],
)
def test_words_of_an_operand(
    was: str, now: str, types: tuple[str, str], move: str, words: str
) -> None:
    old, new = (Operand(Place("e", name), "") for name in (was, now))
    assert instead(old, new, types, move) == words


def test_an_element_is_named_with_its_tuple() -> None:
    assert operand_name(Operand(Place("e", "while"), "2")) == "while#2"


SUMMED = """HloModule m

sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

ENTRY e {
  a = f32[2,2,3,8] parameter(0)
  z = f32[] constant(0)
  t = f32[12,8] reshape(a)
  r = f32[12] reduce(t, z), dimensions={1}, to_apply=sum
  n = f32[12] negate(r)
  ROOT o = (f32[12], f32[12,8]) tuple(n, t)
}"""


def test_a_reduce_in_another_shape_says_that_it_reads_past_a_reshape() -> None:
    line = "  r = f32[12] reduce(t, z), dimensions={1}"
    past = "  r.1 = f32[2,2,3] reduce(a, z), dimensions={3}"
    after = SUMMED.replace(line, past).replace(
        "  n = f32[12] negate(r)", "  u = f32[12] reshape(r.1)\n  n = f32[12] negate(u)"
    )
    headline = step(parse_module(SUMMED), parse_module(after)).headline
    told = "changed shape: `f32[12]` → `f32[2,2,3]`; uses `%a` instead of its reshape `%t`"
    assert told in headline


CONVOLVED = """HloModule m

ENTRY e {
  a = f32[1,8,16] parameter(0)
  g = f32[8,8,32] parameter(1)
  ROOT c = f32[1,16,32] convolution(a, g), window={size=8 pad=7_0}, dim_labels=b0f_0io->b0f
}"""


def test_swapped_operands_name_the_new_reverse_that_one_is_read_through() -> None:
    line = "  ROOT c = f32[1,16,32] convolution(a, g), window={size=8 pad=7_0}"
    turned = "  v = f32[1,8,16] reverse(a), dimensions={1}\n"
    turned += "  ROOT c = f32[1,16,32] convolution(g, v), window={size=8 pad=0_7}"
    headline = step(parse_module(CONVOLVED), parse_module(CONVOLVED.replace(line, turned))).headline
    told = "reads its operands in the other order: `%a` through the new `%v`; the result has the"
    assert told in headline


COPIED = """HloModule m

ENTRY e {
  a = f32[8] parameter(0)
  c.1 = f32[8] copy(a)
  c.2 = f32[8] copy(a)
  ROOT o = (f32[8], f32[8]) tuple(c.1, c.2)
}"""


def test_a_copy_of_another_copy_is_told_though_the_value_is_the_same() -> None:
    after = COPIED.replace("c.2 = f32[8] copy(a)", "c.2 = f32[8] copy(c.1)")
    headline = step(parse_module(COPIED), parse_module(after)).headline
    assert "changed operands of 1 copy; the copy `%c.2` in `e` uses `%c.1` instead" in headline
