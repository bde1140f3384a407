"""Histories as columns."""

from typing import Any

from xlareport.pages.history.stored import chunk_columns, index_columns, read_index

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


def test_ops_that_were_left_out_are_known_by_name() -> None:
    index = {"stages": [], "chunk": 9, "titles": [], "forward": 0, "between": [0], "names": {}}
    left_out = [("f/mul", ["main/%a", 3]), ("f/add", ["main/%b"])]
    stored = index_columns(index | {"left_out": left_out, "complete": False})
    assert stored["left_out"][1][2] == {"0": 3}
    assert set(read_index(stored).left_out) == {"f/mul", "f/add"}
    assert not read_index(stored).complete
