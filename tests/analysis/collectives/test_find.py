"""Each form in which a backend writes a collective, and that each counts once."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.collective_rows import CollectiveRow
from xlareport.analysis.collectives.find import find_collectives, find_results
from xlareport.hlo.model import HloModule

ReadText = Callable[[str], HloModule]
Rows = Callable[[str, str], dict[str, CollectiveRow]]
Measure = Callable[[HloModule, str], dict[str, CollectiveFigures]]

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


def test_a_collective_sends_when_the_last_part_has_its_data(read_text: ReadText) -> None:
    module = read_text(
        """inner {
  p = f32[4] parameter(0)
  ROOT g = f32[16] all-gather(p), dimensions={0}, replica_groups={{0,1,2,3}}
}

ENTRY e {
  a = f32[4] parameter(0)
  s = ((), (), s32[]) async-start(), calls=inner
  u = ((f32[4]), f32[16], s32[]) async-update(s, a)
  ROOT d = f32[16] async-done(u)
}"""
    )
    (only,) = find_collectives(module)
    home = module.by_name["e"]
    assert (only.instruction, only.first_sending(home)) == ("s", "u")
    assert only.data_operands(home, "u") == ("a",)


def test_what_calls_a_computation_for_a_collective_has_its_result(read_text: ReadText) -> None:
    module = read_text(
        """inner {
  p = f32[4] parameter(0)
  ROOT g = f32[16] all-gather(p), dimensions={0}, replica_groups={{0,1,2,3}}
}

around {
  q = f32[4] parameter(0)
  ROOT c = f32[16] custom-call(q), custom_call_target="offload", called_computations={inner}
}

more {
  o = f32[4] parameter(0)
  h = f32[16] all-gather(o), dimensions={0}, replica_groups={{0,1,2,3}}
  ROOT n = f32[16] negate(h)
}

ENTRY e {
  a = f32[4] parameter(0)
  s = ((f32[4]), f32[16], s32[]) async-start(a), calls=around
  d = f32[16] async-done(s)
  m = f32[16] call(a), to_apply=more
  ROOT r = f32[16] add(d, m)
}"""
    )
    results = find_results(module)
    assert set(results) == {"g", "c", "s", "d", "h"}
    assert set(results.values()) == {"all-gather"}


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


GATHER = (
    "all-gather(p), dimensions={0}, channel_id=35, use_global_device_ids=true, "
    'replica_groups={{0,1},{2,3},{4,5},{6,7}}, frontend_attributes={chain_id="0"}'
)


def _around_a_loop(chain: str = "0") -> str:
    """Return an asynchronous all-gather that a loop continues, beside work of its own."""
    inside = GATHER.replace('chain_id="0"', f'chain_id="{chain}"')
    return f"""begin {{
  p = f32[16] parameter(0)
  g = f32[32] {GATHER}
  ROOT c = (f32[16], f32[32]) custom-call(g), custom_call_target="AsyncCollectiveStart"
}}

go_on {{
  p = f32[16] parameter(0)
  q = f32[32] parameter(1)
  w = f32[4096,4096] parameter(2)
  t = f32[4096,4096] dot(w, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  g = f32[32] {inside}
  ROOT r = (f32[4096,4096], f32[16], f32[32]) tuple(t, p, g)
}}

finish {{
  p = f32[16] parameter(0)
  q = f32[32] parameter(1)
  g = f32[32] {GATHER}
  ROOT c = f32[32] custom-call(p, q, g), custom_call_target="AsyncCollectiveDone"
}}

body {{
  s = (s32[], f32[4096,4096], f32[16], f32[32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  w = f32[4096,4096] get-tuple-element(s), index=1
  p = f32[16] get-tuple-element(s), index=2
  q = f32[32] get-tuple-element(s), index=3
  k = s32[] constant(1)
  j = s32[] add(i, k)
  f = (f32[4096,4096], f32[16], f32[32]) fusion(p, q, w), kind=kOutput, calls=go_on
  fw = f32[4096,4096] get-tuple-element(f), index=0
  fp = f32[16] get-tuple-element(f), index=1
  fq = f32[32] get-tuple-element(f), index=2
  ROOT r = (s32[], f32[4096,4096], f32[16], f32[32]) tuple(j, fw, fp, fq)
}}

condition {{
  s = (s32[], f32[4096,4096], f32[16], f32[32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT l = pred[] compare(i, n), direction=LT
}}

ENTRY e {{
  a = f32[16] parameter(0)
  w = f32[4096,4096] parameter(1)
  b = (f32[16], f32[32]) fusion(a), kind=kCustom, calls=begin
  bp = f32[16] get-tuple-element(b), index=0
  bq = f32[32] get-tuple-element(b), index=1
  z = s32[] constant(0)
  t = (s32[], f32[4096,4096], f32[16], f32[32]) tuple(z, w, bp, bq)
  l = (s32[], f32[4096,4096], f32[16], f32[32]) while(t), condition=condition, body=body, \
backend_config={{"known_trip_count":{{"n":"4"}}}}
  lp = f32[16] get-tuple-element(l), index=2
  lq = f32[32] get-tuple-element(l), index=3
  ROOT d = f32[32] fusion(lp, lq), kind=kCustom, calls=finish
}}"""


def test_a_collective_that_a_loop_continues_is_one(read_text: ReadText) -> None:
    (only,) = find_collectives(read_text(_around_a_loop()))
    assert (only.instruction, only.done, only.parts) == ("b", "d", ("b", "d"))
    assert only.inner == (("body", "f"),)
    assert only.form == "async fusions"


def test_pieces_of_another_chain_are_another_collective(read_text: ReadText) -> None:
    every = find_collectives(read_text(_around_a_loop(chain="1")))
    assert {collective.instruction for collective in every} == {"f", "b"}


def test_what_a_loop_continues_is_hidden_by_its_work(
    read_text: ReadText, measured: Measure
) -> None:
    """The work of all iterations of one execution, however often the loop itself is executed."""
    (only,) = measured(read_text(_around_a_loop()), "tpu-v5e").values()
    once = 4 * 2 * 4096**3 / 197e12
    assert only.overlap.work_seconds == pytest.approx(once, rel=0.05)
    assert only.overlap.between == ("l",)


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


def test_a_fusion_that_computes_with_a_collective_is_not_its_result(read_text: ReadText) -> None:
    module = read_text(
        f"""{ADD}
fused {{
  p = f32[64] parameter(0)
  q = f32[64] parameter(1)
  r = f32[64] all-reduce(p), channel_id=1, to_apply=add
  m = f32[64] multiply(r, q)
  ROOT t = (f32[64], f32[64]) tuple(m, q)
}}

ENTRY e {{
  a = f32[64] parameter(0)
  b = f32[64] parameter(1)
  f = (f32[64], f32[64]) fusion(a, b), kind=kCustom, calls=fused
  ROOT g = f32[64] get-tuple-element(f), index=0
}}"""
    )
    assert set(find_results(module)) == {"r"}
