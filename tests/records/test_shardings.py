"""The record of shardings, of compiled programs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from xlareport.analysis.shardings.sharding_report import ShardingReport, report_shardings
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import read_snapshots
from xlareport.records.shardings import shardings_record


@pytest.fixture(scope="module")
def report(unpacked: Callable[[str], Path]) -> ShardingReport:
    with open_source(unpacked("resharded") / "rematerialized") as source:
        (module,) = group(name_files(source)).modules
        report = report_shardings([snapshot.hlo for snapshot in read_snapshots(module)])
    assert report is not None
    return report


def test_all_of_it_as_report_json_has_it(
    report: ShardingReport, snapshot: Callable[[str, str], None]
) -> None:
    record = shardings_record(report)
    assert record is not None
    snapshot(json.dumps(to_builtins(record), indent=1) + "\n", "rematerialized.json")


def test_who_holds_what(report: ShardingReport) -> None:
    record = shardings_record(report)
    assert record is not None
    assert record.mesh is not None
    assert [(axis.name, axis.size) for axis in record.mesh.axes] == [("x", 4), ("y", 2)]
    assert record.mesh.devices == tuple(range(8))
    first, second = record.shardings
    assert first.words == "dimension 1 in 8 parts along x, y"
    assert [(holder.tile, holder.devices) for holder in second.holders] == [
        ((0, 0, 0), (0,)),
        ((0, 0, 1), (2,)),
        ((0, 0, 2), (4,)),
        ((0, 0, 3), (6,)),
        ((1, 0, 0), (1,)),
        ((1, 0, 1), (3,)),
        ((1, 0, 2), (5,)),
        ((1, 0, 3), (7,)),
    ]


def test_the_rematerialization(report: ShardingReport) -> None:
    record = shardings_record(report)
    assert record is not None
    assert record.rematerializations is not None
    (value,) = record.rematerializations
    assert (value.bytes, value.part_bytes, value.grade) == (16384, 2048, "exact")
    assert value.from_words == "dimension 0 in 2 parts along y, dimension 2 in 4 parts along x"
    assert record.rematerializations_reason == ""


def test_what_was_not_checked_has_a_reason(report: ShardingReport) -> None:
    record = shardings_record(replace(report, changes=None, rematerializations=None))
    assert record is not None
    assert record.changes is record.rematerializations is None
    assert "after sharding propagation" in record.changes_reason
    assert "before SPMD partitioning" in record.rematerializations_reason


def test_one_partition() -> None:
    assert shardings_record(None) is None
