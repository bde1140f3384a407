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
            UnfusedPair("e", "c", "r", 1.25, 2.0, "matched", 2, listed=("bitcast", "c")),
        ]
    )
    assert group["grade"] == "matched"
    first, second, third = (example["reason"] for example in group["examples"])
    assert first == ""
    assert second.startswith(
        "One of 3 consumers on which the pass decides together. XLA's estimate"
    )
    assert "XLA's estimate with all consumers and launches: 1.25 µs fused" in second
    assert "XLA's estimate with %bitcast, %c and launches: 1.25 µs fused" in third


def test_a_reason_of_the_producer_alone_is_about_all_consumers() -> None:
    reason = "not fusing because there are only bitcast users"
    (group,) = unfused_groups([UnfusedPair("a", "b", reason, None, None, "exact", 3)])
    assert group["examples"][0]["reason"] == ""


def test_no_pairs_no_groups() -> None:
    assert unfused_groups([]) == []
