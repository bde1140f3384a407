"""Each form in which a backend writes a collective, and that each counts once."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.collectives.rows import CollectiveRow
from xlareport.hlo.model import HloModule

ReadText = Callable[[str], HloModule]
Rows = Callable[[str, str], dict[str, CollectiveRow]]

ADD = """add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
"""


def test_a_start_and_its_done_are_one(read_text: ReadText) -> None:
    module = read_text(
        """ENTRY e {
  a = f32[4] parameter(0)
  s = (f32[4], f32[16]) all-gather-start(a), dimensions={0}, replica_groups={{0,1,2,3}}
  d = f32[16] all-gather-done(s)
  ROOT n = f32[16] negate(d)
}"""
    )
    (only,) = find_collectives(module)
    assert (only.kind, only.instruction, only.done) == ("all-gather", "s", "d")
    assert (only.form, only.parts, only.body) == ("start and done", ("s", "d"), ("e", "s"))


def test_an_asynchronous_computation_is_shown_where_it_is_scheduled(read_text: ReadText) -> None:
    module = read_text(
        f"""{ADD}
inner {{
  p = f32[16] parameter(0)
  ROOT r = f32[4] reduce-scatter(p), dimensions={{0}}, replica_groups={{{{0,1,2,3}}}}, to_apply=add
}}

wrapped {{
  p = f32[16] parameter(0)
  ROOT c = f32[4] call(p), to_apply=inner
}}

ENTRY e {{
  a = f32[16] parameter(0)
  s = ((f32[16]), f32[4]) async-start(a), async_execution_thread="sparsecore", calls=wrapped
  u = ((f32[16]), f32[4]) async-update(s)
  ROOT d = f32[4] async-done(u)
}}"""
    )
    (only,) = find_collectives(module)
    assert (only.kind, only.instruction, only.body) == ("reduce-scatter", "s", ("inner", "r"))
    assert (only.parts, only.form, only.thread) == (
        ("s", "u", "d"),
        "async computation",
        "sparsecore",
    )


def test_a_fusion_of_an_all_reduce_and_a_slice_is_a_reduce_scatter(read_text: ReadText) -> None:
    module = read_text(
        f"""{ADD}
all-reduce-scatter.1 {{
  p = f32[16] parameter(0)
  r = f32[16] all-reduce(p), replica_groups={{{{0,1,2,3}}}}, to_apply=add
  i = s32[] constant(0)
  ROOT d = f32[4] dynamic-slice(r, i), dynamic_slice_sizes={{4}}
}}

ENTRY e {{
  a = f32[16] parameter(0)
  ROOT f = f32[4] fusion(a), kind=kCustom, calls=all-reduce-scatter.1
}}"""
    )
    (only,) = find_collectives(module)
    assert (only.kind, only.instruction, only.form) == ("reduce-scatter", "f", "fusion")


def test_fusions_that_carry_out_one_collective_are_one(rows_of: Rows) -> None:
    rows = rows_of("sharded-tpu", "jit_fsdp_step")
    row = rows["async-collective-start"]
    assert row.collective.form == "async fusions"
    assert len(row.collective.parts) > 2
    assert row.collective.done == "async-collective-done"
    assert [one.collective.kind for one in rows.values()].count("all-gather") == 2


def test_what_the_entry_does_not_reach_does_not_count(read_text: ReadText) -> None:
    module = read_text(
        f"""{ADD}
left {{
  p = f32[16] parameter(0)
  ROOT r = f32[16] all-reduce(p), replica_groups={{}}, to_apply=add
}}

ENTRY e {{
  ROOT a = f32[16] parameter(0)
}}"""
    )
    assert find_collectives(module) == ()


def test_two_of_one_channel_in_one_computation_are_two(rows_of: Rows) -> None:
    kinds = [row.collective.kind for row in rows_of("sharded-cpu", "jit_experts").values()]
    assert sorted(kinds) == ["all-reduce", "all-to-all", "all-to-all"]


def test_what_the_backend_notes_of_a_start(rows_of: Rows) -> None:
    rows = rows_of("sharded-gpu", "jit_fsdp_step")
    assert rows["all-gather-start"].collective.is_sync is True
    assert rows["reduce-scatter-start"].collective.is_sync is False
    assert rows_of("sharded-cpu", "jit_fsdp_step")["all-gather"].collective.is_sync is None


@pytest.mark.parametrize(
    ("dump", "kind", "thread", "wire_bytes"),
    [
        ("overlapped-gpu", "collective-broadcast", "", (1 << 20, 1 << 20)),
        ("overlapped-gpu", "ragged-all-to-all", "", (1 << 19, 3 << 17)),
        ("overlapped-tpu", "ragged-all-to-all", "sparsecore", (1 << 19, 3 << 17)),
    ],
)
def test_rare_kinds_in_an_asynchronous_computation(
    dump: str, kind: str, thread: str, wire_bytes: tuple[int, int], rows_of: Rows
) -> None:
    (row,) = rows_of(dump, "jit_ragged" if kind.startswith("ragged") else "jit_broadcast").values()
    collective, figures = row.collective, row.figures
    assert (collective.kind, collective.form) == (kind, "async computation")
    assert collective.thread == thread
    assert (figures.data_bytes, figures.wire_bytes) == wire_bytes
    assert figures.group_size == 4


def test_a_reduce_scatter_of_a_gpu_is_checked_where_it_is_scheduled(rows_of: Rows) -> None:
    row = rows_of("sharded-gpu", "jit_fsdp_step")["reduce-scatter-start"]
    assert row.collective.form == "async computation"
    assert row.collective.done == "reduce-scatter-done"
    assert row.figures.overlap.between is not None or row.collective.is_sync
    assert row.figures.overlap.reason is not None or not row.figures.overlap.exposed_seconds
