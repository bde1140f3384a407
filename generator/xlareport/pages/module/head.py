"""What stands above a module's page and each of its parts: the way to it, and a tab for each."""

from collections.abc import Iterable
from dataclasses import dataclass

from xlareport.pages import navigation, words
from xlareport.pages.module.parts import ModulePart
from xlareport.records.report import ModuleRecord


@dataclass(frozen=True, slots=True)
class Tab:
    """The way to the overview, or to a part of the page."""

    label: str
    address: str
    part: str
    """Its name behind `?` in the address; empty for the overview."""


@dataclass(frozen=True, slots=True)
class ModuleHead:
    """The head of a module's page."""

    name: str
    key: str
    """What the payload keys of its parts begin with."""
    tabs: tuple[Tab, ...]
    """The overview first; alone for a module that repeats another one."""
    previous: str | None
    """The address of the module before, None for the first."""
    next: str | None


def module_head(
    record: ModuleRecord, parts: Iterable[ModulePart], neighbours: tuple[str | None, str | None]
) -> ModuleHead:
    """Make the head of one page; `neighbours` are the slugs of the modules before and after."""
    page = navigation.module_page(record.slug)
    sources = [("Overview", page), *((part.label, part.source) for part in parts)]
    return ModuleHead(
        name=words.short_name(record.name),
        key=navigation.part_key(page),
        tabs=tuple(
            Tab(label, navigation.address(source, page), navigation.part_name(source))
            for label, source in sources
        ),
        previous=navigation.neighbour(neighbours[0], page),
        next=navigation.neighbour(neighbours[1], page),
    )
