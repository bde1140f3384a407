"""Every key of every collective is filled, or null with its reason."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from tests.analyzed import analyze_named

from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.records.collectives import collective_records

NOT_APPLICABLE = {"done", "is_sync"}
"""Null says itself: no done, no note."""


def records_of(dump: Path) -> list[dict[str, Any]]:
    with open_source(dump) as source:
        keys = [files.key for files in group(name_files(source)).modules if ".jit_" in files.key]
    made = [analyze_named(dump, key) for key in keys]
    collective_recordses = [collective_records(module.analysis.collectives) for module in made]
    return [to_builtins(record) for every in collective_recordses for record in every]


def without_reason(record: dict[str, Any]) -> list[str]:
    """Return the keys that are null without a reason."""
    return [
        key
        for key, value in record.items()
        if value is None
        and not key.endswith("_reason")
        and key not in NOT_APPLICABLE
        and not record.get(f"{key}_reason")
    ]


@pytest.mark.parametrize("dump", ["sharded-cpu", "sharded-gpu", "sharded-tpu", "gpu-h100x2-train"])
def test_null_has_a_reason(dump: str, unpacked: Callable[[str], Path]) -> None:
    records = records_of(unpacked(dump))
    assert records
    for record in records:
        assert without_reason(record) == []
        assert without_reason(record["origin"]) == []
        assert not record["is_validated"]
        if record["sharding"] is not None:
            assert without_reason(record["sharding"]) == []


@pytest.mark.parametrize("dump", ["sharded-gpu", "sharded-tpu"])
def test_what_the_user_did_not_write_is_known(dump: str, unpacked: Callable[[str], Path]) -> None:
    for record in records_of(unpacked(dump)):
        assert record["time_us"] is not None
        assert record["exposed_us"] is not None
        if record["origin"]["cause"] != "in the program":
            assert record["origin"]["after"]
            assert record["sharding"] is not None
            assert record["sharding"]["to"]


def test_a_combined_one_says_who_merged_it(unpacked: Callable[[str], Path]) -> None:
    combined = [one for one in records_of(unpacked("sharded-gpu")) if one["members"]]
    assert {one["merged_by"] for one in combined} == {
        "gpu-all-gather-combiner",
        "gpu-reduce-scatter-combiner",
    }


def test_without_passes_the_reason_says_so(unpacked: Callable[[str], Path], tmp_path: Path) -> None:
    dump = shutil.copytree(unpacked("sharded-gpu"), tmp_path / "dump")
    for path in [one for one in dump.iterdir() if ".after_" in one.name and ".0" in one.name]:
        path.unlink()
    for record in records_of(dump):
        assert record["merged_by"] is None
        assert "no snapshots between" in record["merged_by_reason"]
        if record["origin"]["cause"] != "in the program":
            assert record["origin"]["after"] is None
            assert record["origin"]["after_reason"]
            assert record["origin"]["grade"] != "exact"


MODULE = """HloModule jit_f, is_scheduled=true, num_partitions=2

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  p = f32[8,64]{1,0} parameter(0)
BODY
}
"""
GROUPS = "channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add"
NAMED = 'metadata={op_name="jit(f)/head/dot" source_file="f.py" source_line=7}'
REDUCED = f"""  i = u32[] partition-id()
  z = u32[] constant(0)
  r = f32[8,64]{{1,0}} all-reduce(p), {GROUPS}, {NAMED}
  ROOT d = f32[4,64]{{1,0}} dynamic-slice(r, i, z), dynamic_slice_sizes={{4,64}}"""
SCATTERED = f"  ROOT s = f32[4,64]{{1,0}} reduce-scatter(p), dimensions={{0}}, {GROUPS}"


def test_a_reduce_scatter_serves_the_op_of_the_all_reduce_that_it_was(tmp_path: Path) -> None:
    for stage, body in (("before", REDUCED), ("after", SCATTERED)):
        path = tmp_path / f"module_0000.jit_f.{stage}_optimizations.txt"
        path.write_text(MODULE.replace("BODY", body))
    (record,) = records_of(tmp_path)
    assert record["kind"] == "reduce-scatter"
    assert (record["op_name"], record["source"]) == ("jit(f)/head/dot", "f.py:7")
