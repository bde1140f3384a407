"""Pages and their parts made one by one: a fault of ours costs one, in whose place one says so."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from xlareport.pages import navigation
from xlareport.pages.module_parts import Parts
from xlareport.pages.rendering import part_payload, render
from xlareport.storage.payloads import Payload

if TYPE_CHECKING:
    from xlareport.pages.module.head import ModuleHead

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class FaultyPage:
    """What stands in the place of a page that could not be made."""

    name: str
    fault: str
    """What could not be made and why, in a whole sentence."""
    home: str
    coverage: str
    head: "ModuleHead | None"
    """Of a module's page, so that its parts can be reached all the same."""


def page_files(
    parts: Parts,
    source: str,
    title: str,
    make: Callable[[], Iterable[Made]],
    head: "ModuleHead | None" = None,
) -> list[Made] | list[tuple[str, str]]:
    """Return the files of one page, its tables among them; where that fails, a plain page."""
    made = _made(parts, title, make)
    if made is not None:
        return made
    return [(source, render("faulty", _fault(parts, source, title, head), title, search=False))]


def part_payloads(
    parts: Parts, source: str, title: str, make: Callable[[], Iterable[Payload]]
) -> list[Payload]:
    """Return a part of a module's page, and its tables; where that fails, a plain part."""
    made = _made(parts, title, make)
    if made is not None:
        return made
    return [part_payload(source, "fault", _fault(parts, source, title, None), title)]


def _made(parts: Parts, title: str, make: Callable[[], Iterable[Made]]) -> list[Made] | None:
    return parts.make(f'The page "{title}"', lambda: list(make()), None)


def _fault(parts: Parts, source: str, title: str, head: "ModuleHead | None") -> FaultyPage:
    return FaultyPage(
        title,
        parts.problems[-1].message,
        navigation.address(navigation.HOME, source),
        navigation.address(navigation.COVERAGE, source),
        head,
    )
