"""What reasons say as text."""

import pytest

from xlareport.analysis.matching.search.reasons import (
    FirstIteration,
    InBranch,
    InHalves,
    Past,
    Reason,
    WithUser,
)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (Past("add.1"), "past %add.1"),
        (Past("add.1", of_copy=True), "a further copy, past %add.1"),
        (FirstIteration("while.1"), "a further copy, of the first iteration of %while.1"),
        (InBranch(), "a further copy, in another branch"),
        (
            InHalves(3, "a", "b"),
            "into 3 instructions on 32-bit halves: %a gives the low half, %b the high half",
        ),
        (
            InHalves(3, "a", "b", are_complex=True),
            (
                "into 3 instructions on real and imaginary parts: "
                "%a gives the real parts, %b the imaginary ones"
            ),
        ),
        (
            InHalves(1, "a", "b", are_complex=True),
            "%a gives the real parts, %b the imaginary ones",
        ),
        (WithUser("x", "its user %x"), "its user %x was removed"),
        (
            WithUser("x", "%x used its value and", "%y uses %z now", is_expanded=True),
            "%x used its value and was expanded, and %y uses %z now",
        ),
    ],
)
def test_a_reason_reads_as_a_sentence(reason: Reason, text: str) -> None:
    assert str(reason) == text
