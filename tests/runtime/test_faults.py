"""A defect of xlareport costs its own part of the work and nothing else."""

from collections.abc import Iterator

import pytest

from xlareport.runtime.faults import Faults, guard


def broken() -> int:
    raise ZeroDivisionError("on purpose")


def half() -> Iterator[int]:
    yield 1
    raise ZeroDivisionError("on purpose")


def test_a_part_that_raises_gives_its_default_and_is_listed() -> None:
    faults = Faults("dump")
    assert faults.attempt("The sum", broken, 7) == 7
    (problem,) = faults.problems
    assert (problem.path, problem.line) == ("dump", None)
    assert problem.message.startswith("The sum could not be made: a fault of xlareport (Zero")
    assert "in test_faults.py:" in problem.message
    assert problem.is_fault


def test_what_goes_well_is_returned() -> None:
    faults = Faults("dump")
    assert faults.attempt("The sum", lambda: 3, 7) == 3
    assert faults.attempt_all("The parts", lambda: [1, 2]) == (1, 2)
    assert faults.problems == []


def test_of_a_part_that_raises_midway_nothing_is_taken() -> None:
    faults = Faults("dump")
    assert faults.attempt_all("The parts", half) == ()
    assert len(faults.problems) == 1


def test_a_defect_becomes_what_the_fallback_returns() -> None:
    def fails() -> str:
        raise KeyError("no such key")

    assert guard(lambda: "done", str.upper) == "done"
    assert guard(fails, lambda reason: reason).startswith("a fault of xlareport (KeyError in ")


def test_an_interrupt_is_no_defect() -> None:
    def ends() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guard(ends, lambda reason: reason)
