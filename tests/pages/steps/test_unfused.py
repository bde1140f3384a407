"""Pairs left apart as groups of their step."""

from xlareport.analysis.code.unfused_pairs import UnfusedPair
from xlareport.pages.steps.unfused import unfused_groups


def test_one_group_for_each_reason() -> None:
    """The most frequent first, with the estimates where there are some."""
    groups = unfused_groups(
        [
            UnfusedPair("a", "b", "rare", 1.25, 2.0, "exact"),
            UnfusedPair("a", "c", "frequent", None, None, "exact"),
            UnfusedPair("d", "c", "frequent", None, None, "exact"),
        ]
    )
    assert [(group["title"], group["count"]) for group in groups] == [("frequent", 2), ("rare", 1)]
    (example,) = groups[1]["examples"]
    assert (example["before"], example["after"], example["grade"]) == ("%a", "%b", "exact")
    assert "1.25 µs fused, 2 µs unfused" in example["reason"]
    assert groups[0]["examples"][0]["reason"] == ""
    assert {group["kind"] for group in groups} == {"unfused"}


def test_no_pairs_no_groups() -> None:
    assert unfused_groups([]) == []
