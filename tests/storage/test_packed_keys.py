"""Keys and places in few bytes: as a dictionary has them."""

from array import array

import pytest

from xlareport.storage import packed_keys
from xlareport.storage.packed_keys import (
    ChosenValues,
    KeyedValues,
    KeyPlaces,
    PackedStrings,
    digest_number,
    group_alike,
    index_keys,
    keys_in_order,
)

KEYS = [f"module_{number:04d}.jit_ä\udc80{number % 3}" for number in range(1_000)]


def test_strings_come_back_as_they_were() -> None:
    packed = PackedStrings(["", *KEYS])
    assert list(packed) == ["", *KEYS]
    assert (packed[-1], packed[1:3], len(packed)) == (KEYS[-1], KEYS[:2], 1_001)
    with pytest.raises(IndexError):
        packed[1_001]


def test_keys_have_the_places_of_a_dictionary() -> None:
    places = KeyPlaces(KEYS)
    assert dict(places) == {key: place for place, key in enumerate(KEYS)}
    assert "module" not in places
    assert places.get("") is None
    values = KeyedValues(places, range(0, 2_000, 2))
    assert values[KEYS[7]] == 14
    assert values.get("module") is None
    assert list(values.values()) == list(range(0, 2_000, 2))


def test_keys_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_keys, "hash", lambda _: 7, raising=False)
    places = KeyPlaces(KEYS[:20])
    assert [places[key] for key in KEYS[:20]] == list(range(20))
    assert KEYS[20] not in places


def test_few_keys_are_a_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_keys, "SMALL_RESIDENT", len(KEYS) - 1)
    assert isinstance(index_keys(KEYS[:3], 3), dict)
    assert isinstance(index_keys(KEYS, len(KEYS)), KeyPlaces)


@pytest.mark.parametrize("number", [3, 300])
def test_keys_come_in_the_order_of_their_places(number: int) -> None:
    keys = [f"module_{place * 7 % number}" for place in range(number)]
    assert list(keys_in_order(index_keys(keys, number))) == keys


def test_chosen_values_are_taken_from_the_sequence() -> None:
    chosen = ChosenValues("abcdef", [4, 0, 2])
    assert (list(chosen), chosen[1], list(chosen[1:])) == (["e", "a", "c"], "a", ["a", "c"])


def test_equal_numbers_are_grouped_by_their_first_places() -> None:
    numbers = array("q", (5, 1, 5, 9, 1, 5))
    assert list(map(list, group_alike(numbers))) == [[0, 2, 5], [1, 4]]


def test_a_digest_tells_values_apart() -> None:
    assert digest_number(("a", 1)) == digest_number(("a", 1))
    assert digest_number(("a", 1)) != digest_number(("a1",))
