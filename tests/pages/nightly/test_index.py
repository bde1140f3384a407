"""The list of nights: every outcome with its pages, and nothing of a name becomes markup."""

from xlareport.pages.nightly.index import NightOutcome, Outcome, index_page, latest_page

BASE = NightOutcome("n1", Outcome.BASELINE, 0, "This night is the baseline.")
RED = NightOutcome("n2", Outcome.EXCEEDED, 1, "FLOPs grew.", baseline="n1", is_compared=True)
CRASH = NightOutcome("n3", Outcome.CRASHED, 3, "Exit code 3.", has_report=False)


def test_the_last_night_comes_first_with_what_it_has() -> None:
    page = index_page((BASE, RED, CRASH), "train", "n1")

    assert page.index("Exit code 3") < page.index("FLOPs grew") < page.index("is the baseline")
    assert 'href="n2/site/index.html"' in page
    assert 'href="n2-compared/site/index.html"' in page
    assert 'href="n3/site/index.html"' not in page


def test_a_title_is_text() -> None:
    assert "<script>" not in index_page((BASE,), "<script>alert(1)</script>", None)


def test_the_latest_report_is_that_of_the_last_night_that_has_one() -> None:
    assert 'href="../n2/site/index.html"' in latest_page((BASE, RED, CRASH), "train")
    assert "No night has a report yet" in latest_page((CRASH,), "train")
