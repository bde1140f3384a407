"""What times are estimated by: the roofline, or the compiler's cycles at the clock of the chip."""

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.collectives.collective_figures import measure_collectives
from xlareport.analysis.collectives.schedule import Schedule
from xlareport.analysis.cost.cycles import add_cycles
from xlareport.analysis.cost.heavy import list_heavy
from xlareport.analysis.cost.roofline import measure_on_chip_share
from xlareport.analysis.cost.time_basis import choose_basis, sum_cycles
from xlareport.analysis.cost.work import ModuleCost, count_cost
from xlareport.analysis.cost_report.work_report import list_loops
from xlareport.knowledge.devices import devices

V4 = devices()["tpu-v4"]
ON_CHIP = """HloModule m, is_scheduled=true, num_partitions=4

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

body {
  state = (s32[], f32[256,256]{1,0:T(8,128)S(3)}) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  w = f32[256,256]{1,0:T(8,128)S(3)} get-tuple-element(state), index=1
  d = f32[256,256]{1,0:T(8,128)S(3)} dot(w, w), lhs_contracting_dims={1}, \
rhs_contracting_dims={0}, backend_config={"estimated_cycles":"10500"}
  k = s32[] constant(1)
  j = s32[] add(i, k)
  ROOT next = (s32[], f32[256,256]{1,0:T(8,128)S(3)}) tuple(j, d)
}

condition {
  state = (s32[], f32[256,256]{1,0:T(8,128)S(3)}) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(100)
  ROOT c = pred[] compare(i, n), direction=LT
}

ENTRY e {
  p = f32[256,256]{1,0:T(8,128)S(3)} parameter(0)
  g = f32[1024,1024]{1,0:T(8,128)} parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[256,256]{1,0:T(8,128)S(3)}) tuple(zero, p)
  r = f32[1024,1024]{1,0:T(8,128)} all-reduce(g), channel_id=1, replica_groups=[1,4]<=[4], \
use_global_device_ids=true, to_apply=add
  loop = (s32[], f32[256,256]{1,0:T(8,128)S(3)}) while(t), condition=condition, body=body, \
backend_config={"known_trip_count":{"n":"100"}}
  ROOT o = (f32[1024,1024]{1,0:T(8,128)}) tuple(r)
}
"""
LOOP_SECONDS = 100 * 10_500 / 1.05e9


@pytest.fixture(scope="module")
def counted() -> ModuleCost:
    module = parse_module(ON_CHIP)
    return add_cycles(count_cost(module), module, module)


def test_cycles_count_at_the_clock_and_what_is_sent_by_the_links(counted: ModuleCost) -> None:
    basis = choose_basis(counted, V4)
    times = basis.times(counted)
    roofline = choose_basis(replace(counted, has_all_cycles=False), V4)
    assert basis.name == "time by estimated cycles"
    assert times["body", "d"] == pytest.approx(LOOP_SECONDS)
    assert times["e", "r"] == roofline.times(counted)["e", "r"] > 0
    assert roofline.name == "roofline time"
    assert roofline.times(counted)["body", "d"] < LOOP_SECONDS / 50
    total = sum_cycles(counted, V4)
    assert total is not None
    assert (total.cycles, total.instructions, total.clock) == (1_050_000, 1, 1.05e9)
    assert total.seconds == pytest.approx(LOOP_SECONDS + times["e", "r"], rel=0.01)


def test_without_a_clock_the_roofline_counts(counted: ModuleCost) -> None:
    other = replace(V4, key="tpu-v2")
    assert choose_basis(counted, other).clock is None
    total = sum_cycles(counted, other)
    assert total is not None
    assert (total.cycles, total.seconds) == (1_050_000, None)


def test_what_runs_on_the_chip_is_the_heaviest_and_hides_the_collective(
    counted: ModuleCost,
) -> None:
    """By the roofline the all-reduce would take most of the time, and little could hide it."""
    module = parse_module(ON_CHIP)
    assert measure_on_chip_share(counted) > 0.8
    by_roofline = replace(counted, has_all_cycles=False)
    ranked = [
        [row.instruction for row in list_heavy(module, cost, V4, 2, {})]
        for cost in (counted, by_roofline)
    ]
    assert ranked == [["d", "r"], ["r", "d"]]
    (loop,) = list_loops(module, counted, V4)
    assert loop.cycles == 1_050_000
    assert loop.seconds == pytest.approx(LOOP_SECONDS, rel=0.01)
    (whole,) = measure_collectives(Schedule(module, counted, V4))
    (part,) = measure_collectives(Schedule(module, by_roofline, V4))
    assert whole.hideable_seconds == whole.exposed_seconds > 10 * part.hideable_seconds
