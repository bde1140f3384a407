"""The count of collectives by regexes agrees with the report, and does not where it should not."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import score_collectives

TEXT = """HloModule m, num_partitions=4

ENTRY %e (a: f32[4]) -> f32[16] {
  %a = f32[4]{0} parameter(0)
  %s = (f32[4]{0}, f32[16]{0}) all-gather-start(%a), replica_groups=[1,4]<=[4], dimensions={0}
  ROOT %d = f32[16]{0} all-gather-done(%s)
}
"""


def test_a_start_counts_once_with_its_result() -> None:
    assert score_collectives.count_text(TEXT) == {("all-gather", 64, 48, 4): 1}


@pytest.mark.parametrize("dump", ["sharded-cpu", "sharded-gpu", "sharded-tpu"])
def test_the_report_has_what_the_texts_have(dump: str, unpacked: Callable[[str], Path]) -> None:
    counts = score_collectives.check(unpacked(dump))
    assert counts["collectives"] == counts["counted"] == counts["equal"] > 10
    assert counts["null without reason"] == 0
    assert counts["user without program"] == 0
    assert counts["sharding without to"] == 0


LOOPS = """
  %while = (f32[8]) while(%t), condition=%c, body=%windowed_dot_general_body_ag.1, \
metadata={op_name="f/dot" stack_frame_id=1}
  %while.1 = (f32[8]) while(%t), condition=%c, body=%mine, metadata={op_name="f/other"}
"""


@pytest.mark.parametrize(
    ("op_name", "cause", "detail", "counted"),
    [
        ("f/dot", "collective matmul", "all-gather of `w`, hop 1 of 2", "hops"),
        ("f/dot", "collective matmul", "reduce-scatter of its result", "hops as others"),
        ("f/dot", "resharding", "Sends each device's part of `param.1`", "hops as others"),
        ("f/other", "collective matmul", "all-gather of `w`", "others as hops"),
        ("f/other", "resharding", "Reshards `x`.", None),
    ],
)
def test_a_hop_of_a_windowed_einsum_is_expected_to_be_reported_as_one(
    op_name: str, cause: str, detail: str, counted: str | None
) -> None:
    origin = {"cause": cause, "detail": detail}
    record = {
        "kind": "collective-permute",
        "op_name": op_name,
        "instruction": "i",
        "origin": origin,
    }
    counts = score_collectives.compare_rings([record], [LOOPS])
    assert {name for name, count in counts.items() if count} == ({counted} if counted else set())
