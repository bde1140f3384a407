"""The collectives of a module, in the order of its schedule."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.analyzed import analyze_named

from xlareport.analysis.collectives.collective_rows import CollectivesReport
from xlareport.analysis.collectives.collectives_report import report_collectives
from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.module import AnalyzedModule
from xlareport.analysis.passes.step_boundaries import find_boundaries


@pytest.fixture(scope="module")
def analyzed(unpacked: Callable[[str], Path]) -> AnalyzedModule[None]:
    return analyze_named(unpacked("sharded-gpu"), "jit_fsdp_step")


def costed(analyzed: AnalyzedModule[None]) -> CostedModule:
    assert analyzed.costed is not None
    return analyzed.costed


def report(analyzed: AnalyzedModule[None], *, alone: bool = False) -> CollectivesReport:
    boundaries = find_boundaries(analyzed.module)
    made = report_collectives(costed(analyzed), None if alone else analyzed.snapshots, boundaries)
    assert made is not None
    return made


def test_rows_are_in_the_order_of_the_schedule(analyzed: AnalyzedModule[None]) -> None:
    hlo = costed(analyzed).hlo
    order = {
        (home.name, line.name): (number, place)
        for number, home in enumerate(hlo.computations)
        for place, line in enumerate(home.instructions)
    }
    places = [order[row.collective.key] for row in report(analyzed).rows]
    assert places == sorted(places)
    assert len(places) > 1


def test_a_combined_collective_lists_what_it_was_made_of(analyzed: AnalyzedModule[None]) -> None:
    combined = [row for row in report(analyzed).rows if row.members]
    for row in combined:
        assert len(row.members) > 1
        assert "Of the largest member" in row.origin.detail or row.origin.cause is not None
    assert all(len(row.members) != 1 for row in report(analyzed).rows)


def test_without_earlier_snapshots_no_cause_is_claimed(analyzed: AnalyzedModule[None]) -> None:
    for row in report(analyzed, alone=True).rows:
        assert row.trail == ()
        assert row.origin.cause is None
        assert row.origin.cause_reason


def test_sums_are_exact_where_everything_is_known(analyzed: AnalyzedModule[None]) -> None:
    made = report(analyzed)
    assert made.devices == 8
    known = all(
        row.figures.wire_bytes is not None and row.figures.executions is not None
        for row in made.rows
    )
    assert (made.bound == "") is known
    assert made.hideable_seconds <= sum(row.figures.hideable_seconds for row in made.rows) + 1e-12
