"""Histories as columns: similar values together, strings folded, numbers as differences."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from xlareport.pages.pictures.graph import flat
from xlareport.storage.folding import fold_strings


def index_columns(index: Mapping[str, Any]) -> dict[str, Any]:
    """Return the index with its titles and names as columns."""
    first, *between = index["between"]
    names = index["names"]
    return {
        **index,
        "titles": _strings(index["titles"]),
        "between": [first, _strings(between)],
        "names": [_strings(names), *_numbers(names.values())],
    }


def chunk_columns(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chunk with each field of its subjects, standings and events as a column."""
    subjects, events = chunk["subjects"], _columns(chunk["events"], 7)
    stages, kinds, instructions, sources, targets, grades, reasons = events
    return {
        "instructions": [subject["instructions"] for subject in subjects],
        "happened": [subject["events"] for subject in subjects],
        "origins": _listed([subject["origins"] for subject in subjects]),
        "now": _listed([subject["now"] for subject in subjects]),
        "standings": [_strings(column) for column in _columns(chunk["standings"], 5)],
        "events": [
            stages,
            _strings(kinds),
            _strings(instructions),
            _lists(sources),
            _lists(targets),
            _strings(grades),
            _strings(reasons),
        ],
    }


def _columns(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    return [[row[place] for row in rows] for place in range(width)]


def _strings(values: Iterable[str]) -> list[Any]:
    return [*fold_strings(list(values)).listed()]


def _lists(values: Sequence[Sequence[str | int]]) -> list[Any]:
    """Return how long each list is, all their strings, and by row the numbers at their ends."""
    names = [[name for name in row if isinstance(name, str)] for row in values]
    more = {str(place): row[-1] for place, row in enumerate(values) if len(row) > len(names[place])}
    lengths, strings = flat(names)
    return [lengths, _strings(strings), more]


def _listed(values: Sequence[Sequence[int]]) -> list[Any]:
    """Return the counts that the lists begin with, how long the rest is, and its distances."""
    return [[value[0] for value in values], *_numbers([value[1:] for value in values])]


def _numbers(values: Iterable[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return how long each list is, and all their numbers as distances."""
    lengths, numbers = flat(values)
    return lengths, [after - before for before, after in pairwise([0, *numbers])]
