"""Names and functions as the search index stores them."""

from types import SimpleNamespace
from typing import Any

from xlareport.pages.pictures.snapshot_graph import Interned
from xlareport.pages.search.packed_names import (
    SnapshotSpan,
    pack_functions,
    pack_names,
    pack_values,
    sorted_names,
)

SPANS: dict[str, SnapshotSpan] = {"fusion.12": (3, 4), "fusion.2": (0, 4), "add": (0, 1)}


def test_names_are_stems_with_the_distances_between_their_numbers() -> None:
    names = sorted_names(SPANS)
    assert names == ["add", "fusion.2", "fusion.12"]
    packed = pack_names(names, SPANS, Interned())
    assert packed == {
        "stems": ["add", "fusion"],
        "counts": [1, 2],
        "numbers": [1, 4, 10],
        "spans": [0, 1, 2],
    }


def test_a_number_that_does_not_read_back_belongs_to_the_stem() -> None:
    packed = pack_names(["fusion.007"], {"fusion.007": (0, 0)}, Interned())
    assert packed["stems"] == ["fusion.007"]


def test_equal_spans_are_stored_once() -> None:
    packed = pack_values({"b": (0, 2), "a": (0, 2)}, Interned())
    assert packed == {"values": ["a", "b"], "spans": [0, 0]}


def test_a_function_counts_the_lines_in_it_and_those_called_from_it() -> None:
    lines: list[Any] = [
        SimpleNamespace(place=SimpleNamespace(function="attention"), callers=("layer", "loss")),
        SimpleNamespace(place=SimpleNamespace(function="layer"), callers=("loss", "loss")),
    ]
    places = {"attention": (0, 1), "layer": (0, 1), "loss": (0, 1)}
    packed = pack_functions(places, lines, Interned())
    assert dict(zip(packed["values"], packed["lines"], strict=True)) == {
        "attention": 1,
        "layer": 2,
        "loss": 2,
    }
