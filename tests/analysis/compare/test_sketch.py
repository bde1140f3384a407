"""What of a schedule and of backend configs counts as a difference between two compilations."""

from pathlib import Path

import pytest
from tests.analysis.compare.conftest import compared

GIVEN = """HloModule jit_f

ENTRY main {
  a = f32[64,64]{1,0} parameter(0)
  b = f32[64,64]{1,0} tanh(a)
  c = f32[64,64]{1,0} negate(a)
  ROOT d = f32[64,64]{1,0} add(b, c)
}
"""
TUNED = (
    'b = f32[64,64]{1,0} custom-call(a), custom_call_target="__cublas$gemm", '
    'backend_config={"gemm_backend_config":{"selected_algorithm":"1","beta":0},"is_sync":false}'
)
SCHEDULED = GIVEN.replace("jit_f", "jit_f, is_scheduled=true").replace(
    "b = f32[64,64]{1,0} tanh(a)", TUNED
)
LINES = SCHEDULED.splitlines(keepends=True)
REORDERED = "".join([*LINES[:4], LINES[5], LINES[4], *LINES[6:]])


def write(folder: Path, scheduled: str, final: str) -> Path:
    """Write the snapshots of one compilation."""
    folder.mkdir()
    for stage, text in (
        ("before_optimizations", GIVEN),
        ("0001.scheduling.after_algsimp.before_latency-hiding-scheduler", GIVEN),
        ("0002.scheduling.after_latency-hiding-scheduler.before_copy-insertion", scheduled),
        ("0003.scheduling.after_copy-insertion.before_dce", final),
        ("sm_9.0a_gpu_after_optimizations", final),
    ):
        (folder / f"module_0001.jit_f.{stage}.txt").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("field", "kinds"),
    [
        ('"selected_algorithm":"1"', ["autotuning"]),
        ('"is_sync":false', []),
        ('"beta":0', []),
    ],
)
def test_only_what_the_autotuner_writes_is_autotuning(
    field: str, kinds: list[str], tmp_path: Path
) -> None:
    head = SCHEDULED.replace(field, f"{field[:-2]}7{field[-1]}")
    view = compared(
        write(tmp_path / "a", SCHEDULED, SCHEDULED), write(tmp_path / "b", SCHEDULED, head)
    )
    assert [cause.kind for cause in view.causes if cause.kind == "autotuning"] == kinds


def test_the_order_of_a_schedule_is_a_difference(tmp_path: Path) -> None:
    """The scheduler is the first pass whose result differs, not the one behind it."""
    head = REORDERED.replace("add(b, c)", "add(b, e)")
    head = head.replace("  ROOT", "  e = f32[64,64]{1,0} copy(c)\n  ROOT")
    view = compared(
        write(tmp_path / "a", SCHEDULED, SCHEDULED), write(tmp_path / "b", REORDERED, head)
    )
    assert "agree until `latency-hiding-scheduler`" in view.causes[-1].sentence
