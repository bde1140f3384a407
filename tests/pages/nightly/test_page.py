"""The page of the nights: charts of modules, and the nights on which figures stepped."""

from pathlib import Path

import pytest

from xlareport.analysis.compare.module_facts import ESTIMATE
from xlareport.analysis.trends import Night
from xlareport.pages.nightly.page import Nightly, tabulate_nights, trends_page
from xlareport.runtime.errors import Problem


def night(day: int, main: str | None = "jit_step", **figures: int | None) -> Night:
    modules = {"jit_step": figures, "jit_eval": {"flops": 5}}
    return Night(f"2026-11-{day:02}T02:00:00Z", "dump", f"{day}/index.html", main, modules)


def nightly(*nights: Night, problems: tuple[Problem, ...] = ()) -> Nightly:
    return Nightly(nights, Path("/reports"), Path("/reports/20/site"), problems)


LEVELS = [night(day, flops=100 if day < 8 else 150, **{ESTIMATE: 1000}) for day in range(1, 12)]


def test_a_figure_that_came_to_another_level_is_a_row_with_its_report() -> None:
    (row,) = trends_page(nightly(*LEVELS)).steps
    assert (row.module, row.what, row.when) == ("jit_step", "FLOPs", "2026-11-08 02:00")
    assert row.words == "100 FLOP to 150 FLOP (+50.0%)"
    assert row.report == "../../8/index.html"


def test_steps_of_the_main_program_come_first_in_a_night_and_later_nights_before_earlier() -> None:
    nights = [
        Night(
            f"2026-11-{day:02}T02:00:00Z",
            *("dump", "r"),
            main="jit_step",
            figures={
                "jit_a": {"flops": 1 if day < 5 else 9},
                "jit_step": {"flops": 1 if day < 5 else 9, "instructions": 2 if day < 9 else 4},
            },
        )
        for day in range(1, 14)
    ]
    rows = trends_page(nightly(*nights)).steps
    assert [(row.module, row.what) for row in rows] == [
        ("jit_step", "Instructions"),
        ("jit_step", "FLOPs"),
        ("jit_a", "FLOPs"),
    ]


def test_charts_are_of_figures_that_are_known_on_two_nights() -> None:
    page = trends_page(nightly(*LEVELS))
    assert page.main == "jit_step"
    assert [chart.title for chart in page.charts] == ["Estimated time per run", "FLOPs"]
    assert [other.name for other in page.others] == ["jit_eval"]


@pytest.mark.parametrize(
    ("nights", "lead"),
    [
        ([], "First night; later nights are compared with it."),
        (LEVELS[:1], "First night; later nights are compared with it."),
        (
            [night(1, None, flops=1), night(2, None, flops=1)],
            "2 nights from 2026-11-01 02:00 to 2026-11-02 02:00 UTC; 0 figures changed.",
        ),
    ],
)
def test_the_lead_counts_nights(nights: list[Night], lead: str) -> None:
    assert trends_page(nightly(*nights)).lead == lead


def test_the_table_has_the_latest_night_first_and_unknown_figures_empty() -> None:
    table = tabulate_nights([night(1, flops=None), night(2, flops=7)])
    names = [column.title for column in table.columns]
    place = names.index("FLOPs")
    assert [(row[0], row[1], row[place]) for row in table.rows] == [
        ("2026-11-02 02:00", "jit_step", 7),
        ("2026-11-02 02:00", "jit_eval", 5),
        ("2026-11-01 02:00", "jit_step", None),
        ("2026-11-01 02:00", "jit_eval", 5),
    ]


def test_lines_that_could_not_be_read_are_listed() -> None:
    problem = Problem("nights.jsonl", 3, "no night")
    assert trends_page(nightly(problems=(problem,))).problems == (str(problem),)
