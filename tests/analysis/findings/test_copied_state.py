"""Copies of donated inputs are told together, others not."""

from collections.abc import Callable

from tests.analysis.findings.texts import having

from xlareport.analysis.findings.copied_state import copied_state
from xlareport.analysis.findings.finding import Case

TEXT = having("copied-state")


def test_copies_of_the_new_and_of_the_old_value_count(case_of: Callable[..., Case]) -> None:
    (finding,) = copied_state(case_of(TEXT))
    assert finding.count == 2
    assert finding.evidence.startswith(
        "2 copies read or overwrite the memory of donated inputs, 8.0 MiB; 2 of them write the "
        "new value: "
    )
    old = TEXT.replace("copy(new_w)", "copy(w)").replace("tuple(copied_w", "tuple(new_w")
    (finding,) = copied_state(case_of(old))
    assert "1 of them writes the new value" in finding.evidence


def test_copies_for_results_without_an_alias_do_not(case_of: Callable[..., Case]) -> None:
    donor = TEXT[: TEXT.index(", input_output")] + TEXT[TEXT.index("\n") :]
    assert not list(copied_state(case_of(donor)))
    single = TEXT.replace("copy(new_v)", "negate(new_v)")
    assert not list(copied_state(case_of(single)))
