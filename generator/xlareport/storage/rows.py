"""Rows of values as payloads store them: how long each row is, and all values one after another."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from typing import Any


def flat(rows: Iterable[Iterable[Any]]) -> list[Any]:
    """Return how long the rows are, and all that is in them."""
    lists = [list(row) for row in rows]
    return [list(map(len, lists)), list(chain(*lists))]


def split_rows(lengths: Sequence[int], values: Sequence[Any]) -> list[Sequence[Any]]:
    """Return the rows of which `flat` returned lengths and values."""
    ends = accumulate(lengths)
    return [values[end - length : end] for length, end in zip(lengths, ends, strict=True)]
