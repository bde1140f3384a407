"""Copies of donated inputs are told together, others not."""

from collections.abc import Callable
from pathlib import Path

from xlareport.analysis.findings.copied_state import copied_state
from xlareport.analysis.findings.finding import Case

HAVING = Path(__file__).parents[2] / "data" / "findings" / "copied-state" / "by_hand.having.txt"


def test_copies_of_the_new_and_of_the_old_value_count(case_of: Callable[..., Case]) -> None:
    text = HAVING.read_text()
    (finding,) = copied_state(case_of(text))
    assert finding.count == 2
    assert "2 copies write 8.0 MiB" in finding.evidence
    assert "2 of them of the new value" in finding.evidence
    old = text.replace("copy(new_w)", "copy(w)").replace("tuple(copied_w", "tuple(new_w")
    (finding,) = copied_state(case_of(old))
    assert "1 of them of the new value" in finding.evidence


def test_copies_for_results_without_an_alias_do_not(case_of: Callable[..., Case]) -> None:
    text = HAVING.read_text()
    donor = text[: text.index(", input_output")] + text[text.index("\n") :]
    assert not list(copied_state(case_of(donor)))
    single = text.replace("copy(new_v)", "negate(new_v)")
    assert not list(copied_state(case_of(single)))
