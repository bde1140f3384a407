from collections.abc import Callable
from typing import TypeAlias

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.cost.roofline import (
    count_unmodeled,
    estimate_asynchronous_time,
    estimate_time,
)
from xlareport.analysis.cost.work import ModuleCost, count_cost
from xlareport.hlo.model import HloModule
from xlareport.knowledge.devices import Device
from xlareport.knowledge.interconnects import Interconnect

Count: TypeAlias = Callable[[str], ModuleCost]
ReadFile: TypeAlias = Callable[[str, str], HloModule]

DEVICE = Device("d", "a device", {"bf16": 100.0, "f32": 50.0}, {"f32": 10.0}, 4.0, "none")
TEXT = """ENTRY e {
  a = f32[10,10] parameter(0)
  product = f32[10,10] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  small = f32[10,10] negate(product)
  ROOT unknown = f32[10,10] custom-call(small), custom_call_target="mystery"
}"""


def test_the_slower_of_arithmetic_and_memory(count: Count) -> None:
    cost = count(TEXT)
    product = estimate_time(cost.instructions["e", "product"], DEVICE)
    assert product.arithmetic == 2000 / 50
    assert product.memory == 1200 / 4
    assert (product.seconds, product.bound) == (300, "memory")
    assert cost.instructions["e", "product"].intensity == 2000 / 1200


def test_a_type_without_a_figure_takes_the_fastest(count: Count) -> None:
    cost = count(TEXT.replace("f32", "s4"))
    assert estimate_time(cost.instructions["e", "product"], DEVICE).arithmetic == 20


def test_what_is_unknown_has_no_least_time(count: Count) -> None:
    cost = count(TEXT)
    assert estimate_time(cost.instructions["e", "unknown"], DEVICE) is None
    assert cost.instructions["e", "a"].intensity is None


def test_what_a_tpu_holds_on_the_chip_does_not_wait_for_memory(count: Count) -> None:
    cost = count(
        """ENTRY e {
  a = f32[256,128]{1,0:T(8,128)S(1)} parameter(0)
  ROOT n = f32[256,128]{1,0:T(8,128)} negate(a)
}"""
    )
    negate = cost.instructions["e", "n"]
    assert negate.bytes_accessed == 2 * 256 * 128 * 4
    assert negate.main_memory_bytes == 256 * 128 * 4


def test_a_fusion_of_what_is_on_the_chip(count: Count) -> None:
    cost = count(
        """inner {
  p = f32[256,128]{1,0:T(8,128)} parameter(0)
  ROOT b = f32[256,128]{1,0:T(8,128)} bitcast(p)
}

fused {
  p = f32[256,128]{1,0:T(8,128)S(1)} parameter(0)
  i = f32[256,128]{1,0:T(8,128)} fusion(p), kind=kLoop, calls=inner
  ROOT n = f32[256,128]{1,0:T(8,128)} negate(i)
}

ENTRY e {
  a = f32[256,128]{1,0:T(8,128)S(1)} parameter(0)
  ROOT f = f32[256,128]{1,0:T(8,128)} fusion(a), kind=kLoop, calls=fused
}"""
    )
    assert cost.instructions["e", "f"].main_memory_bytes == 256 * 128 * 4


@pytest.mark.parametrize(
    ("buffer", "update", "written", "read"),
    [("S(1)", "", 0, 4096), ("", "S(1)", 4096, 0), ("S(1)", "S(1)", 0, 0), ("", "", 4096, 4096)],
)
@pytest.mark.parametrize("is_fused", [False, True])
def test_a_part_lies_where_the_whole_does(
    count: Count, buffer: str, update: str, written: int, read: int, *, is_fused: bool
) -> None:
    whole, part = f"f32[64,128]{{1,0:T(8,128){buffer}}}", f"f32[8,128]{{1,0:T(8,128){update}}}"
    parameters = (
        f"  b = {whole} parameter(0)\n  u = {part} parameter(1)\n  i = s32[] parameter(2)\n"
    )
    inner = f"  c = {part.replace('S(1)', '')} copy(u)\n" if is_fused else ""
    source = "c" if is_fused else "u"
    body = f"{parameters}{inner}  ROOT d = {whole} dynamic-update-slice(b, {source}, i, i)\n"
    if is_fused:
        call = f"{parameters}  ROOT d = {whole} fusion(b, u, i), kind=kLoop, calls=fused\n"
        body = f"fused {{\n{body}}}\n\nENTRY e {{\n{call}}}"
    else:
        body = f"ENTRY e {{\n{body}}}"
    cost = count(body)
    index = 4
    assert cost.instructions["e", "d"].main_memory_bytes == written + read + index


@pytest.mark.parametrize("is_fused", [False, True])
def test_a_slice_that_goes_to_memory_on_the_chip_is_read_from_hbm(
    count: Count, *, is_fused: bool
) -> None:
    whole, part = "f32[64,128]{1,0:T(8,128)}", "f32[8,128]{1,0:T(8,128)S(1)}"
    parameters = f"  b = {whole} parameter(0)\n  i = s32[] parameter(1)\n"
    body = f"{parameters}  ROOT d = {part} dynamic-slice(b, i, i), dynamic_slice_sizes={{8,128}}\n"
    call = f"{parameters}  ROOT d = {part} fusion(b, i), kind=kLoop, calls=fused\n"
    text = f"fused {{\n{body}}}\n\nENTRY e {{\n{call}}}" if is_fused else f"ENTRY e {{\n{body}}}"
    cost = count(text)
    index = 4
    assert cost.instructions["e", "d"].main_memory_bytes == 4096 + index


def test_what_other_work_can_hide_stands_apart(
    count: Count, module_of: Callable[[str], HloModule]
) -> None:
    text = """ENTRY e {
  a = f32[10,10] parameter(0)
  begun = (f32[10,10], f32[10,10], u32[]) copy-start(a)
  product = f32[10,10] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sent = f32[10,10] all-reduce-start(product), replica_groups={}, \
backend_config={"collective_backend_config":{"is_sync":true}}
  all = f32[10,10] all-reduce-done(sent)
  ended = f32[10,10] copy-done(begun)
  ROOT sum = f32[10,10] add(all, ended)
}"""
    cost = count(text)
    copied = estimate_time(cost.instructions["e", "begun"], DEVICE)
    assert copied.seconds > 0
    assert estimate_asynchronous_time(module_of(text), cost, DEVICE) == copied.seconds


def test_what_an_async_start_runs_is_asynchronous(
    count: Count, module_of: Callable[[str], HloModule]
) -> None:
    text = """piece {
  whole = f32[1024] parameter(0)
  ROOT part = f32[512] slice(whole), slice={[0:512]}
}

ENTRY e {
  a = f32[1024] parameter(0)
  begun = ((f32[1024]), f32[512], s32[]) async-start(a), calls=piece
  work = f32[1024] negate(a)
  ROOT ended = f32[512] async-done(begun)
}"""
    cost = count(text)
    part = estimate_time(cost.instructions["piece", "part"], DEVICE)
    assert part is not None
    assert part.seconds > 0
    assert estimate_asynchronous_time(module_of(text), cost, DEVICE) == part.seconds


def test_collectives_between_the_cores_of_a_chip_have_no_modeled_time() -> None:
    """Of two devices on each chip, a group of two sends nothing over links."""
    text = """HloModule m, num_partitions=4

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  a = f32[64] parameter(0)
  within = f32[64] all-reduce(a), channel_id=1, use_global_device_ids=true, \
replica_groups={{0,1},{2,3}}, to_apply=add
  ROOT all = f32[64] all-reduce(within), channel_id=2, use_global_device_ids=true, \
replica_groups={{0,1,2,3}}, to_apply=add
}"""
    links = Interconnect("torus", 100.0, "none", link=50.0, dimensions=1)
    cost = count_cost(parse_module(text))
    paired = replace(DEVICE, devices_per_chip=2, links=links)
    unmodeled = count_unmodeled(cost, paired)
    assert unmodeled is not None
    assert unmodeled.count == 1
    assert "between the devices of a chip" in unmodeled.reason
    assert count_unmodeled(cost, replace(paired, devices_per_chip=1)) is None
