"""Histories as columns."""

from typing import Any

from xlareport.pages.history.stored import chunk_columns

EVENTS: list[list[Any]] = [
    [3, "created", "main/%fusion.1", ["a", "b", 7], [], "e", "why"],
    [5, "renamed", "main/%fusion.2", ["fusion.1"], ["fusion.3"], "m", ""],
]


def test_names_that_are_not_listed_are_counted_beside_those_that_are() -> None:
    chunk = {"subjects": [], "events": EVENTS, "standings": []}
    stages, _, _, sources, targets, *_ = chunk_columns(chunk)["events"]
    assert stages == [3, 5]
    lengths, _, more = sources
    assert (lengths, more) == ([2, 1], {"0": 7})
    assert (targets[0], targets[2]) == ([0, 1], {})
