"""What a fusion is measured against: a chip's matrix units do no elementwise work."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.slow_fusions import slow_fusions

ONE_HOT = """HloModule m, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

one_hot {
  i = s32[1024] parameter(0)
  b = s32[1024,16000]{1,0:T(8,128)} broadcast(i), dimensions={0}
  n = s32[1024,16000]{1,0:T(8,128)} iota(), iota_dimension=1
  c = pred[1024,16000]{1,0:T(8,128)} compare(b, n), direction=EQ
  one = f32[] constant(1)
  zero = f32[] constant(0)
  ones = f32[1024,16000]{1,0:T(8,128)} broadcast(one), dimensions={}
  zeros = f32[1024,16000]{1,0:T(8,128)} broadcast(zero), dimensions={}
  s = f32[1024,16000]{1,0:T(8,128)} select(c, ones, zeros)
  ROOT r = f32[1024] reduce(s, zero), dimensions={1}, to_apply=sum
}

ENTRY e {
  a = s32[1024] parameter(0)
  ROOT f = f32[1024] fusion(a), kind=kLoop, calls=one_hot, \
backend_config={"estimated_cycles":"CYCLES"}
}
"""


@pytest.mark.parametrize(("cycles", "count"), [("90000", 0), ("900000", 1)])
def test_elementwise_work_is_measured_against_the_vector_unit(
    case_of: Callable[..., Case], cycles: str, count: int
) -> None:
    findings = list(slow_fusions(case_of(ONE_HOT.replace("CYCLES", cycles))))
    assert len(findings) == count
    for finding in findings:
        words = "its roofline time is 8.01 µs, by its arithmetic at the peak of the vector unit."
        assert words in finding.evidence
        assert finding.seconds == pytest.approx(900_000 / 1.5e9 - 8e-6, rel=0.01)


def test_without_a_rate_of_the_vector_unit_only_bytes_count(case_of: Callable[..., Case]) -> None:
    case = case_of(ONE_HOT.replace("CYCLES", "900000"))
    (finding,) = slow_fusions(replace(case, device=replace(case.device, vector_flops={})))
    assert "its roofline time is 10 ns, with every input and output" in finding.evidence
