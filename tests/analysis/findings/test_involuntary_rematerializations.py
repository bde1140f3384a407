"""What a value that is gathered whole and cut again costs: its gathers, and memory at the peak."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.involuntary_rematerializations import (
    involuntary_rematerializations,
)
from xlareport.analysis.shardings.rematerializations import Rematerialization

MODULE = """HloModule m, is_scheduled=true, num_partitions=4

ENTRY e {
  a = f32[1024,1024] parameter(0)
  g = f32[4096,1024] all-gather(a), channel_id=1, dimensions={0}, replica_groups=[1,4]<=[4], \
use_global_device_ids=true, metadata={op_name="jit(f)/dot"}
  other = f32[4096,1024] all-gather(a), channel_id=2, dimensions={0}, \
replica_groups=[1,4]<=[4], use_global_device_ids=true, metadata={op_name="jit(f)/mul"}
  n = f32[4096,1024] negate(g)
  ROOT m = f32[4096,1024] add(n, other)
}
"""
VALUE = Rematerialization(
    computation="e",
    gathers=("all-gather.1",),
    slice="dynamic-slice.1",
    value="a",
    shape="f32[4096,1024]",
    dimensions=(4096, 1024),
    bytes=16 << 20,
    part_bytes=4 << 20,
    from_tiles=(4, 1),
    to_tiles=(1, 4),
    from_sharding="",
    to_sharding="",
    op_name="jit(f)/dot",
    source="",
    grade="exact",
    is_fresh=True,
)


def test_what_nothing_hides_of_its_gathers_is_the_gain(case_of: Callable[..., Case]) -> None:
    case = replace(case_of(MODULE), rematerializations=(VALUE, VALUE))
    first, again = involuntary_rematerializations(case)
    gather = next(figures for figures in case.collectives if figures.collective.instruction == "g")
    assert first.places == (("e", "g"),)
    assert first.seconds == gather.exposed_seconds
    assert first.seconds
    assert "Nothing hides " in first.evidence
    assert (again.seconds, again.places) == (None, (("e", "g"),))


def test_memory_is_a_gain_only_at_the_peak(
    case_of: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = replace(case_of(MODULE), rematerializations=(VALUE,))
    (finding,) = involuntary_rematerializations(case)
    assert finding.bytes == 12 << 20
    monkeypatch.setattr(Case, "place_at_peak", lambda *_: None)
    (finding,) = involuntary_rematerializations(case)
    assert finding.bytes is None
