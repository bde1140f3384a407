"""The rows of large groups, which the page loads on demand."""

from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.groups import grouped
from xlareport.analysis.steps.kinds import Kind
from xlareport.pages.steps.change_rows import further_rows, row, row_places
from xlareport.storage.payloads import read_payload, write_payload


def _changes(kind: Kind, count: int) -> list[Change]:
    return [change(kind, f"{kind}.{number}") for number in range(count)]


def test_every_row_is_with_the_step_or_at_one_of_its_places() -> None:
    groups = grouped(
        [
            *_changes(Kind.ADDED, 4),
            *_changes(Kind.REMOVED, 1_300),
            *_changes(Kind.LAYOUT, 3),
            *_changes(Kind.SHAPE, 700),
        ]
    )
    payloads = dict(
        read_payload(write_payload(payload)[1]) for payload in further_rows(groups, "m/x/step~1")
    )
    assert max(sum(map(len, value)) for value in payloads.values()) == 500
    for group, places in zip(groups, row_places(groups, "m/x/step~1"), strict=True):
        shown = [*map(row, group.examples)]
        for key, place in places:
            shown += payloads[key][place]
        assert shown == [*map(row, group.changes)]
        assert len(shown) == group.count


def test_a_small_group_has_no_further_rows() -> None:
    groups = grouped(_changes(Kind.ADDED, 3))
    assert row_places(groups, "m/x/step~1") == [[]]
    assert not [*further_rows(groups, "m/x/step~1")]


def test_a_detail_that_the_reason_has_is_not_repeated() -> None:
    assert row(change(Kind.LAYOUT))["reason"] == "for a reason; this → that"
    repeated = replace(change(Kind.LAYOUT), reason="past this → that")
    assert row(repeated)["reason"] == "past this → that"
