"""The shardings of a module, of compiled programs."""

from collections.abc import Callable
from pathlib import Path

from xlareport.analysis.shardings.sharding_report import ShardingReport, report_shardings
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.program import read_snapshots

Unpack = Callable[[str], Path]


def modules_of(folder: Path) -> list[HloModule]:
    with open_source(folder) as source:
        (module,) = group(name_files(source)).modules
        return [snapshot.hlo for snapshot in read_snapshots(module)]


def reported(modules: list[HloModule]) -> ShardingReport:
    report = report_shardings(modules)
    assert report is not None
    return report


def test_with_every_snapshot(unpacked: Unpack) -> None:
    report = reported(modules_of(unpacked("resharded") / "weights_gathered"))
    assert (report.partitions, report.partitioner) == (8, "Shardy")
    assert report.mesh is not None
    assert report.mesh.mesh.axes == (("x", 4), ("y", 2))
    assert [value.label for value in report.parameters] == ["x", "first", "second"]
    assert {(value.bytes, value.part_bytes) for value in report.parameters} == {(16384, 2048)}
    assert [value.sharding for value in report.results] == ["{devices=[8,1]<=[8]}"]
    assert report.rematerializations == ()
    assert report.changes is not None
    assert dict(report.uses)["{devices=[8,1]<=[8]}"] > 3


def test_gspmd_names_no_axes(unpacked: Unpack) -> None:
    report = reported(modules_of(unpacked("resharded") / "adjusted-gspmd"))
    assert report.partitioner == "GSPMD"
    assert report.mesh is not None
    assert (report.mesh.mesh.sizes, report.mesh.is_named) == ((4, 2), False)


def test_without_the_passes_some_is_not_checked(unpacked: Unpack) -> None:
    modules = modules_of(unpacked("resharded") / "rematerialized")
    report = reported([modules[0], modules[-1]])
    assert report.rematerializations is not None
    assert [rematerialization.grade for rematerialization in report.rematerializations] == [
        "matched"
    ]
    assert not report.is_read_fresh
    assert report.changes is None
    assert [value.part_bytes for value in report.parameters] == [2048] * 3
    assert {value.sharding for value in report.parameters} == {
        "{devices=[2,1,4]<=[4,2]T(1,0)}",
        "{devices=[1,8,1]<=[8]}",
    }


def test_a_value_without_a_sharding_is_told_by_its_size() -> None:
    before, after = (
        f"""HloModule m, num_partitions=4

ENTRY {name} {{
  a = f32[8,8] parameter(0)
  b = f32[{rows},8] parameter(1)
  ROOT c = (f32[8,8], f32[{rows},8]) tuple(a, b)
}}
"""
        for name, rows in (("main", 8), ("main_spmd", 2))
    )
    modules = [TextReader().read(text.encode(), "m.txt") for text in (before, after)]
    report = reported([module for module in modules if module is not None])
    assert [value.words for value in report.parameters] == [
        "whole on each device, by its shape",
        "1/4 on each device, by its shape",
    ]


def test_a_small_type_has_the_bytes_of_the_last_snapshot_which_packs_it() -> None:
    texts = (
        f"""HloModule m, num_partitions=4

ENTRY {name} {{
  a = s4[{rows},8]{layout} parameter(0)
  ROOT c = (s4[{rows},8]{layout}) tuple(a)
}}
"""
        for name, rows, layout in (
            ("main", 8, ""),
            ("main_spmd", 2, ""),
            ("main_spmd", 2, "{1,0:E(4)}"),
        )
    )
    modules = [TextReader().read(text.encode(), "m.txt") for text in texts]
    report = reported([module for module in modules if module is not None])
    values = (*report.parameters, *report.results)
    assert [(value.bytes, value.part_bytes) for value in values] == [(32, 8)] * 2


def test_one_partition_has_no_shardings(unpacked: Unpack) -> None:
    with open_source(unpacked("jax-cpu-train")) as source:
        for module in group(name_files(source)).modules:
            assert report_shardings([snapshot.hlo for snapshot in read_snapshots(module)]) is None
    assert report_shardings([]) is None
