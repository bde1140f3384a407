"""The parts of the site: a fault of ours in one of them costs that part alone."""

import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from xlareport.dump.modules import ModuleFiles
from xlareport.runtime.errors import Problem

T = TypeVar("T")
U = TypeVar("U")


@dataclass(slots=True)
class Parts:
    """Makes the parts of one module or report one by one, and notes those that failed."""

    place: str
    """The path that stands for the whole of them in a problem."""
    problems: list[Problem] = field(default_factory=list)

    def make(self, what: str, part: Callable[[], T], instead: U) -> T | U:
        """Return what `part` makes; where it fails, note that and return `instead`."""
        try:
            return part()
        except Exception as error:  # noqa: BLE001 - see the docstring of the module
            self.problems.append(
                Problem(self.place, None, f"{what} could not be made: {fault(error)}.")
            )
            return instead

    def payloads(self, what: str, part: Callable[[], Iterable[T]]) -> tuple[T, ...]:
        """Return all payloads of a part, or none of them where it fails."""
        nothing: tuple[T, ...] = ()
        return self.make(what, lambda: tuple(part()), nothing)


def place_of(files: ModuleFiles) -> str:
    """Return the path that stands for a module in a problem."""
    return files.artifacts[0].path if files.artifacts else files.key


def fault(error: Exception) -> str:
    """Say that an error is a fault of ours, and where it is."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    return f"a fault of xlareport ({type(error).__name__} in {where}: {error})"
