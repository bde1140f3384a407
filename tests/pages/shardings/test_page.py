"""The part of a module's page on shardings."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.analyzed import analyze_named
from tests.pages.cost_of_dumps import worked_out

from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.analysis.shardings.sharding_report import report_shardings
from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import open_source
from xlareport.pages.shardings.page import draw_holders, draw_mesh, shardings_page
from xlareport.program import read_snapshots
from xlareport.records.collectives import collective_records
from xlareport.records.report import ModuleRecord
from xlareport.records.shardings import (
    AxisRecord,
    HolderRecord,
    MeshRecord,
    ShardingRecord,
    ShardingsRecord,
    shardings_record,
)

Unpack = Callable[[str], Path]


@pytest.fixture(scope="module")
def module(unpacked: Unpack) -> ModuleRecord:
    folder = unpacked("resharded") / "rematerialized"
    record, _ = worked_out(folder, "jit_rematerialized", "cpu")
    with open_source(folder) as source:
        (files,) = group(name_files(source)).modules
        report = report_shardings([snapshot.hlo for snapshot in read_snapshots(files)])
    return replace(record, shardings=shardings_record(report))


def shardings(module: ModuleRecord) -> ShardingsRecord:
    assert module.shardings is not None
    return module.shardings


def test_the_page(module: ModuleRecord) -> None:
    page = shardings_page(module, shardings(module))
    assert page.lead.startswith("8 partitions, sharding propagation by Shardy. Parameters: 48.0")
    assert page.mesh_words.startswith("x=4, y=2, from Shardy's meshes")
    assert list(page.tables) == [
        "sharded-parameters",
        "sharded-results",
        "sharding-changes",
        "full-rematerializations",
    ]
    assert page.rematerializations.startswith("1 value gathered whole")
    assert page.changes.startswith("1 change of sharding")
    assert all(figure.drawing for figure in page.figures)


def test_what_was_not_checked_is_said(module: ModuleRecord) -> None:
    bare = replace(shardings(module), changes=None, rematerializations=None, mesh=None)
    page = shardings_page(module, bare)
    assert page.changes.startswith("Not checked: ")
    assert page.rematerializations.startswith("Not checked: ")
    assert page.mesh_words.startswith("The mesh is not known")
    assert not page.mesh
    assert "sharding-changes" not in page.tables


def test_nothing_to_report_is_said(module: ModuleRecord) -> None:
    page = shardings_page(module, replace(shardings(module), changes=(), rematerializations=()))
    assert page.changes.startswith("No elementwise op")
    assert page.rematerializations.startswith("None:")


def test_collectives_are_listed_with_their_shardings(unpacked: Unpack) -> None:
    with open_source(unpacked("sharded-cpu")) as source:
        files = next(
            one for one in group(name_files(source)).modules if one.name == "jit_fsdp_step"
        )
        report = report_shardings([snapshot.hlo for snapshot in read_snapshots(files)])
        record = analyzed_record(unpacked("sharded-cpu"), files)
    assert report is not None
    page = shardings_page(record, shardings(replace(record, shardings=shardings_record(report))))
    rows = page.tables["resharding-collectives"].rows
    gathers = [row for row in rows if row[0] == "all-gather"]
    assert gathers[0][1:4] == [
        "dimension 0 in 2 parts along data, dimension 1 in 4 parts along model",
        "dimension 1 in 4 parts along model, each part on 2 devices",
        131072,
    ]
    assert any(" · " in str(row[1]) for row in rows if row[8] == "partial results")


def analyzed_record(dump: Path, files: ModuleFiles) -> ModuleRecord:
    module = analyze_named(dump, files.key).analysis
    folder = ModuleRecord(
        files.key, files.slug, 0, files.name, None, "", "", 1, "cpu", None, (), ModuleFigures(), ()
    )
    return replace(folder, collectives=collective_records(module.collectives))


def test_changes_that_receive_nothing_are_said_to(module: ModuleRecord) -> None:
    record = shardings(module)
    assert record.changes
    page = shardings_page(module, record)
    assert "a device receives at least" in page.changes
    kept = tuple(replace(change, received_bytes=0) for change in record.changes)
    page = shardings_page(module, replace(record, changes=kept))
    assert "Each device already has its new shard." in page.changes
    assert "at least 0 B" not in page.changes
    unknown = tuple(replace(change, received_bytes=None) for change in record.changes)
    page = shardings_page(module, replace(record, changes=unknown))
    assert "Each device already" not in page.changes


def cells(markup: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", markup)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def mesh(*axes: tuple[str, int], devices: tuple[int, ...]) -> MeshRecord:
    return MeshRecord(tuple(AxisRecord(*axis) for axis in axes), devices, "", named=True)


def test_a_mesh_of_two_axes() -> None:
    drawing = draw_mesh(mesh(("x", 2), ("y", 3), devices=(5, 4, 3, 2, 1, 0)))
    assert cells(drawing) == [
        ["", "y=0", "y=1", "y=2"],
        ["x=0", "5", "4", "3"],
        ["x=1", "2", "1", "0"],
    ]


def test_a_mesh_of_three_axes_and_of_one() -> None:
    drawing = draw_mesh(mesh(("x", 2), ("y", 1), ("z", 2), devices=(0, 1, 2, 3)))
    assert cells(drawing)[1:] == [["x=0 y=0", "0", "1"], ["x=1 y=0", "2", "3"]]
    assert cells(draw_mesh(mesh(("x", 2), devices=(0, 1)))) == [["x=0", "x=1"], ["0", "1"]]


def test_a_large_mesh_is_not_drawn() -> None:
    assert not draw_mesh(mesh(("x", 512), devices=()))
    assert not draw_mesh(mesh(("x", 100), devices=tuple(range(100))))


def sharding(
    tiles: tuple[int, ...], *holders: tuple[tuple[int, ...], tuple[int, ...]]
) -> ShardingRecord:
    return ShardingRecord("", "", 1, tiles, tuple(HolderRecord(*holder) for holder in holders))


def test_who_holds_which_part() -> None:
    drawing = draw_holders(
        sharding(
            (2, 1, 2), ((0, 0, 0), (0, 4)), ((0, 0, 1), (1,)), ((1, 0, 0), (2,)), ((1, 0, 1), (3,))
        )
    )
    assert cells(drawing) == [["", "d2:0", "d2:1"], ["d0:0", "0, 4", "1"], ["d0:1", "2", "3"]]


def test_many_devices_of_one_part_are_counted() -> None:
    drawing = draw_holders(sharding((2,), ((0,), tuple(range(20))), ((1,), (20,))))
    assert "15 and 4 more" in drawing


def test_what_is_not_cut_is_not_drawn() -> None:
    assert not draw_holders(sharding(()))
    assert not draw_holders(sharding((1, 1), ((0, 0), (0,))))
    assert not draw_holders(sharding((100,), *(((n,), (n,)) for n in range(100))))


def test_names_of_axes_are_escaped() -> None:
    assert "<b>" not in draw_mesh(mesh(("<b>", 2), devices=(0, 1)))
