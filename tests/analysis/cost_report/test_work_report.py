"""Totals, loops and what could not be counted."""

from collections.abc import Callable
from pathlib import Path

from tests.modules import parse_module

from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.cost_report.work_report import (
    list_loops,
    list_uncounted,
    sum_totals,
)
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.devices import devices, nominal_device

CPU = nominal_device("cpu")
LOOPS = """HloModule m, is_scheduled=true, num_partitions=4, replica_count=2

body {
  s = (s32[], s32[], f32[8]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  k = s32[] get-tuple-element(s), index=1
  v = f32[8] get-tuple-element(s), index=2
  one = s32[] constant(1)
  m = s32[] add(n, one)
  w = f32[8] tanh(v)
  ROOT t = (s32[], s32[], f32[8]) tuple(m, k, w)
}

condition {
  s = (s32[], s32[], f32[8]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  k = s32[] get-tuple-element(s), index=1
  ROOT c = pred[] compare(n, k), direction=LT
}

ENTRY e {
  zero = s32[] constant(0)
  k = s32[] parameter(0)
  x = f32[8] parameter(1)
  s = (s32[], s32[], f32[8]) tuple(zero, k, x)
  loop = (s32[], s32[], f32[8]) while(s), condition=condition, body=body
  v = f32[8] get-tuple-element(loop), index=2
  ROOT q = f32[8] custom-call(v), custom_call_target="mystery"
}
"""


def module() -> HloModule:
    return parse_module(LOOPS)


def test_a_loop_of_unknown_length_is_exposed_and_makes_figures_at_least_so_much() -> None:
    made = module()
    cost = count_cost(made)
    assert [key for key, one in cost.trip_counts.items() if one.count is None] == [("e", "loop")]
    totals = sum_totals(cost)
    assert totals.is_partial
    assert totals.unknown_ops == 2
    assert totals.transcendentals == 8, "one round is counted"
    (row,) = list_loops(made, cost, CPU)
    assert (row.instruction, row.trip_count.count, row.executions) == ("loop", None, 1)
    assert row.seconds
    (unknown,) = list_uncounted(made, cost)
    assert (unknown.instruction, unknown.opcode) == ("q", "custom-call")
    assert unknown.reason


def test_figures_are_of_one_device_of_partitions_times_replicas() -> None:
    cost = count_cost(module())
    assert (cost.num_partitions, cost.num_replicas, cost.num_devices) == (4, 2, 8)
    assert sum_totals(cost).devices == 8


def test_a_known_loop_counts_its_rounds(unpacked: Callable[[str], Path]) -> None:
    path = next(unpacked("tpu-v5e-scan").glob("*train_step*.after_optimizations.txt"))
    made = TextReader().read(path.read_bytes(), path.name)
    assert made is not None
    cost = count_cost(made)
    assert sum_totals(cost).bytes_accessed == cost.bytes_accessed
    rows = list(list_loops(made, cost, devices()["tpu-v5e"]))
    assert [row.trip_count.count for row in rows] == [11, 11]
    assert all(row.trip_count.grade == "exact" and row.seconds for row in rows)
    assert not sum_totals(cost).is_partial
