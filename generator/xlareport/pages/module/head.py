"""What stands above a module's page and each of its parts: the way to it, and a tab for each."""

from collections.abc import Iterator
from dataclasses import dataclass

from xlareport.analysis.module import ModuleAnalysis
from xlareport.pages import navigation, words
from xlareport.pages.expense_links import expense_sources
from xlareport.pages.texts.payload import has_texts
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
    record: ModuleRecord, module: ModuleAnalysis, neighbours: tuple[str | None, str | None]
) -> ModuleHead:
    """Make the head of one page; `neighbours` are the slugs of the modules before and after."""
    page = navigation.module_page(record.slug)
    parts = [] if module.same_as is not None else list(_parts(record, module))
    return ModuleHead(
        name=words.short_name(record.name),
        key=navigation.part_key(page),
        tabs=tuple(
            Tab(label, navigation.address(source, page), navigation.part_name(source))
            for label, source in (("Overview", page), *parts)
        ),
        previous=navigation.neighbour(neighbours[0], page),
        next=navigation.neighbour(neighbours[1], page),
    )


def _parts(record: ModuleRecord, module: ModuleAnalysis) -> Iterator[tuple[str, str]]:
    """Yield label and source of each part that there is."""
    costs = dict(expense_sources(record))
    time = costs.pop("Time", None)
    if record.steps:
        yield "Steps", navigation.steps_page(record.slug)
    yield from costs.items()
    if module.code:
        yield "Code", navigation.code_page(record.slug)
    if has_texts(module.summary.files):
        yield "Texts", navigation.texts_page(record.slug)
    if time:
        yield "Time", time
