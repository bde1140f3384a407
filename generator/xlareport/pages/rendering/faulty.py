"""Pages and their parts made one by one: a fault of ours costs one, in whose place one says so."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from xlareport.pages import navigation
from xlareport.pages.rendering.templates import part_payload, render
from xlareport.runtime.faults import Faults
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
    faults: Faults,
    source: str,
    title: str,
    make: Callable[[], Iterable[Made]],
    head: "ModuleHead | None" = None,
) -> list[Made] | list[tuple[str, str]]:
    """Return the files of one page, its tables among them; where that fails, a plain page."""
    result = _made(faults, title, make)
    if result is not None:
        return result
    return [(source, render("faulty", _fault(faults, source, title, head), title, search=False))]


def part_payloads(
    faults: Faults, source: str, title: str, make: Callable[[], Iterable[Payload]]
) -> list[Payload]:
    """Return a part of a module's page, and its tables; where that fails, a plain part."""
    payloads = _made(faults, title, make)
    if payloads is not None:
        return payloads
    return [part_payload(source, "fault", _fault(faults, source, title, None), title)]


def _made(faults: Faults, title: str, make: Callable[[], Iterable[Made]]) -> list[Made] | None:
    return faults.attempt(f'The page "{title}"', lambda: list(make()), None)


def _fault(faults: Faults, source: str, title: str, head: "ModuleHead | None") -> FaultyPage:
    return FaultyPage(
        title,
        faults.problems[-1].message,
        navigation.address(navigation.HOME, source),
        navigation.address(navigation.COVERAGE, source),
        head,
    )
