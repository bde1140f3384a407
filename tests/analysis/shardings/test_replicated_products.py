"""Products of which several devices compute the same, by both sides of the partitioner."""

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.analysis.shardings.replicated_products import (
    ReplicatedProduct,
    find_replicated_products,
)

WHOLE = """HloModule m, num_partitions=4

ENTRY e {
  a = f32[8,16,32] parameter(0), sharding={devices=[1,4,1]<=[4]}
  w = f32[32,64] parameter(1), sharding={replicated}
  r = f32[128,32] reshape(a), sharding={replicated}
  n = f32[128,32] negate(r), sharding={replicated}
  ROOT d = f32[128,64] dot(n, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
sharding={replicated}, metadata={op_name="jit(f)/dot"}
}
"""
DOT = "dot(n, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
DOT += 'metadata={op_name="jit(f)/dot"}'
PART = f"""HloModule m, num_partitions=4

ENTRY e_spmd {{
  n = f32[128,32] parameter(0)
  w = f32[32,64] parameter(1)
  ROOT d = f32[128,64] {DOT}
}}
"""
DIVIDED = PART.replace("[128,", "[32,")


def products(whole: str, part: str, *, propagated: bool = True) -> tuple[ReplicatedProduct, ...]:
    step = Partitioning(parse_module(whole), parse_module(part), is_propagated=propagated)
    return find_replicated_products(step, 4)


def test_each_device_computes_all() -> None:
    (product,) = products(WHOLE, PART)
    assert (product.op_name, product.products) == ("jit(f)/dot", ("d",))
    assert product.times == 4
    assert product.needless == pytest.approx(3 / 4)
    assert product.reshape == "r"


def test_nothing_is_said_of_a_divided_one_or_without_propagated_shardings() -> None:
    assert products(WHOLE, DIVIDED) == ()
    assert products(WHOLE, PART, propagated=False) == ()
    assert products(WHOLE, PART.replace("num_p", "is_scheduled=true, num_p")) == ()
    assert find_replicated_products(None, 4) == ()


def test_what_has_no_users_does_not_count() -> None:
    """The partitioner leaves a second copy of each dot behind, which dce removes."""
    dead = DIVIDED.replace("  ROOT", f"  left = f32[32,64] {DOT}\n  ROOT")
    assert products(WHOLE, dead) == ()


def test_the_bodies_of_shard_map_do_not_count() -> None:
    manual = WHOLE.replace("sharding={replicated}, metadata", "sharding={manual}, metadata")
    assert products(manual, PART) == ()


def test_a_reshape_that_keeps_the_sharding_is_not_named() -> None:
    kept = WHOLE.replace(
        "reshape(a), sharding={replicated}", "reshape(a), sharding={devices=[4,1]<=[4]}"
    )
    (product,) = products(kept, PART)
    assert product.reshape == ""
    assert replace(product, reshape="r") == products(WHOLE, PART)[0]


WHOLE_FFT = """HloModule m, num_partitions=4

ENTRY e {
  a = f32[8,64] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT t = c64[8,33] fft(a), fft_type=RFFT, fft_length={64}, sharding={devices=[4,1]<=[4]}, \
metadata={op_name="jit(f)/fft"}
}
"""
PART_FFT = """HloModule m, num_partitions=4

ENTRY e_spmd {
  a = f32[2,64] parameter(0)
  g = f32[8,64] all-gather(a), dimensions={0}
  ROOT t = c64[8,33] fft(g), fft_type=RFFT, fft_length={64}, metadata={op_name="jit(f)/fft"}
}
"""


def test_a_gathered_fft_is_computed_by_each_device() -> None:
    (transform,) = products(WHOLE_FFT, PART_FFT)
    assert (transform.opcode, transform.products, transform.times) == ("fft", ("t",), 4)
