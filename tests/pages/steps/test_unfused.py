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


def test_a_time_far_above_the_unfused_one_is_explained() -> None:
    (group,) = unfused_groups([UnfusedPair("a", "b", "r", 1.07980211e09, 15.809, "exact")])
    (example,) = group["examples"]
    assert example["reason"].endswith(
        "1,080 s fused, 15.8 µs unfused (its model computes the producer again for each read of "
        "its result)"
    )


def test_several_consumers() -> None:
    """The reason is that of the producer with all of them; the weakest grade is the group's."""
    (group,) = unfused_groups(
        [
            UnfusedPair("a", "b", "r", None, None, "exact"),
            UnfusedPair("d", "c", "r", 1.25, 2.0, "matched", 3),
            UnfusedPair("e", "c", "r", None, None, "matched", 2),
        ]
    )
    assert group["grade"] == "matched"
    assert [example["reason"].partition(".")[0] for example in group["examples"]] == [
        "",
        "One of 3 consumers: the pass fuses into all of them or none",
        "One of 2 consumers: the pass fuses into all of them or none",
    ]


def test_no_pairs_no_groups() -> None:
    assert unfused_groups([]) == []
