"""What a skeleton holds: order, loops, spans of asynchronous work, command buffers."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.analysis.cost.test_time_basis import LOOP_SECONDS, ON_CHIP
from tests.analysis.skeleton.program import HEAD, parsed, text

from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.cost.cycles import add_cycles
from xlareport.analysis.skeleton.items import SkeletonItem, every_item
from xlareport.analysis.skeleton.skeleton_outline import read_skeleton
from xlareport.analysis.skeleton.view import view_skeleton
from xlareport.knowledge.devices import devices
from xlareport.skeleton import module_skeleton, skeleton_text

SEQUENCE = """\
000: kCommandBuffer [source       | next=003 (1)]
    001: kCustomKernel [source        | sink] attention_0 grid: [1, 1, 1]
    002: kCustomKernel [source        | sink] mlp_0 grid: [1, 1, 1]
003: kAllReduce     [prev=000 (1) | sink] kAllReduce
"""


def items_of(folder: Path, content: str = "", **side_files: str) -> dict[str, SkeletonItem]:
    skeleton = module_skeleton(parsed(folder, content or text(), **side_files))
    assert skeleton.problems == ()
    return {item.name: item for _, item in every_item(skeleton.items)}


def test_items_stand_in_the_order_of_the_schedule(tmp_path: Path) -> None:
    names = list(items_of(tmp_path, text(layers=1)))
    assert names == [
        *("attention.0", "mlp.0", "start", "beside.1", "beside.2", "done", "loop"),
        *("more", "next", "inner", "either", "left", "l.1", "right", "r.1"),
    ]


def test_a_loop_takes_its_rounds_times(tmp_path: Path) -> None:
    items = items_of(tmp_path)
    loop, inner = items["loop"], items["inner"]
    assert loop.trip_count == 5
    assert loop.seconds is not None
    assert inner.seconds is not None
    assert loop.seconds == 5 * sum(child.seconds or 0.0 for child in loop.children)
    # 4 MiB read and 4 MiB written at 3.35 TB/s
    assert abs(inner.seconds - 2 * 4 * 1024 * 1024 / 3.35e12) < 1e-9


def test_an_unknown_trip_count_is_said(tmp_path: Path) -> None:
    content = text().replace("%end = s32[] constant(5)", "%end = s32[] partition-id()")
    loop = items_of(tmp_path, content)["loop"]
    assert loop.trip_count is None
    assert loop.note == "trip count not known: counted once"


def test_a_collective_names_its_end_and_what_runs_meanwhile(tmp_path: Path) -> None:
    items = items_of(tmp_path)
    start = items["start"]
    assert (start.kind, start.lane, start.done, start.beside) == (
        *("collective", "collectives"),
        *("done", {"kernel": 2}),
    )
    assert start.beside_seconds == pytest.approx(2 * (items["beside.1"].seconds or 0.0))
    assert items["done"].done == "start"
    assert items["done"].seconds == pytest.approx((start.seconds or 0.0) - start.beside_seconds)


def test_a_synchronous_collective_takes_its_time_and_waits_for_nothing(tmp_path: Path) -> None:
    config = 'backend_config={"collective_backend_config":{"is_sync":true}}'
    content = text().replace("all-reduce-start(%x),", f"all-reduce-start(%x), {config},")
    skeleton = module_skeleton(parsed(tmp_path, content))
    assert content != text()
    items = {item.name: item for _, item in every_item(skeleton.items)}
    assert "done" not in items
    assert not items["start"].is_async
    before = module_skeleton(parsed(tmp_path, text()))
    hidden = 2 * (items["beside.1"].seconds or 0.0)
    assert skeleton.seconds == pytest.approx(before.seconds + hidden)
    assert "roofline time of all instructions" in skeleton_text(before)
    assert "roofline time of all instructions" not in skeleton_text(skeleton)


def test_of_a_conditional_the_longest_branch_counts(tmp_path: Path) -> None:
    items = items_of(tmp_path)
    either = items["either"]
    assert [branch.kind for branch in either.children] == ["branch", "branch"]
    assert either.seconds == max(branch.seconds or 0.0 for branch in either.children)


def test_members_of_a_command_buffer_stand_in_it(tmp_path: Path) -> None:
    items = items_of(tmp_path, thunk_sequence_after_thunk_passes=SEQUENCE)
    buffer = items["command_buffer_1"]
    assert buffer.kind == "command buffer"
    assert [child.name for child in buffer.children] == ["attention.0", "mlp.0"]
    assert "matched" in buffer.note


def test_the_metadata_of_thunks_names_the_members_exactly(tmp_path: Path) -> None:
    rows = "".join(
        f'thunk_metadata {{\n  thunk_info {{\n    profile_annotation: "{name}"\n'
        f'    thunk_id: {number}\n  }}\n  thunk_kind: "kCustomKernel"\n}}\n'
        for number, name in ((1, "mlp.1"), (2, "attention.2"))
    )
    items = items_of(tmp_path, thunk_sequence_after_thunk_passes=SEQUENCE, thunk_metadata=rows)
    assert [child.name for child in items["command_buffer_1"].children] == [
        *("mlp.1", "attention.2"),
    ]
    assert "metadata" in items["command_buffer_1"].note


def test_an_id_in_a_command_buffer_is_a_member_as_on_the_page_of_kernels(tmp_path: Path) -> None:
    """XLA writes the id of the partition by a thunk of its own."""
    content = text().replace("  %start = ", "  %id = u32[] partition-id()\n  %start = ")
    assert "id" not in items_of(tmp_path, content)
    line = "    003: kPartitionId [source        | sink] kPartitionId\n004: kAllReduce"
    sequence = SEQUENCE.replace("003: kAllReduce", line)
    rows = "".join(
        f'thunk_metadata {{\n  thunk_info {{\n    profile_annotation: "{name}"\n'
        f'    thunk_id: {number}\n  }}\n  thunk_kind: "{kind}"\n}}\n'
        for number, name, kind in (
            (1, "attention.2", "kCustomKernel"),
            (2, "mlp.2", "kCustomKernel"),
            (3, "id", "kPartitionId"),
        )
    )
    names = {"thunk_sequence_after_thunk_passes": sequence, "thunk_metadata": rows}
    items = items_of(tmp_path, content, **names)
    members = [child.name for child in items["command_buffer_1"].children]
    assert members == ["attention.2", "mlp.2", "id"]


def test_a_call_of_a_command_buffer_is_one(tmp_path: Path) -> None:
    content = text().replace("%left (l:", "%command_buffer (l:").replace("=%left,", "=%right,")
    content = content.replace(
        "  %start = ",
        "  %called = f32[1024,1024]{1,0} call(%x), to_apply=%command_buffer\n  %start = ",
    )
    assert items_of(tmp_path, content)["called"].kind == "command buffer"


def test_without_a_schedule_the_order_is_said_to_be_topological(tmp_path: Path) -> None:
    head = HEAD.replace("is_scheduled=true, ", "")
    shown = skeleton_text(module_skeleton(parsed(tmp_path, text(head=head))))
    assert "Order: topological. The module is not scheduled" in shown
    assert "Times are estimates" in shown


def test_computations_that_go_round_are_a_problem(tmp_path: Path) -> None:
    content = text().replace("calls=%fused\n  ROOT %state.2", "calls=%body\n  ROOT %state.2")
    assert module_skeleton(parsed(tmp_path, content)).items == ()


UPDATE = """  %grad = f32[1024,1024]{1,0} fusion(%x), kind=kLoop, calls=%fused, METADATA1
  %update = f32[1024,1024]{1,0} fusion(%grad), kind=kLoop, calls=%fused, METADATA2
  %start ="""


def test_the_phase_before_a_scope_is_that_of_the_cost_report(tmp_path: Path) -> None:
    update = UPDATE.replace("METADATA1", 'metadata={op_name="jit(step)/transpose(jvp())/mul"}')
    content = text(layers=1).replace(
        "  %start =", update.replace("METADATA2", 'metadata={op_name="jit(step)/sub"}')
    )
    items = items_of(tmp_path, content)
    scopes = [items[name].scope for name in ("attention.0", "grad", "update")]
    assert scopes == ["forward layer_0/attention", "backward", "optimizer"]
    shown = skeleton_text(module_skeleton(parsed(tmp_path, content)))
    assert "backward: 2 kernels" not in shown
    unmarked = content.replace("jit(step)/sub", "jit(step)/dot_general")
    assert items_of(tmp_path, unmarked)["update"].scope == "phase not known"


@pytest.mark.parametrize(
    ("size", "line"), [(8, "optimizer/adam: 2 kernels"), (4096, "2 kernels, longest bare")]
)
def test_a_line_has_a_scope_if_most_of_its_time_is_of_it(
    size: int, line: str, tmp_path: Path
) -> None:
    update = UPDATE.replace("METADATA1", 'metadata={op_name="jit(step)/transpose(jvp())/mul"}')
    update = update.replace("METADATA2", 'metadata={op_name="jit(step)/optimizer/adam/sub"}')
    bare = (
        f"  %small = f32[{size},1024]{{1,0}} parameter(9)\n"
        f"  %bare = f32[{size},1024]{{1,0}} fusion(%small), kind=kLoop, calls=%fused\n  %start ="
    )
    content = text(layers=1).replace("  %start =", update.replace("  %start =", bare))
    assert items_of(tmp_path, content)["update"].scope == "optimizer/adam"
    assert line in skeleton_text(module_skeleton(parsed(tmp_path, content)))


SCATTERED = """HloModule jit_f, is_scheduled=true, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

all-reduce-scatter.1 {
  p = f32[16] parameter(0)
  r = f32[16] all-reduce(p), replica_groups={{0,1,2,3}}, to_apply=add
  i = s32[] constant(0)
  ROOT d = f32[4] dynamic-slice(r, i), dynamic_slice_sizes={4}
}

ENTRY e {
  a = f32[16] parameter(0)
  ROOT f = f32[4] fusion(a), kind=kCustom, calls=all-reduce-scatter.1
}
"""


def test_a_fusion_that_is_a_collective_has_its_kind(tmp_path: Path) -> None:
    item = items_of(tmp_path, SCATTERED)["f"]
    assert (item.kind, item.opcode) == ("collective", "reduce-scatter")


STARTED = """HloModule jit_f, is_scheduled=true, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

scattered {
  p = f32[16] parameter(0)
  ROOT r = f32[4] reduce-scatter(p), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add
}

ENTRY e {
  a = f32[16] parameter(0)
  b = ((f32[16]), f32[4]) async-start(a), calls=scattered
  ROOT d = f32[4] async-done(b)
}
"""


def test_a_start_has_the_kind_and_shape_of_what_it_runs(tmp_path: Path) -> None:
    item = items_of(tmp_path, STARTED)["b"]
    assert (item.kind, item.opcode, item.shape) == (
        "collective",
        "reduce-scatter",
        "((f32[16]), 1 more)",
    )


def test_scopes_are_without_control_flow_unless_that_is_all(tmp_path: Path) -> None:
    named = 'metadata={{op_name="jit(f)/while/body/closed_call/{}"}}'
    line = "  ROOT f = f32[4] fusion(a), kind=kCustom, calls=all-reduce-scatter.1"
    for op, scope in (("mlp/dot_general", "mlp"), ("add", "while/body/closed_call")):
        content = SCATTERED.replace(line, f"{line}, {named.format(op)}")
        assert content != SCATTERED
        assert items_of(tmp_path, content)["f"].scope == scope


def test_an_asynchronous_item_counts_with_what_it_runs(tmp_path: Path) -> None:
    skeleton = module_skeleton(parsed(tmp_path, text(layers=1)))
    every = [item for _, item in every_item(skeleton.items)]
    inside = [child for item in every if item.is_async for child in item.children]
    assert view_skeleton(skeleton).items == len(every) - len(inside)


def test_times_are_by_the_cycles_of_the_compiler_where_they_cover_the_module(
    tmp_path: Path,
) -> None:
    costed = cost_module(parsed(tmp_path, ON_CHIP), "tpu")
    cost = add_cycles(costed.cost, costed.hlo, costed.hlo)
    costed = replace(costed, cost=cost, device=devices()["tpu-v4"])
    skeleton = read_skeleton(costed)
    (loop,) = [item for item in skeleton.items if item.kind == "loop"]
    assert skeleton.time_name == "time by estimated cycles"
    assert loop.seconds == pytest.approx(LOOP_SECONDS, rel=0.01)
