"""Isolation of faults: a defect of xlareport in one part of the work costs that part alone."""

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, field

from xlareport.runtime.errors import Problem

T = TypeVar("T")
U = TypeVar("U")


class Faults(Struct):
    """Runs the parts of the work on one module or report, and lists those that failed."""

    path: str
    """The path that represents the module or the report in a problem."""
    problems: list[Problem] = field(default_factory=list)

    def attempt(self, what: str, part: Callable[[], T], default: U) -> T | U:
        """Return the result of `part`; where it raises, list the problem and return `default`."""
        try:
            return part()
        except Exception as error:  # noqa: BLE001 - any defect is listed and ends its part only
            message = f"{what} could not be made: {describe_fault(error)}."
            self.problems.append(Problem(self.path, None, message, is_fault=True))
            return default

    def attempt_all(self, what: str, part: Callable[[], Iterable[T]]) -> tuple[T, ...]:
        """Return all that `part` yields, or nothing where it raises."""
        nothing: tuple[T, ...] = ()
        return self.attempt(what, lambda: tuple(part()), nothing)


def guard(work: Callable[[], T], fallback: Callable[[str], T]) -> T:
    """Return the result of `work`; where it raises, of `fallback`, called with the reason."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - any defect costs this work and no other
        return fallback(describe_fault(error))


def describe_fault(error: Exception) -> str:
    """Return type, place and message of an error that is a defect of xlareport."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    return f"a fault of xlareport ({type(error).__name__} in {where}: {error})"
