"""The collectives of small real dumps and of small texts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.analyzed import analyze_named

from xlareport.analysis.collectives.collective_figures import CollectiveFigures, measure_collectives
from xlareport.analysis.collectives.collective_rows import CollectiveRow
from xlareport.analysis.collectives.schedule import Schedule
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.module import ModuleAnalysis
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.devices import devices

Analyzed = Callable[[str, str], ModuleAnalysis]
Rows = Callable[[str, str], dict[str, CollectiveRow]]
ReadText = Callable[[str], HloModule]
Measure = Callable[[HloModule, str], dict[str, CollectiveFigures]]


@pytest.fixture(scope="session")
def analysis_of(unpacked: Callable[[str], Path]) -> Analyzed:
    """Return a function: a dump and the name of a module -> all that is worked out about it."""
    return lambda dump, name: analyze_named(unpacked(dump), name).analysis


@pytest.fixture(scope="session")
def rows_of(analysis_of: Analyzed) -> Rows:
    """Return a function: a dump and the name of a module -> its collectives by instruction."""

    def rows(dump: str, name: str) -> dict[str, CollectiveRow]:
        report = analysis_of(dump, name).collectives
        return {row.collective.instruction: row for row in (report.rows if report else ())}

    return rows


@pytest.fixture(scope="session")
def read_text() -> ReadText:
    """Return a function: computations as text -> a scheduled module of eight partitions."""

    def read(computations: str) -> HloModule:
        header = "HloModule m, is_scheduled=true, num_partitions=8\n\n"
        reader = TextReader()
        module = reader.read(f"{header}{computations.strip()}\n".encode(), "m.txt")
        assert module is not None
        assert reader.problems == []
        return module

    return read


@pytest.fixture(scope="session")
def measured() -> Measure:
    """Return a function: a module and the key of a device -> figures by instruction."""

    def figures(module: HloModule, device: str) -> dict[str, CollectiveFigures]:
        schedule = Schedule(module, count_cost(module), devices()[device])
        collectives = measure_collectives(schedule)
        return {each.collective.instruction: each for each in collectives}

    return figures
