"""Folded strings come back as they were, and cost little where only numbers differ."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlareport.storage.string_folding import (
    SLOT,
    Folded,
    FoldingError,
    fold_strings,
    unfold_strings,
)

ROOM = 10**6
pieces = st.sampled_from(["a", "%", "%s", SLOT, "0", "7", "007", "12345678901", "{", "\udc80", "é"])
strings = st.lists(st.lists(pieces, max_size=6).map("".join), max_size=8)


@given(strings)
def test_strings_come_back(given_strings: list[str]) -> None:
    made = json.loads(json.dumps(fold_strings(given_strings).listed()))

    assert unfold_strings(Folded(*made), ROOM) == given_strings


@given(st.lists(st.text(max_size=20), max_size=5))
def test_any_strings_come_back(given_strings: list[str]) -> None:
    assert unfold_strings(fold_strings(given_strings), ROOM) == given_strings


def test_strings_that_differ_in_numbers_are_one_pattern() -> None:
    made = fold_strings([f"%add.{number} = add(%x.7)" for number in range(4, 104)])

    assert made.patterns == [f"%add.{SLOT} = add(%x.{SLOT})"]
    assert made.numbers == [4, *[1] * 99, 7, *[0] * 99]


def test_a_constant_of_many_numbers_is_its_own_pattern() -> None:
    text = ", ".join(map(str, range(100)))

    assert fold_strings([text]).patterns == [text]


def test_a_string_that_looks_like_a_pattern_is_none() -> None:
    assert fold_strings([f"a{SLOT}", "a1"]).patterns == [[f"a{SLOT}"], f"a{SLOT}"]


def test_a_long_line_of_numbers_is_not_taken_apart() -> None:
    line = "1, " * 200_000
    tracemalloc.start()
    try:
        found = fold_strings([line])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.patterns == [line]
    assert peak < 3 * len(line)


DAMAGED = {
    "no pattern": Folded(["a"], [1], []),
    "negative": Folded(["a"], [-1], []),
    "few numbers": Folded([f"a{SLOT}"], [0], []),
    "many numbers": Folded([f"a{SLOT}"], [0], [1, 2]),
    "below zero": Folded([f"a{SLOT}"], [0], [-1]),
    "too large": Folded([f"a{SLOT}"], [0], [10**30]),
    "too long": Folded(["a" * 1000], [0] * 1001, []),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_damaged_is_refused(name: str) -> None:
    with pytest.raises(FoldingError):
        unfold_strings(DAMAGED[name], ROOM)
