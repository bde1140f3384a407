"""Bytes by hand: who takes part, how much there is, and what one device sends."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.collective_rows import CollectiveRow
from xlareport.analysis.module import ModuleAnalysis
from xlareport.hlo.model import HloModule
from xlareport.runtime.resources import PACKAGE

ReadText = Callable[[str], HloModule]
Measure = Callable[[HloModule, str], dict[str, CollectiveFigures]]
Analyzed = Callable[[str, str], ModuleAnalysis]
Rows = Callable[[str, str], dict[str, CollectiveRow]]

ADD = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"
FOUR = "replica_groups=[2,4]<=[8], use_global_device_ids=true, channel_id=1"


@pytest.mark.parametrize(
    ("line", "data", "wire"),
    [
        (f"f32[4] all-reduce(a), {FOUR}, to_apply=add", 16, 24),
        (f"f32[16] all-gather(a), {FOUR}, dimensions={{0}}", 64, 48),
        (f"f32[1] reduce-scatter(a), {FOUR}, dimensions={{0}}, to_apply=add", 16, 12),
        ("f32[4] all-to-all(a), replica_groups={{0,1,2,3}}, dimensions={0}", 16, 12),
        ("f32[4] collective-permute(a), source_target_pairs={{0,1},{1,0}}", 16, 16),
    ],
)
def test_bytes_of_each_kind(
    line: str, data: int, wire: int, read_text: ReadText, measured: Measure
) -> None:
    module = read_text(f"{ADD}\nENTRY e {{\n  a = f32[4] parameter(0)\n  ROOT r = {line}\n}}")
    (only,) = measured(module, "nvidia-h100").values()
    assert (only.data_bytes, only.wire_bytes, only.executions) == (data, wire, 1)


SCATTER = f"f32[1] reduce-scatter(a), {FOUR}, dimensions={{0}}, to_apply=add"
REDUCE = f"f32[4] all-reduce(a), {FOUR}, to_apply=add"
GATHER = f"f32[16] all-gather(a), {FOUR}, dimensions={{0}}"


@pytest.mark.parametrize(
    ("line", "strategy", "expected"),
    [
        (REDUCE, "KERNEL_STRATEGY_DEFAULT", (24, "ring")),
        (REDUCE, "KERNEL_STRATEGY_TRITON_ONE_SHOT", (48, "one-shot")),
        (REDUCE, "KERNEL_STRATEGY_TRITON_TWO_SHOT", (24, "two-shot")),
        (GATHER, "KERNEL_STRATEGY_TRITON_ONE_SHOT", (48, "one-shot")),
        (SCATTER, "KERNEL_STRATEGY_TRITON_ONE_SHOT", (12, "one-shot")),
        (REDUCE, "KERNEL_STRATEGY_UNHEARD", (24, "ring, for KERNEL_STRATEGY_UNHEARD is not known")),
        (REDUCE, "<b>", (24, "ring, for its kernel strategy is not known")),
    ],
)
def test_the_kernel_strategy_of_the_config_decides_the_bytes(
    line: str, strategy: str, expected: tuple[int, str], read_text: ReadText, measured: Measure
) -> None:
    """A one-shot all-reduce reads the whole buffer of every other device."""
    config = f'backend_config={{"collective_backend_config":{{"kernel_strategy":"{strategy}"}}}}'
    body = f"a = f32[4] parameter(0)\n  ROOT r = {line}, {config}"
    (only,) = measured(read_text(f"{ADD}\nENTRY e {{\n  {body}\n}}"), "nvidia-h100").values()
    assert (only.wire_bytes, only.algorithm) == expected
    assert only.time.seconds == pytest.approx(expected[0] / 450e9)


@pytest.mark.parametrize(
    ("line", "senders"),
    [
        (REDUCE, 8),
        ("f32[4] collective-permute(a), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3}}", 3),
        ("f32[4] collective-permute(a), channel_id=1, source_target_pairs={{0,0},{1,2}}", 1),
        ("f32[4] collective-permute(a), source_target_pairs={{0,1}}", 8),
        ("f32[4] collective-broadcast(a), channel_id=1, replica_groups={{0,1,2,3},{4,5,6,7}}", 6),
    ],
)
def test_who_sends(line: str, senders: int, read_text: ReadText, measured: Measure) -> None:
    """Without a channel the pairs are replicas, and every partition of them sends."""
    module = read_text(f"{ADD}\nENTRY e {{\n  a = f32[4] parameter(0)\n  ROOT r = {line}\n}}")
    (only,) = measured(module, "nvidia-h100").values()
    assert only.senders == senders


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ("channel_id=1, replica_groups={{0}}", 8),
        ("channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true", 4),
        ("replica_groups={{0,1}}", 2),
        ("channel_id=1, replica_groups={}", 8),
        ("channel_id=1, replica_groups=unheard[of]", None),
        ("channel_id=1, replica_groups=mesh['x'=2,'y'=4] {'y'}, use_global_device_ids=true", 4),
    ],
)
def test_who_takes_part(
    attributes: str, size: int | None, read_text: ReadText, measured: Measure
) -> None:
    line = f"ROOT r = f32[4] all-reduce(a), {attributes}, to_apply=add"
    module = read_text(f"{ADD}\nENTRY e {{\n  a = f32[4] parameter(0)\n  {line}\n}}")
    (only,) = measured(module, "nvidia-h100").values()
    assert only.group_size == size
    assert (only.wire_bytes is None) == (size is None)
    assert (only.time.seconds is None) == (size is None)


def test_a_loop_multiplies(rows_of: Rows) -> None:
    rows = rows_of("tpu-v5e-scan", "jit_train_step")
    assert rows
    for row in rows.values():
        known = row.figures.wire_bytes is not None and row.figures.group_size is not None
        assert known


def test_the_worked_example_of_the_guide(rows_of: Rows) -> None:
    """The figures of *Collectives* in the guide: 8 GPUs as 2 x 4, weights of 256 x 1024."""
    rows = rows_of("sharded-gpu", "jit_fsdp_step")
    shard = 256 * 1024 * 4 // 8
    gathered = 3 * 2 * shard  # three weights, whole along `data`, still in four along `model`
    partial = 32 * 256 * 4  # of a batch of 64, in two along `data`
    gradients = 2 * 2 * shard  # two of them, before they are scattered over `data`
    expected = {
        "all-gather-start": (gathered, gathered // 2),
        "all-reduce-start": (partial, partial * 3),  # its config names a one-shot kernel
        "reduce-scatter-start": (gradients, gradients // 2),
        "all-reduce-start.1": (4, 4),
    }
    found = {name: (row.figures.data_bytes, row.figures.wire_bytes) for name, row in rows.items()}
    assert found == expected
    guide = (PACKAGE.parents[1] / "site_src" / "guide" / "collectives.md").read_text("utf-8")
    for data, wire in expected.values():
        assert f"{data:,} |" in guide or f"| {data:,}" in guide
        assert f"= {wire:,} |" in guide
    assert rows["all-gather-start"].figures.time.seconds == pytest.approx(0.87e-6, rel=0.01)


@pytest.mark.parametrize(
    ("dump", "name"),
    [("sharded-gpu", "jit_fsdp_step"), ("sharded-tpu", "jit_fsdp_step")],
)
def test_one_model_serves_roofline_findings_and_tab(
    dump: str, name: str, analysis_of: Analyzed
) -> None:
    analysis = analysis_of(dump, name)
    assert analysis.cost
    assert analysis.collectives
    modeled = {
        key: row.figures.time.seconds
        for row in analysis.collectives.rows
        for key in (row.collective.key, row.collective.body)
    }
    heavy = {
        (row.computation, row.instruction): row.least.interconnect
        for row in analysis.cost.heaviest
        if row.cost.traffic
    }
    assert heavy
    assert heavy == {key: modeled[key] for key in heavy}
    exposed = sum(row.figures.exposed_seconds for row in analysis.collectives.rows)
    waiting = [
        finding for finding in analysis.cost.findings if finding.rule == "waiting-collectives"
    ]
    assert all((finding.seconds or 0.0) <= exposed for finding in waiting)
    assert (analysis.cost.seconds or 0.0) >= sum(heavy.values())
