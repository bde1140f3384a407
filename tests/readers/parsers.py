"""What a test of a reader says about its parser, for the properties that hold for each of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from xlareport.analysis.profile.instruction_times import sum_times
from xlareport.runtime.errors import Problem

PATH = "a file"
DATA = Path(__file__).parents[1] / "data"
Outcome = tuple[Any, Sequence[Problem]]


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser, a good file of it, and how to ask whether it found what stands there."""

    read: Callable[[bytes], Outcome]
    whole: bytes
    """A good file, of which something is found."""
    pieces: Sequence[bytes] = field(default=())
    """Others than lines of the good file."""
    cases: Sequence[bytes] = field(default=())
    """Whole files that once were a fault."""
    says: bool = True
    """A file of nothing that it knows is a problem: not where files may have nothing to tell."""

    @property
    def name(self) -> str:
        return str(getattr(self.read, "__name__", ""))


def without_problems(read: Callable[[bytes], Any]) -> Callable[[bytes], Outcome]:
    """Return a reader that has no problems as one that has."""

    def reading(data: bytes) -> Outcome:
        return read(data), ()

    reading.__name__ = read.__name__
    return reading


def of_text(read: Callable[[str], Any]) -> Callable[[bytes], Outcome]:
    """Return a reader of a text as one of bytes."""

    def reading(data: bytes) -> Outcome:
        return read(data.decode("utf-8", "replace")), ()

    reading.__name__ = read.__name__
    return reading


def with_path(read: Callable[[bytes, str], tuple[Any, Any]]) -> Callable[[bytes], Outcome]:
    """Return a reader that knows its path."""

    def reading(data: bytes) -> Outcome:
        return read(data, PATH)

    reading.__name__ = read.__name__
    return reading


def events(read: Callable[..., Any]) -> Callable[[bytes], Outcome]:
    """Return a reader of events as one of a whole file, which also adds up their times."""

    def reading(data: bytes) -> Outcome:
        problems: list[Problem] = []
        found = list(read(BytesIO(data), PATH, problems))
        sum_times(found)
        return found, problems

    reading.__name__ = read.__name__
    return reading
