"""The page on TPU programs of our own dump."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.analyzed import analyze_named

from xlareport.analysis.dump import relate_modules
from xlareport.analysis.module import AnalyzedModule
from xlareport.dump.source import open_source
from xlareport.dump_reading import ReadingOptions, analyze, begin_reading
from xlareport.pages.cost.tables import cycle_columns
from xlareport.pages.tables import tabulate
from xlareport.pages.tpu.page import tpu_page
from xlareport.pages.tpu.payload import instruction_links, tpu_payloads
from xlareport.records.build import build_report
from xlareport.records.report import ModuleRecord
from xlareport.runtime.progress import silent
from xlareport.runtime.worker_pool import WorkerPool


@pytest.fixture(scope="module")
def analyzed(unpacked: Callable[[str], Path]) -> AnalyzedModule:
    return analyze_named(unpacked("tpu-v5e-machine"), "layers")


@pytest.fixture(scope="module")
def record(unpacked: Callable[[str], Path]) -> ModuleRecord:
    with open_source(unpacked("tpu-v5e-machine")) as source, WorkerPool(1) as workers:
        options = ReadingOptions(pictures="none")
        analyzed = analyze(begin_reading(source, options, workers, silent, pages=True))
        report = build_report(analyzed, relate_modules(analyzed))
    return next(it for it in report.modules if "layers" in it.name)


def test_programs_are_ranked(analyzed: AnalyzedModule, record: ModuleRecord) -> None:
    assert analyzed.tpu.module is not None
    page = tpu_page(record, analyzed.tpu.module)
    table = page.tables["tpu-programs"]
    assert table.sort == (2, "desc")
    assert len(table.rows) == len(record.tpu_programs) == 6
    assert len({len(row) for row in table.rows} | {len(table.columns)}) == 1
    assert page.tables["tpu-unknown"].rows == []
    assert len(page.notes) == 1  # what the seconds assume; no grade to explain
    assert record.tpu is not None
    assert (record.tpu.grade, record.tpu.grade_reason) == ("exact", "")
    assert page.lead.startswith("3 HLO instructions with a TPU program.")


def test_the_payload_has_every_cycle(analyzed: AnalyzedModule) -> None:
    index, *programs = tpu_payloads("x", analyzed.tpu, has_history=False)
    assert index.key == "m/x/tpu"
    assert [payload.key for payload in programs] == [f"m/x/tpu-{n}" for n in range(6)]


def test_links_lead_somewhere(record: ModuleRecord) -> None:
    programs = {program.program: program for program in record.tpu_programs}
    for has_history, asked in ((True, "i"), (False, "node")):
        links = instruction_links("x", programs["product.1"], has_history=has_history)
        assert links == [["product.1", f"m/x.html#{asked}=product.1"]]
    assert instruction_links("x", programs["TLP"], has_history=False) == []


def test_cycles_are_beside_the_roofline_time(record: ModuleRecord) -> None:
    rows: list[Any] = [SimpleNamespace(instruction=name) for name in ("product.1", "bitcast.1")]
    table = tabulate(rows, cycle_columns("x", record.tpu_programs))
    assert [column.title for column in table.columns] == ["TPU cycles", "TPU program"]
    assert table.rows[0] == [999, ["product.1", "m/x.html?tpu#program=product.1"]]
    assert table.rows[1] == [None, None]


def test_findings_are_among_the_module_s(record: ModuleRecord) -> None:
    assert "tpu-empty-bundles" in {finding.rule for finding in record.findings}
