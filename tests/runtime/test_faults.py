"""A defect of xlareport costs its own part of the work and nothing else."""

import pytest

from xlareport.runtime.faults import guard


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
