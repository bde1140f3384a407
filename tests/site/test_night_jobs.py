"""The page over many nightly jobs: breaches first, steps, trends, addresses, hostile names."""

import json
from html import unescape
from pathlib import Path

from click.testing import CliRunner
from msgspec import to_builtins

from xlareport.analysis.trends import Night
from xlareport.cli.nights import command
from xlareport.pages.nightly.index import NightOutcome, Outcome
from xlareport.site.night_jobs import read_jobs, write_jobs_page
from xlareport.site.nights import append_night


def write_job(folder: Path, outcome: Outcome, flops: list[int], last: str = "jit_step") -> None:
    """Write what `xlareport nightly` leaves of a job: so many FLOPs on each night.

    `last` is the main program of the last night.
    """
    nights = [f"2026-11-{day:02d}" for day in range(1, len(flops) + 1)]
    ended = [NightOutcome(night, Outcome.KEPT, 0, "3 budgets kept.") for night in nights]
    ended[-1] = NightOutcome(nights[-1], outcome, 1, "It <b>grew</b>.", baseline="b")
    (folder / "state").mkdir(parents=True)
    (folder / "state/nights.json").write_text(
        json.dumps([to_builtins(nightoutcome) for nightoutcome in ended])
    )
    for night, figure in zip(nights, flops, strict=True):
        main = last if night == nights[-1] else "jit_step"
        figures = {main: {"flops": figure}}
        append_night(
            folder / "state",
            Night(
                f"{night}T02:00:00Z",
                "dump",
                f"../site/{night}/site/index.html",
                main,
                figures,
            ),
        )


def test_breaches_come_first_then_steps_and_trends(tmp_path: Path) -> None:
    write_job(tmp_path / "a", Outcome.KEPT, [100, 100, 100])
    write_job(tmp_path / "team/model", Outcome.EXCEEDED, [100, 100, 100, 200])
    path, number = write_jobs_page(tmp_path)
    page = unescape(path.read_text())
    assert number == 2
    assert "2 jobs: 1 exceeded, 1 kept." in page
    assert page.index(">team/model<") < page.index(">a<")
    assert 'href="team/model/site/2026-11-04/site/index.html"' in page
    assert "100 FLOP to 200 FLOP (+100.0%)" in page
    assert "100 FLOP to 100" not in page
    assert page.count("<svg") == 2
    assert "<b>" not in path.read_text()


def test_another_main_program_is_no_change_of_the_first(tmp_path: Path) -> None:
    write_job(tmp_path / "a", Outcome.UNCHECKED, [100, 100, 100, 10], last="jit_other")
    page = unescape(write_jobs_page(tmp_path)[0].read_text())
    assert "10 FLOP<br>another main program" in page
    assert "100 FLOP to 10 FLOP (another main program)" in page
    assert "90.0%" not in page


def test_a_job_that_cannot_be_read_is_listed_and_costs_no_other(tmp_path: Path) -> None:
    write_job(tmp_path / "good", Outcome.BASELINE, [1])
    (tmp_path / "bad/state").mkdir(parents=True)
    (tmp_path / "bad/state/nights.json").write_text("{")
    jobs, problems = read_jobs(tmp_path)
    assert [job.name for job in jobs] == ["good"]
    assert [problem.path for problem in problems] == ["bad"]
    assert "bad: Not read" in unescape(write_jobs_page(tmp_path)[0].read_text())


def test_a_name_of_a_folder_is_no_markup(tmp_path: Path) -> None:
    write_job(tmp_path / 'x"><script>', Outcome.KEPT, [1])
    page = write_jobs_page(tmp_path)[0].read_text()
    assert "<script>" not in page
    assert "%22%3E%3Cscript%3E" in unescape(page)


def test_the_command_names_the_page(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, [str(tmp_path)])
    assert result.exit_code == 0
    assert "index.html (0 jobs)" in result.output
    assert "No job yet." in unescape((tmp_path / "index.html").read_text())
