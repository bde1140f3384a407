"""Work that several devices do: its time in the final module."""

import pytest
from msgspec.structs import replace
from tests.analysis.findings.conftest import MakeCase

from xlareport.analysis.findings.replicated_work import replicated_work
from xlareport.analysis.shardings.replicated_products import ReplicatedProduct

OP = 'metadata={op_name="jit(f)/dot"}'
MODULE = f"""HloModule m, is_scheduled=true, num_partitions=4

fused {{
  p = f32[1024,1024] parameter(0)
  q = f32[1024,1024] parameter(1)
  d = f32[1024,1024] dot(p, q), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, {OP}
  ROOT n = f32[1024,1024] negate(d), metadata={{op_name="jit(f)/neg"}}
}}

ENTRY e {{
  a = f32[1024,1024] parameter(0)
  b = f32[1024,1024] parameter(1)
  f = f32[1024,1024] fusion(a, b), kind=kOutput, calls=fused
  ROOT e = f32[1024,1024] dot(f, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, {OP}
}}
"""
PRODUCT = ReplicatedProduct("jit(f)/dot", ("d",), "dot", 4.0, 0.75, 1e9, "")


def test_the_needless_part_of_the_time_is_the_saving(case_of: MakeCase) -> None:
    case = replace(case_of(MODULE), replicated=(PRODUCT,))
    (finding,) = replicated_work(case)
    assert set(finding.places) == {("e", "f"), ("e", "e")}
    assert finding.seconds == pytest.approx(0.75 * case.seconds)
    assert "All 4 devices together do 4 times the FLOPs of the program for `jit(f)/dot`." in (
        finding.evidence
    )
    assert "Divide one more dimension" in finding.suggestion


def test_a_reshape_that_loses_the_sharding_has_its_own_remedy(case_of: MakeCase) -> None:
    case = replace(case_of(MODULE), replicated=(replace(PRODUCT, reshape="r"),))
    (finding,) = replicated_work(case)
    assert "The result of the reshape `r`, in the snapshot before SPMD" in finding.evidence
    assert finding.suggestion.startswith("A reshape keeps a sharding only of the first")


def test_little_time_and_other_ops_are_no_finding(case_of: MakeCase) -> None:
    case = case_of(MODULE)
    assert not list(replicated_work(case))
    for product in (replace(PRODUCT, op_name="jit(f)/neg"), replace(PRODUCT, needless=0.01)):
        assert not list(replicated_work(replace(case, replicated=(product,))))


SPECTRAL = """HloModule m, is_scheduled=true, num_partitions=4

ENTRY e {
  a = f32[8,64,64] parameter(0)
  ROOT t = c64[8,64,33] fft(a), fft_type=RFFT, fft_length={64,64}, metadata={op_name="jit(f)/fft"}
}
"""


def test_an_fft_is_to_be_divided_in_shard_map(case_of: MakeCase) -> None:
    transform = ReplicatedProduct("jit(f)/fft", ("t",), "fft", 4.0, 0.75, 1e6, "")
    case = replace(case_of(SPECTRAL), replicated=(transform,))
    (finding,) = replicated_work(case)
    assert finding.places == (("e", "t"),)
    assert finding.seconds == pytest.approx(0.75 * case.seconds)
    assert finding.suggestion.startswith("The SPMD partitioner did not divide the fft. In jax.sha")
