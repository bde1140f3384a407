"""An all-reduce of which each device reads a part could be a reduce-scatter."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.kept_parts import describe_kept_parts
from xlareport.runtime import units

HEAD = """HloModule m, is_scheduled=true, num_partitions=4

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

part {
  p = f32[64,8] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  c = f32[64,8] copy(p)
  ROOT d = f32[16,8] dynamic-slice(c, i, z), dynamic_slice_sizes={16,8}
}

ENTRY e {
  a = f32[64,8] parameter(0)
  b = f32[64,8] parameter(1)
  i = s32[] parameter(2)
  zero = s32[] constant(0)
  r = (f32[64,8], f32[64,8]) all-reduce(a, b), channel_id=1, replica_groups=[1,4]<=[4], \
use_global_device_ids=true, to_apply=add
  first = f32[64,8] get-tuple-element(r), index=0
  second = f32[64,8] get-tuple-element(r), index=1
  f = f32[16,8] fusion(first, i), kind=kLoop, calls=part
"""
SLICE = "  d = f32[16,8] dynamic-slice(second, i, zero), dynamic_slice_sizes={16,8}\n"


@pytest.mark.parametrize(
    ("user", "is_kept"),
    [
        (SLICE, True),
        (SLICE.replace("16", "32"), False),
        (SLICE.replace("16", "8") + SLICE.replace("16", "8").replace(" d ", " h "), False),
        ("  d = f32[64,8] negate(second)\n", False),
    ],
)
def test_only_slices_of_a_device_keep_a_part(
    case_of: Callable[..., Case], user: str, *, is_kept: bool
) -> None:
    case = case_of(f"{HEAD}{user}  ROOT t = (f32[16,8], f32[16,8]) tuple(f, d)\n}}\n")
    saved = sum(figures.sent_bytes for figures in case.collectives) // 2
    words = (
        " Only slices read `r`, 1/4 of it on each device: a reduce-scatter sends half, "
        f"{units.byte_size(saved)} less."
    )
    assert describe_kept_parts(case.module, case.collectives) == (words if is_kept else "")


def test_all_that_are_sliced_are_named_by_the_size_of_their_groups(
    case_of: Callable[..., Case],
) -> None:
    """Not the longest alone; one whose result is read whole is none of them."""
    lines = ["  c = f32[64,8] parameter(3)\n"]
    groups = {"r1": "[1,4]<=[4]", "r2": "[2,2]<=[4]", "r3": "[1,4]<=[4]"}
    for name, group in groups.items():
        rows = 64 // int(group[3])
        attributes = "use_global_device_ids=true, to_apply=add"
        lines.append(
            f"  {name} = f32[64,8] all-reduce(c), channel_id={name[1]}1, replica_groups={group}, "
            f"{attributes}\n"
        )
        slice_sizes = f"dynamic_slice_sizes={{{rows},8}}"
        lines.append(f"  d{name} = f32[{rows},8] dynamic-slice({name}, i, zero), {slice_sizes}\n")
    lines += [SLICE, "  whole = f32[64,8] negate(r3)\n"]
    case = case_of(f"{HEAD}{''.join(lines)}  ROOT t = (f32[16,8], f32[16,8]) tuple(f, d)\n}}\n")
    words = describe_kept_parts(case.module, case.collectives)
    assert "`r`, `r1`, 1/4 of each on each device, and `r2`, 1/2 of it on each device:" in words
    assert "r3" not in words
    small = [figures for figures in case.collectives if figures.collective.instruction != "r"]
    large = replace(small[-1], data_bytes=1 << 30, wire_bytes=1 << 30)
    assert large.collective.instruction == "r3"
    assert describe_kept_parts(case.module, small)
    assert not describe_kept_parts(case.module, [*small, large])
