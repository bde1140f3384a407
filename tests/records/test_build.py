"""Records of a report from what was analyzed."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.analysis.dump import AnalyzedDump, relate_modules
from xlareport.dump.source import open_source
from xlareport.dump_reading import ReadingOptions, analyze, begin_reading
from xlareport.pages.home.answers import summarize_home
from xlareport.pages.home.page import home_page
from xlareport.records.build import build_report
from xlareport.runtime.progress import silent
from xlareport.runtime.worker_pool import WorkerPool

Unpack = Callable[[str], Path]


@pytest.fixture(scope="module")
def read(unpacked: Unpack) -> Callable[[str], AnalyzedDump]:
    @cache
    def read_dump(name: str) -> AnalyzedDump:
        options = ReadingOptions(pictures="none")
        with open_source(unpacked(name)) as source, WorkerPool(1) as workers:
            return analyze(begin_reading(source, options, workers, silent, pages=True))

    return read_dump


def test_where_nothing_was_read_nothing_is_claimed(read: Callable[[str], AnalyzedDump]) -> None:
    analysed = read("jax-cpu-train")
    empty = replace(build_report(analysed, relate_modules(analysed)), main=None, modules=())
    home = summarize_home(empty, replace(analysed, modules=()))

    assert home.answers == ()
    assert home.lead.startswith("No HLO module was found")


def test_the_card_says_why_without_points(read: Callable[[str], AnalyzedDump]) -> None:
    analysed = read("jax-cpu-train")
    report = build_report(analysed, relate_modules(analysed))
    page = home_page(report, ())

    assert page.main is not None
    assert report.main is not None
    assert report.main.strongest[0] == "does the most work of all modules"
    assert all(any(words in text for text in page.main.reasons) for words in report.main.strongest)
    assert page.main.because.startswith("It ")
    assert "points" not in page.main.because
    assert " as much as " not in page.main.because
    assert "public dumps" in page.main.meaning
