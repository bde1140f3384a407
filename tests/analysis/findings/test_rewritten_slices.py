"""Slices that loops write back whole are told from those that have to be written whole."""

from collections.abc import Callable

import pytest
from tests.analysis.findings.texts import having

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.rewritten_slices import rewritten_slices


def test_what_is_unchanged_takes_the_time(case_of: Callable[..., Case]) -> None:
    case = case_of(having("rewritten-slices"))
    (finding,) = rewritten_slices(case)
    assert finding.places == (("body", "new"),)
    assert finding.evidence.startswith(
        "Each iteration of `loop` changes 16.0 KiB of a slice of `cache['k']`, f32[6,1024,64,64], "
        "and `new` writes the whole slice, 16.0 MiB in each of its 6 executions: "
    )
    assert finding.seconds
    assert finding.seconds <= case.least(case.cost.instructions["body", "new"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "changed = f32[1024,64,64] dynamic-update-slice(one, row,",
            "changed = f32[1024,64,64] add(one,",
        ),
        ("dynamic-slice(cache, i,", "dynamic-slice(cache, at,"),
        ("f32[1,64,64]", "f32[512,64,64]"),
    ],
)
def test_another_place_a_large_change_and_other_work_are_no_such_slices(
    case_of: Callable[..., Case], old: str, new: str
) -> None:
    text = having("rewritten-slices")
    assert old in text
    assert not [*rewritten_slices(case_of(text.replace(old, new)))]
