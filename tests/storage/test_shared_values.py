"""Equal values are one object, whoever made them."""

import pytest

from xlareport.storage import shared_values
from xlareport.storage.shared_values import SharedValues


def test_identity_are_one() -> None:
    shared = SharedValues()
    first, second = (str(number) for number in (1_000, 1_000))
    assert first is not second
    assert shared.share(first) is shared.share(second) is first


def test_tuples_are_shared_with_their_members() -> None:
    shared = SharedValues()
    pairs = [tuple(map(str, numbers)) for numbers in ((1_000, 2_000), (1_000, 2_000), (2_000, 3))]
    first, again, other = (shared.share_each(pair) for pair in pairs)
    assert first is again
    assert other == ("2000", "3")
    assert other[0] is first[1]


def test_few_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_values, "_MOST_VALUES", 2)
    shared = SharedValues()
    values = [("a", number) for number in range(5)]
    assert [shared.share(value) for value in values] == values
    assert shared.share(("a", 4)) is values[4]
    assert shared.share(("a", 0)) is not values[0], "it was forgotten"
