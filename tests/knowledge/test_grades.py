"""Grades: their order, and the weakest of several."""

from xlareport.knowledge.grades import Grade, doubt, weakest


def test_the_weakest_grade_is_the_least_sure() -> None:
    assert weakest(["exact", "guessed", "matched"]) is Grade.GUESSED
    assert weakest([Grade.EXACT, Grade.MATCHED]) is Grade.MATCHED


def test_no_grades_have_the_default() -> None:
    assert weakest([]) is Grade.EXACT
    assert weakest([], default=Grade.GUESSED) is Grade.GUESSED


def test_doubt_counts_from_the_surest() -> None:
    assert [doubt(grade) for grade in ("exact", "matched", "guessed")] == [0, 1, 2]
