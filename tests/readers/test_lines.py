"""Texts as lines, and the problems met in them."""

from xlareport.readers.lines import MOST_PROBLEMS, FileProblems, decoded_lines, numbers_in


def test_of_many_problems_the_first_are_listed_and_the_rest_counted() -> None:
    problems = FileProblems("a.txt")
    for line in range(1, MOST_PROBLEMS + 4):
        problems.add(line, "unreadable")
    *first, last = problems.all()
    assert [problem.line for problem in first] == [*range(1, MOST_PROBLEMS + 1)]
    assert (last.path, last.line) == ("a.txt", None)
    assert last.message == "3 more problems in this file"


def test_few_problems_are_listed_as_they_are() -> None:
    problems = FileProblems("a.txt")
    assert problems.all() == []
    problems.add(None, "cut off")
    assert [problem.message for problem in problems.all()] == ["cut off"]


def test_what_is_not_utf8_is_replaced_and_noted_at_its_line() -> None:
    problems = FileProblems("a.txt")
    assert decoded_lines(b"one\ntw\xffo\n", problems) == ["one", "tw\N{REPLACEMENT CHARACTER}o", ""]
    (problem,) = problems.all()
    assert (problem.line, problem.message) == (2, "not UTF-8 text")


def test_numbers_in_a_text() -> None:
    assert numbers_in("{1, 20}x3") == (1, 20, 3)
    assert numbers_in("none") == ()
