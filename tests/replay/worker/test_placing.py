"""Parts of arrays on devices, and arrays of parts; skipped without numpy."""

import pytest

numpy = pytest.importorskip("numpy")
from xlareport.replay.worker.placing import parts_of, whole_of  # noqa: E402 - needs numpy

ROWS = {"dimensions": [3, 2], "local": [2, 2], "boxes": [[[0, 2], [0, 2]], [[2, 3], [0, 2]]]}
COPIES = {"dimensions": [2], "local": [2], "boxes": [[[0, 2]], [[0, 2]]]}


def test_an_uneven_part_is_filled_up_and_cut_off_again() -> None:
    array = numpy.arange(6.0).reshape(3, 2)
    parts = parts_of(array, ROWS)
    assert [part.tolist() for part in parts] == [[[0, 1], [2, 3]], [[4, 5], [0, 0]]]
    (whole,) = whole_of(parts, ROWS)
    assert whole.tolist() == array.tolist()


def test_replicas_are_rows() -> None:
    value = {"dimensions": [2, 3], "local": [3], "boxes": [[[0, 1], [0, 3]], [[1, 2], [0, 3]]]}
    array = numpy.arange(6.0).reshape(2, 3)
    parts = parts_of(array, value)
    assert [part.tolist() for part in parts] == array.tolist()
    assert whole_of(parts, value)[0].tolist() == array.tolist()


def test_copies_that_differ_are_all_kept() -> None:
    same, other = numpy.array([1.0, 2.0]), numpy.array([1.0, 3.0])
    assert len(whole_of([same, same.copy()], COPIES)) == 1
    assert [each.tolist() for each in whole_of([same, other], COPIES)] == [[1, 2], [1, 3]]
