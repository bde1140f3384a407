"""Pages made one by one: a fault of ours in one costs that page, in whose place one says so."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from xlareport.pages import navigation
from xlareport.pages.module_parts import Parts
from xlareport.pages.rendering import render

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class FaultyPage:
    """What stands in the place of a page that could not be made."""

    name: str
    fault: str
    """What could not be made and why, in a whole sentence."""
    home: str
    coverage: str


def page_files(
    parts: Parts, source: str, title: str, make: Callable[[], Iterable[Made]]
) -> list[Made] | list[tuple[str, str]]:
    """Return the files of one page, its tables among them; where that fails, a plain page."""
    made = parts.make(f'The page "{title}"', lambda: list(make()), None)
    return [(source, _faulty(parts, source, title))] if made is None else made


def _faulty(parts: Parts, source: str, title: str) -> str:
    page = FaultyPage(
        title,
        parts.problems[-1].message,
        navigation.address(navigation.HOME, source),
        navigation.address(navigation.COVERAGE, source),
    )
    return render("faulty", page, title, search=False)
