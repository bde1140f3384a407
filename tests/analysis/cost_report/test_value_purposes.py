"""Values of known purpose: parts of a sum, operands of a collective in a row, random numbers."""

import pytest
from tests.analysis.findings.texts import FINDINGS, read_texts
from tests.modules import parse_module

from xlareport.analysis.cost.activations import Activation
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.cost_report.value_purposes import (
    CopiedArgument,
    JoinedOperand,
    ValuePurposes,
    find_copied_arguments,
    find_drawn_shares,
    find_joined_operands,
    find_partial_sums,
    find_purposes,
    find_repeated_values,
)

MODULE = """HloModule m, is_scheduled=true

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

total {
  parts = f32[4,8,16] parameter(0)
  zero = f32[] constant(0)
  sum = f32[8,16] reduce(parts, zero), dimensions={0}, to_apply=add
  ROOT narrow = bf16[8,16] convert(sum)
}

ENTRY e {
  a = f32[4,8,2] parameter(0)
  b = f32[4,2,16] parameter(1)
  parts = f32[4,8,16] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, \
lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT r = bf16[8,16] fusion(parts), kind=kLoop, calls=total
}"""


def test_the_sum_has_the_size_of_what_adds_the_parts() -> None:
    module = parse_module(MODULE)
    assert find_partial_sums(module, count_cost(module)) == {"parts": 8 * 16 * 2}


def test_a_batched_product_that_nothing_adds_up_has_no_parts() -> None:
    module = parse_module(MODULE.replace("dimensions={0}", "dimensions={1}"))
    assert find_partial_sums(module, count_cost(module)) == {}


def test_scores_of_attention_are_found_among_the_values_that_are_asked_for() -> None:
    text = read_texts(FINDINGS / "attention-scores" / "by_hand.txt")["having"]
    module = parse_module(text)
    purposes = find_purposes(module, count_cost(module), ["f", "l"])
    assert purposes.scores == {"f": {1}}
    assert purposes.are_scores("f", (1,))
    assert not purposes.are_scores("f", (0,))
    assert not purposes.are_scores("l", ())
    assert not find_purposes(module, count_cost(module), ["l"]).scores


JOINED = """HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

row {
  p = f32[4] parameter(0)
  q = f32[2] parameter(1)
  s = f32[4] negate(p)
  ROOT c = f32[6] concatenate(p, q), dimensions={0}
}

ENTRY e {
  a = f32[4] parameter(0)
  b = f32[2] parameter(1)
  j = f32[6] fusion(a, b), kind=kLoop, calls=row
  ROOT r = f32[6] all-reduce(j), replica_groups={}, to_apply=add
}"""


@pytest.mark.parametrize(
    ("before", "after", "is_joined"),
    [
        ("  s = f32[4] negate(p)\n", "", True),
        ("", "", False),
        ("fusion(a, b), kind=kLoop, calls=row", "concatenate(a, b), dimensions={0}", True),
        ("fusion(a, b), kind=kLoop, calls=row", "pad(a, b), padding=0_2", False),
        ("all-reduce(j), replica_groups={}, to_apply=add", "negate(j)", False),
    ],
)
def test_a_concatenate_that_a_collective_reads_joins(
    before: str, after: str, *, is_joined: bool
) -> None:
    joined = find_joined_operands(parse_module(JOINED.replace(before, after) if before else JOINED))
    assert joined == ({"j": JoinedOperand("r", "all-reduce", 2)} if is_joined else {})


DRAWN = """HloModule m

cut {
  p = u32[8,64] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  d = u32[2,64] dynamic-slice(p, i, z), dynamic_slice_sizes={2,64}
  ROOT n = u32[2,64] not(d)
}

ENTRY e {
  k = u64[2] parameter(0)
  i = s32[] parameter(1)
  r = u32[8,64] rng-bit-generator(k), algorithm=rng_default
  f = u32[2,64] fusion(r, i), kind=kLoop, calls=cut
  ROOT t = (u32[2,64], u32[%s]) tuple(f, %s)
}
"""


@pytest.mark.parametrize(("also", "shares"), [("f", {"r": "u32[2,64]"}), ("r", {})])
def test_only_a_slice_uses_the_numbers(also: str, shares: dict[str, str]) -> None:
    shape = "2,64" if also == "f" else "8,64"
    assert find_drawn_shares(parse_module((DRAWN % (shape, also)).encode())) == shares


def test_parts_may_be_behind_a_batch_dimension() -> None:
    batched = MODULE.replace("f32[4,", "f32[3,4,").replace("[8,16]", "[3,8,16]")
    batched = batched.replace("dimensions={0}", "dimensions={1}").replace("dims={0}", "dims={0,1}")
    batched = batched.replace("dims={2}", "dims={3}").replace(
        "contracting_dims={1}", "contracting_dims={2}"
    )
    module = parse_module(batched)
    assert find_partial_sums(module, count_cost(module)) == {"parts": 3 * 8 * 16 * 2}


def test_partial_sums_are_no_activations() -> None:
    kept, parts = (Activation((name, ()), 1 << 20, "mlp") for name in ("kept", "parts"))
    purposes = ValuePurposes(partial_sums={"parts": 1 << 18})
    assert purposes.without_partial_sums([kept, parts]) == (kept,)


COPIED = """HloModule m, is_scheduled=true

ENTRY e {
  a = f32[4,8]{0,1} parameter(0), metadata={op_name="p['tables']"}
  b = f32[4,8]{0,1} parameter(1)
  turned = f32[4,8]{1,0} copy(a)
  same = f32[4,8]{0,1} copy(b)
  sum = f32[4,8]{1,0} add(turned, same)
  ROOT out = f32[4,8]{0,1} copy(sum)
}"""


def test_a_copied_argument_is_named_where_its_layout_changes() -> None:
    copied = find_copied_arguments(parse_module(COPIED))
    assert copied == {"turned": CopiedArgument("p['tables']", 4 * 8 * 4)}


REPEATED = """HloModule m, is_scheduled=true

repeat {
  p = bf16[2,8] parameter(0)
  wide = bf16[2,4,8] broadcast(p), dimensions={0,2}
  ROOT flat = bf16[8,8] bitcast(wide)
}

grow {
  p = bf16[2,8] parameter(0)
  wide = bf16[2,4,8] broadcast(p), dimensions={0,2}
  ROOT more = bf16[2,4,8] add(wide, wide)
}

ENTRY e {
  a = bf16[2,8] parameter(0)
  zero = bf16[] constant(0)
  zeros = bf16[8,8] broadcast(zero), dimensions={}
  whole = bf16[8,8] fusion(a), kind=kLoop, calls=repeat
  other = bf16[2,4,8] fusion(a), kind=kLoop, calls=grow
  ROOT out = (bf16[8,8], bf16[8,8], bf16[2,4,8]) tuple(whole, zeros, other)
}"""


def test_an_array_that_is_repeated_along_a_new_dimension_is_named() -> None:
    repeated = find_repeated_values(parse_module(REPEATED))
    assert repeated == {"wide": "p", "whole": "a"}


def test_values_that_are_put_in_order_are_known_among_those_that_are_asked_for() -> None:
    text = """HloModule m, is_scheduled=true

less {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT l = pred[] compare(x, y), direction=LT
}

ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] negate(a)
  s = f32[8] sort(b), dimensions={0}, to_apply=less
  ROOT c = f32[8] cosine(a)
}
"""
    module = parse_module(text)
    purposes = find_purposes(module, count_cost(module), ("b", "c"))
    assert purposes.ranked_values == {"b"}
