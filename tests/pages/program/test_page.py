"""The page of the whole program: from the records of a report."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.analysis.dump import AnalyzedDump, relate_modules
from xlareport.dump.source import open_source
from xlareport.dump_reading import ReadingOptions, analyze, begin_reading
from xlareport.pages.program.page import ProgramPage, program_page, tabulate_links
from xlareport.pages.program.picture import program_picture
from xlareport.records.build import build_report
from xlareport.records.report import ReportRecord
from xlareport.runtime.progress import silent
from xlareport.runtime.worker_pool import WorkerPool

Unpack = Callable[[str], Path]


@pytest.fixture(scope="module")
def clusters(unpacked: Unpack) -> tuple[AnalyzedDump, ReportRecord]:
    with open_source(unpacked("tf-clusters")) as source, WorkerPool(1) as workers:
        analysed = analyze(begin_reading(source, ReadingOptions(), workers, silent, pages=False))
    return analysed, build_report(analysed, relate_modules(analysed))


def page_of(clusters: tuple[AnalyzedDump, ReportRecord]) -> ProgramPage:
    analysed, report = clusters
    return program_page(report, relate_modules(analysed), program_picture(report))


def test_a_link_that_the_graph_proves_is_exact_and_drawn(
    clusters: tuple[AnalyzedDump, ReportRecord],
) -> None:
    _, report = clusters
    (link,) = report.links
    assert link.grade == "exact"
    assert link.via == ("AsString", "StringToNumber")
    picture = program_picture(report)
    assert picture is not None
    (drawing,) = picture.drawings
    assert [(edge.source, edge.target) for edge in drawing.edges] == [(link.source, link.target)]
    assert len(tabulate_links(report).rows) == 1


def test_the_page_counts_the_modules_by_their_part(
    clusters: tuple[AnalyzedDump, ReportRecord],
) -> None:
    lead = page_of(clusters).lead.unescape()
    assert lead == "2 modules: 1 program in 2 parts."


def made(unpacked: Unpack, name: str) -> tuple[AnalyzedDump, ReportRecord]:
    with open_source(unpacked(name)) as source, WorkerPool(1) as workers:
        analysed = analyze(begin_reading(source, ReadingOptions(), workers, silent, pages=False))
    return analysed, build_report(analysed, relate_modules(analysed))


def test_ranks_that_order_their_collectives_differently_are_told(unpacked: Unpack) -> None:
    made_of_it = made(unpacked, "two-ranks")
    page = page_of(made_of_it)
    (rank,) = page.ranks
    assert "running them together hangs" in rank.note
    assert [module.name.partition("/")[0] for module in rank.modules] == ["rank0", "rank1"]
    assert [row.what for row in rank.rows][:2] == ["collective 1 in order", "collective 2 in order"]
    assert rank.rows[0].values[0].startswith("all-reduce f32[]")
    assert page.lead.unescape().startswith("3 modules: 1 program (compiled 2 times)")
    picture = program_picture(made_of_it[1])
    assert picture is not None
    assert [group.title for group in picture.drawings[0].groups] == ["rank0", "rank1"]


def test_modules_that_are_not_drawn_are_counted_by_role(unpacked: Unpack) -> None:
    _, report = made(unpacked, "jax-cpu-train")
    picture = program_picture(report)
    assert picture is not None
    (drawing,) = picture.drawings
    (note,) = drawing.notes
    left = [
        module for module in report.modules if module.key not in {box.id for box in drawing.nodes}
    ]
    assert note.startswith(f"{len(left)} module not shown: ")
    for role in {module.role for module in left}:
        assert f"{role} ({sum(module.role == role for module in left)})" in note


def test_processes_that_cannot_be_told_apart_are_told(unpacked: Unpack) -> None:
    analysed, report = made(unpacked, "jax-cpu-two-runs")
    assert report.processes == 2
    unknown = page_of((analysed, replace(report, processes=None)))
    assert "At least 2 processes" in unknown.processes
    assert unknown.not_recompiled.startswith("Not checked: several processes")
    alone = page_of((analysed, replace(report, processes=1)))
    assert not alone.processes
    assert alone.not_recompiled.startswith("No recompilations found.")


def test_runs_that_overwrote_each_other_are_told(unpacked: Unpack) -> None:
    analysed, report = made(unpacked, "jax-cpu-train")
    first, *others = report.modules
    mixed = replace(first.stages[0], left_out="parameter 0 is f32[8] in it")
    modules = (replace(first, stages=(mixed, *first.stages[1:])), *others)
    page = page_of((analysed, replace(report, modules=modules)))
    assert "1 module holds snapshots of another compilation" in page.processes
    assert page_of((analysed, report)).processes == ""


def test_a_trace_beside_the_dump_decides_and_is_told(unpacked: Unpack) -> None:
    _, report = made(unpacked, "traced")
    assert report.main is not None
    assert (report.main.name, report.main.sureness) == ("jit_advance", "clear")
    runs = {module.name: module.runs for module in report.modules}
    assert runs == {"jit_advance": 400, "jit_overview": 1}
