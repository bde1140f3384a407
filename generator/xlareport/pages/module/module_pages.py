"""The pages of modules: the parts of each, a tab for each part, and all files of these pages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.module import ModuleAnalysis, module_path
from xlareport.dump.modules import ModuleFiles
from xlareport.pages import navigation, words
from xlareport.pages.module.head import ModuleHead, module_head
from xlareport.pages.module.output import ModuleOutput
from xlareport.pages.module.page import duplicate_page, module_page
from xlareport.pages.rendering.templates import (
    page_files,
    part_payload,
    part_payloads,
    render,
    take_compiled,
)
from xlareport.pages.tables import COLUMNS, lean_payloads
from xlareport.pages.tabs import ModuleTab, PlainTab, ShownModule
from xlareport.records.report import ModuleRecord
from xlareport.runtime.errors import Problem
from xlareport.runtime.faults import Faults
from xlareport.storage.payloads import (
    SHARED,
    Payload,
    TextFile,
    module_payloads,
    unpack_small_payloads,
)


def _find_tabs() -> Iterator[ModuleTab[Any]]:
    """Yield each `TAB`, of `pages/<feature>/page.py` and of the modules next to this one."""
    folder = Path(__file__).parent
    beside = (path for path in folder.glob("*.py") if path != Path(__file__))
    for path in sorted((*folder.parent.glob("*/page.py"), *beside)):
        module = import_module(f"xlareport.pages.{path.parent.name}.{path.stem}")
        if hasattr(module, "TAB"):
            yield module.TAB


TABS: tuple[ModuleTab[Any], ...] = tuple(sorted(_find_tabs(), key=lambda tab: tab.place))
"""The tabs of a module, in their order. A tab needs nothing but its own file."""


def module_tabs(shown: ShownModule) -> Iterator[tuple[ModuleTab[Any], Any]]:
    """Yield each tab that a module has, with the value that it shows."""
    for tab in TABS:
        if value := tab.value(shown):
            yield tab, value


class ModuleToShow(Struct, frozen=True):
    """A module, and the slugs of the previous and the next one."""

    analysis: ModuleAnalysis
    output: ModuleOutput
    record: ModuleRecord
    """Without its place among the modules of the dump, which no page of a module shows."""
    previous: str | None
    following: str | None
    key: str = ""
    """The key under which its pages are kept; empty where they are not."""


class DecidedByOthers(Struct, frozen=True):
    """All that a module's pages show and the module alone does not decide."""

    role: str
    role_reason: str
    findings: tuple[Finding, ...]
    """Those that are about several modules."""
    is_main: bool
    previous: str | None
    following: str | None


class WantedPages(Struct, frozen=True):
    """A module whose pages are wanted; it is loaded only where they have to be made."""

    result: str
    """Stands for all that the module decides: the key of its kept result; empty where it has none.
    """
    decided: DecidedByOthers
    load: Callable[[], ModuleToShow]


class ModulesShown(Struct, frozen=True):
    """The files of the pages of a module, and which of these pages could not be made."""

    files: list[TextFile]
    problems: list[Problem]
    columns: dict[str, Payload]
    """Payloads of the module's tables, by their keys."""


def show_module(to_show: ModuleToShow) -> ModulesShown:
    """Return the files of the pages of a module, with all of their small payloads.

    A fault of ours in one of these pages costs that page.
    """
    faults = Faults(module_path(to_show.analysis.summary.files))
    made_parts = list(_files(to_show, faults))
    files = [part for part in made_parts if not isinstance(part, Payload)]
    payloads = {part.key: part for part in made_parts if isinstance(part, Payload)}
    columns = {key: payloads.pop(key) for key in [*payloads] if key.startswith(f"{COLUMNS}/")}
    together = partial(_payloads, to_show, payloads.values())
    files.extend(faults.attempt_all("What its pages load", together))
    return ModulesShown(files, faults.problems, columns)


def module_files(
    modules: Sequence[ModuleToShow],
    templates: Mapping[str, bytes] = MappingProxyType({}),
    show: Callable[[ModuleToShow], ModulesShown] = show_module,
) -> list[ModulesShown]:
    """Return the files of the pages of each of some modules, as of `show`.

    `templates` are compiled.
    """
    take_compiled(templates)
    return [*map(show, modules)]


def _payloads(to_show: ModuleToShow, payloads: Iterable[Payload]) -> Iterator[TextFile]:
    return module_payloads(
        navigation.module_key(to_show.record.slug, SHARED),
        (*unpack_small_payloads(to_show.output.small), *payloads),
    )


def _files(to_show: ModuleToShow, faults: Faults) -> Iterator[TextFile | Payload]:
    module, record = to_show.analysis, to_show.record
    source = navigation.module_page(record.slug)
    shown = ShownModule(record, module, to_show.output.pictures)
    tabs = [] if module.same_as else [*module_tabs(shown)]
    head = module_head(
        record, [(tab.name, tab.label) for tab, _ in tabs], (to_show.previous, to_show.following)
    )
    if module.same_as is not None:
        duplicate = partial(_duplicate_page, to_show, module.same_as, head)
        yield from page_files(faults, source, record.name, duplicate, head)
        return
    yield from page_files(faults, source, record.name, partial(_first_page, to_show, head), head)
    for tab, value in tabs:
        source = navigation.module_page(record.slug, tab.name)
        title = f"{tab.label} of {record.name}"
        make = partial(_tab_page, tab, record, value, (source, title))
        yield from part_payloads(faults, source, title, make)


def _tab_page(
    tab: ModuleTab[Any], record: ModuleRecord, value: Any, named: tuple[str, str]
) -> Iterator[Payload]:
    page, (source, title) = tab.page(record, value), named
    template = "plain_tab" if isinstance(page, PlainTab) else tab.name
    name, slug = words.short_name(record.name), record.slug
    yield part_payload(source, template, page, title, wide=tab.wide, name=name, slug=slug)
    yield from lean_payloads(slug, page.tables)


def _duplicate_page(
    to_show: ModuleToShow, original: ModuleFiles, head: ModuleHead
) -> Iterator[TextFile | Payload]:
    record = to_show.record
    page = duplicate_page(record, original, head, to_show.analysis)
    yield navigation.module_page(record.slug), render("duplicate", page, record.name, search=False)
    yield from lean_payloads(record.slug, page.tables)


def _first_page(to_show: ModuleToShow, head: ModuleHead) -> Iterator[TextFile | Payload]:
    module, record = to_show.analysis, to_show.record
    page = module_page(record, module, head)
    yield navigation.module_page(record.slug), render("module", page, record.name, search=False)
    yield from lean_payloads(record.slug, page.tables)
