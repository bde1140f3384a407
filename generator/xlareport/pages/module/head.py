"""The head of a module's page: its name, and the tabs of its parts."""

from collections.abc import Iterable

from msgspec import Struct

from xlareport.pages import navigation, words
from xlareport.records.report import ModuleRecord


class Tab(Struct, frozen=True):
    """The way to the overview, or to a part of the page."""

    label: str
    address: str
    part: str
    """Its name behind `?` in the address; empty for the overview."""


class ModuleHead(Struct, frozen=True):
    """The head of a module's page."""

    name: str
    title: str
    """The full name, as its files begin."""
    snapshot: str
    """Which snapshot the figures are of; empty where none could be read."""
    key: str
    """Prefix of the payload keys of its parts."""
    tabs: tuple[Tab, ...]
    """The overview first; alone for a module that repeats another one."""
    has_history: bool
    """Whether its overview has the histories of its instructions."""
    previous: str | None
    """The address of the module before, None for the first."""
    next: str | None


def module_head(
    record: ModuleRecord,
    parts: Iterable[tuple[str, str]],
    neighbors: tuple[str | None, str | None],
) -> ModuleHead:
    """Return the head of a module's page, above the tabs: name, tabs, neighbors.

    `parts` are the names and labels of its tabs, `neighbors` the slugs of the previous and next
    module.
    """
    page = navigation.module_page(record.slug)
    tabs = [Tab("Overview", navigation.address(page, page), "")]
    for name, label in parts:
        address = navigation.module_address(record.slug, name, seen_from=page)
        tabs.append(Tab(label, address, name))
    previous, following = (
        slug and navigation.module_address(slug, seen_from=page) for slug in neighbors
    )
    return ModuleHead(
        name=words.short_name(record.name),
        title=record.key,
        snapshot=_final(record),
        key=navigation.part_key(page),
        tabs=tuple(tabs),
        has_history=record.changed_steps > 0,
        previous=previous,
        next=following,
    )


def _final(record: ModuleRecord) -> str:
    """Return the label of the last snapshot that could be read."""
    labels = [stage.label for stage in record.stages if stage.instructions is not None]
    return labels[-1] if labels else ""
