from collections.abc import Callable

import pytest
from tests.analysis.findings.texts import having

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.wide_collectives import wide_collectives

AFTER = having("wide-collectives")
START = """HloModule m, is_scheduled=true, num_partitions=8

ENTRY e {
  a = bf16[1024,4096] parameter(0)
  c = f32[1024,4096] convert(a)
  b = f32[1024,4096] bitcast(c)
  s = (f32[1024,4096], f32[8192,4096]) all-gather-start(b),dimensions={0}, replica_groups=[1,8]<=[8]
  d = f32[8192,4096] all-gather-done(s)
  ROOT n = f32[8192,4096] negate(d)
}
"""


def test_readers_that_convert_need_half_the_bytes(case_of: Callable[..., Case]) -> None:
    case = case_of(AFTER)
    (finding,) = wide_collectives(case)
    assert finding.title == "f32 all-gather of values used in bf16"
    assert finding.places == (("e", "g"),)
    (gather,) = case.collectives
    assert finding.seconds == pytest.approx(gather.exposed_seconds / 2)
    assert "Every reader converts the result first. `g` sends 112 MiB" in finding.evidence
    assert finding.suggestion.startswith("Convert to bf16 before the collective")


def test_a_value_converted_just_before_an_async_collective(case_of: Callable[..., Case]) -> None:
    (finding,) = wide_collectives(case_of(START))
    assert finding.title == "f32 all-gather of values converted from bf16"
    assert finding.places == (("e", "s"),)
    assert "The operand is converted just before." in finding.evidence


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bf16[4096,8192]", "s8[4096,8192]"),
        ("bf16[4096,8192]", "f64[4096,8192]"),
        ("all-gather(a)", "all-reduce(a)"),
        ("ROOT c = bf16[4096,8192] convert(t)", "ROOT c = bf16[4096,8192] custom-call(t)"),
        ("is_scheduled=true, ", ""),
    ],
)
def test_other_types_and_readers_are_no_finding(
    case_of: Callable[..., Case], old: str, new: str
) -> None:
    assert not list(wide_collectives(case_of(AFTER.replace(old, new))))


def test_a_converted_sum_is_another_sum(case_of: Callable[..., Case]) -> None:
    text = START.replace("ROOT n = f32[8192,4096] negate(d)", "ROOT n = f32[8192,4096] add(d, d)")
    assert list(wide_collectives(case_of(text)))
    assert not list(wide_collectives(case_of(text.replace("convert(a)", "custom-call(a)"))))
