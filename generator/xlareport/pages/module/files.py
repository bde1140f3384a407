"""The pages of modules, their parts and tables: every file that needs the module's place in all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from xlareport.analysis.module import ModuleAnalysis, place_of
from xlareport.dump.modules import ModuleFiles
from xlareport.pages import navigation
from xlareport.pages.module.duplicate import duplicate_page
from xlareport.pages.module.output import ModuleOutput
from xlareport.pages.module.page import module_page
from xlareport.pages.module.parts import ModuleHead, ModulePart, module_head, module_parts
from xlareport.pages.rendering.templates import (
    page_files,
    part_payload,
    part_payloads,
    render,
    take_compiled,
)
from xlareport.pages.tables import COLUMNS, lean_payloads
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


@dataclass(frozen=True, slots=True)
class ModuleToShow:
    """A module, and the slugs of the previous and the next one."""

    analysis: ModuleAnalysis
    output: ModuleOutput
    record: ModuleRecord
    previous: str | None
    following: str | None


@dataclass(frozen=True, slots=True)
class ModulesShown:
    """The files of the pages of some modules, and which of these pages could not be made."""

    files: list[TextFile]
    problems: list[Problem]
    columns: dict[str, Payload]
    """Payloads of the modules' tables, by their keys."""


def module_files(
    modules: Sequence[ModuleToShow], templates: Mapping[str, bytes] = MappingProxyType({})
) -> ModulesShown:
    """Return the files of the pages of some modules, with all of their small payloads.

    `templates` are compiled. A fault of ours in one of these pages costs that page.
    """
    take_compiled(templates)
    shown = ModulesShown([], [], {})
    for to_show in modules:
        faults = Faults(place_of(to_show.analysis.summary.files))
        result = list(_files(to_show, faults))
        shown.files.extend(part for part in result if not isinstance(part, Payload))
        payloads = {part.key: part for part in result if isinstance(part, Payload)}
        columns = {key: payloads.pop(key) for key in [*payloads] if key.startswith(f"{COLUMNS}/")}
        shown.columns.update(columns)
        together = partial(_payloads, to_show, payloads.values())
        shown.files.extend(faults.attempt_all("What its pages load", together))
        shown.problems.extend(faults.problems)
    return shown


def _payloads(to_show: ModuleToShow, payloads: Iterable[Payload]) -> Iterator[TextFile]:
    return module_payloads(
        navigation.module_key(to_show.record.slug, SHARED),
        (*unpack_small_payloads(to_show.output.small), *payloads),
    )


def _files(to_show: ModuleToShow, faults: Faults) -> Iterator[TextFile | Payload]:
    module, record = to_show.analysis, to_show.record
    source = navigation.module_page(record.slug)
    parts = [] if module.same_as else list(module_parts(record, module, to_show.output.pictures))
    head = module_head(record, parts, (to_show.previous, to_show.following))
    if module.same_as is not None:
        duplicate = partial(_duplicate_page, to_show, module.same_as, head)
        yield from page_files(faults, source, record.name, duplicate, head)
        return
    yield from page_files(faults, source, record.name, partial(_first_page, to_show, head), head)
    for part in parts:
        source = navigation.module_page(record.slug, part.name)
        title = f"{part.label} of {record.name}"
        yield from part_payloads(faults, source, title, partial(_part, part, source, title))


def _part(part: ModulePart, source: str, title: str) -> Iterator[Payload]:
    page = part.page()
    yield part_payload(source, part.name, page, title, wide=part.wide)
    yield from lean_payloads(page.slug, page.tables)


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
