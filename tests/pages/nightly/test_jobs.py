"""The first page of several nightly jobs, from their outcomes and figures."""

from collections.abc import Sequence
from html import unescape

import pytest

from xlareport.analysis.trends import Night
from xlareport.pages.nightly.index import NightOutcome, Outcome
from xlareport.pages.nightly.jobs import NightlyJob, jobs_page
from xlareport.runtime.errors import Problem


def job(name: str, outcome: Outcome, flops: Sequence[int | None], **ended: object) -> NightlyJob:
    nights = tuple(
        Night(f"2026-11-{day:02d}T02:00:00Z", "d", "", "jit_f", {"jit_f": {"flops": figure}})
        for day, figure in enumerate(flops, 1)
    )
    last = NightOutcome("2026-11-09", outcome, 0, "sentence", **ended)  # type: ignore[arg-type]
    return NightlyJob(name, (last,), nights)


def page(*jobs: NightlyJob) -> str:
    return unescape(jobs_page(jobs, ()))


def test_the_gravest_outcome_comes_first_then_names() -> None:
    jobs = [
        job("c", Outcome.KEPT, [1]),
        job("b", Outcome.CRASHED, [1]),
        job("a", Outcome.KEPT, [1]),
        job("d", Outcome.EXCEEDED, [1]),
    ]
    written = page(*jobs)
    places = [written.index(f">{name}<") for name in ("d", "b", "a", "c")]
    assert places == sorted(places)
    assert "4 jobs: 1 exceeded, 1 crashed, 2 kept." in written


def test_a_job_that_never_ended_is_not_listed() -> None:
    assert "No job yet." in page(NightlyJob("a", (), ()))


@pytest.mark.parametrize(
    ("flops", "words"),
    [([100, 100], "no change"), ([100, 110], "+10.0%"), ([0, 5], "new"), ([None, 5], "5 FLOP")],
)
def test_a_figure_has_its_change_since_the_night_before(
    flops: list[int | None], words: str
) -> None:
    assert words in page(job("a", Outcome.KEPT, flops))


def test_a_figure_that_the_last_night_lacks_is_not_known() -> None:
    written = page(job("a", Outcome.KEPT, [100, None]))
    assert "not known" in written
    assert "100 FLOP" not in written


def test_a_report_that_was_not_made_has_no_address() -> None:
    address = "a/site/2026-11-09/site/index.html"
    assert address in page(job("a", Outcome.KEPT, [1]))
    assert address not in page(job("a", Outcome.CRASHED, [1], has_report=False))
    compared = page(job("a", Outcome.KEPT, [1], is_compared=True))
    assert "a/site/2026-11-09-compared/site/index.html" in compared


def test_problems_are_listed_as_text() -> None:
    written = jobs_page([], [Problem("<b>", None, "Not read.")])
    assert "<b>:" not in written
    assert "<b>: Not read." in unescape(written)
