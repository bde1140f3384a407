"""The remedy for a scatter into zeros depends on what it was before optimization."""

import pytest
from msgspec.structs import replace
from tests.analysis.findings.conftest import MakeCase

from xlareport.analysis.findings.dense_gradients import dense_gradients
from xlareport.analysis.findings.finding import Case
from xlareport.program import MemoryFiles
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import LiveRange, LiveRanges

AFTER = """HloModule m, is_scheduled=true

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

ENTRY e {
  i = s32[8,1] parameter(0)
  u = f32[8,1024] parameter(1)
  z = f32[] constant(0)
  b = f32[65536,1024] broadcast(z), dimensions={}
  s = f32[65536,1024] scatter(b, i, u), update_window_dims={1}, inserted_window_dims={0}, \
scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add, metadata={op_name="step/grad"}
  ROOT n = f32[65536,1024] negate(s)
}
"""
BEFORE = """HloModule m

ENTRY e {
  x = f32[65536,1024] parameter(0)
  u = f32[8,1024] parameter(1)
  z = f32[] constant(0)
  ROOT p = f32[65536,1024] select-and-scatter(x, u, z), window={size=8192x1 stride=8192x1}, \
select=ge, scatter=add, metadata={op_name="step/grad"}
}
"""


@pytest.mark.parametrize(
    ("before", "advice"),
    [("", "embedding table"), (BEFORE, "max-pool"), (BEFORE.replace("grad", "x"), "embedding")],
)
def test_the_gradient_of_a_max_pool_is_no_embedding_table(
    case_of: MakeCase, before: str, advice: str
) -> None:
    (finding,) = dense_gradients(case_of(AFTER, before))
    assert advice in finding.suggestion
    assert ("all else" in finding.evidence) == ("embedding" in advice)


ELEMENTS = """HloModule m, is_scheduled=true

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

ENTRY e {
  i = s32[1024,2] parameter(0)
  u = f32[1024,1,1] parameter(1)
  a = f32[8192,8192] parameter(2)
  z = f32[] constant(0)
  b = f32[1024,1024] broadcast(z), dimensions={}
  p = f32[8192,8192] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[1024,1024] scatter(b, i, u), update_window_dims={1,2}, inserted_window_dims={}, \
scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add
  n = f32[1024,1024] negate(s)
  ROOT t = (f32[1024,1024], f32[8192,8192]) tuple(n, p)
}
"""
SCHEDULE = ("b", "p", "s", "n")


def with_memory(case: Case, others: int, last: int) -> Case:
    """Return a case whose zeros live up to a position, with so many bytes beside them at 1."""
    size = 4 << 20
    text = (
        f"BufferAssignment:\nallocation 0: size {size + others}, preallocated-temp:\n"
        f" value: <1 b @0> (size={size},offset=0): f32[1024,1024]{{1,0}}\n"
        f" value: <2 s @0> (size={size},offset=0): f32[1024,1024]{{1,0}}\n"
        f" value: <3 p @0> (size={others},offset={size}): f32[8192,8192]{{1,0}}\n"
    )
    assignment, _ = read_buffer_assignment(text.encode(), "b.txt")
    lives = (("b", 0, last), ("p", 1, 1), ("s", 2, 3))
    ranges = tuple(LiveRange(name, (), first, end) for name, first, end in lives)
    live = LiveRanges(SCHEDULE, ranges, None, ())
    return replace(case, memory_files=MemoryFiles(assignment, live, ()))


def test_a_short_scatter_counts_by_its_share_of_the_peak(case_of: MakeCase) -> None:
    """It takes little time beside the product, but its zeros wait at the peak."""
    case = case_of(ELEMENTS)
    assert not [*dense_gradients(case)]
    (finding,) = dense_gradients(with_memory(case, 16 << 20, 2))
    assert "The buffer is 20% of the peak of device memory, at schedule position 1" in (
        finding.evidence
    )
    assert finding.evidence.endswith("it is filled at 0 and first read at 2.")
    assert "jnp.take_along_axis" in finding.suggestion
    assert "all else" not in finding.evidence
    assert not [*dense_gradients(with_memory(case, 256 << 20, 2))]


def test_a_small_buffer_is_no_matter_whatever_its_share(case_of: MakeCase) -> None:
    """It has 256 KiB of 5 MiB."""
    text = ELEMENTS.replace("1024,1024", "256,256").replace("[1024", "[256")
    assert "f32[256,256] scatter" in text
    assert not [*dense_gradients(with_memory(case_of(text), 1 << 20, 2))]


def test_what_is_not_in_use_at_the_peak_counts_by_time_alone(case_of: MakeCase) -> None:
    text = ELEMENTS.replace("  b = f32[1024,1024] broadcast(z), dimensions={}\n", "")
    line = "  b = f32[1024,1024] broadcast(z), dimensions={}\n  s ="
    case = with_memory(case_of(text.replace("  s =", line)), 16 << 20, 2)
    files = case.memory_files
    assert files is not None
    assert files.live is not None
    ranges = (LiveRange("b", (), 2, 2), *files.live.ranges[1:])
    live = replace(files.live, ranges=ranges)
    assert not [*dense_gradients(replace(case, memory_files=replace(files, live=live)))]
