"""The pages of modules: the parts of each, a tab for each part, and all files of these pages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from msgspec import Struct

from xlareport.analysis.module import ModuleAnalysis, module_path
from xlareport.dump.modules import ModuleFiles
from xlareport.pages import navigation
from xlareport.pages.code.page import code_page
from xlareport.pages.collectives.page import collectives_page
from xlareport.pages.cost.page import cost_page, cost_parts
from xlareport.pages.kernels.page import kernels_page
from xlareport.pages.memory.page import memory_page
from xlareport.pages.module.duplicate import duplicate_page
from xlareport.pages.module.file_list import files_page
from xlareport.pages.module.graph import graph_page
from xlareport.pages.module.head import ModuleHead, module_head
from xlareport.pages.module.output import ModuleOutput
from xlareport.pages.module.overview import passes_page
from xlareport.pages.module.page import module_page
from xlareport.pages.pictures.requests import PictureView
from xlareport.pages.profile.page import profile_page
from xlareport.pages.rendering.templates import (
    page_files,
    part_payload,
    part_payloads,
    render,
    take_compiled,
)
from xlareport.pages.shardings.page import shardings_page
from xlareport.pages.skeleton.page import skeleton_page
from xlareport.pages.source.page import source_page
from xlareport.pages.steps.page import steps_page
from xlareport.pages.tables import COLUMNS, PartPage, lean_payloads
from xlareport.pages.texts.page import has_texts, texts_page
from xlareport.pages.tpu.page import tpu_page
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

_LABELS: Mapping[str, str] = {"texts": "HLO", "tpu": "TPU programs"}


class ModulePart(Struct, frozen=True):
    """A part of the page that is made later, so that a fault in one part does not affect others."""

    name: str
    """In its address, `m/x.md?cost`, and of its template."""
    page: Callable[[], PartPage]
    """Makes the record that the template shows, and its tables."""
    wide: bool = False
    """Whether it takes the room of the sidebars."""

    @property
    def label(self) -> str:
        """The title of its tab."""
        return _LABELS.get(self.name, self.name.capitalize())


T = TypeVar("T")


def module_parts(
    record: ModuleRecord, module: ModuleAnalysis, pictures: Sequence[PictureView] = ()
) -> Sequence[ModulePart]:
    """Return the parts of a module that there are, in the order of their tabs: by use."""
    costs = {*cost_parts(record)}
    memory, source = (module.cost if name in costs else None for name in ("memory", "source"))
    profile = module.profile if "time" in costs else None
    overview = module.overview if record.steps else None
    buffers = module.kernels.command_buffers if module.kernels else ()
    rows = (
        _part("steps", record.steps, lambda _: steps_page(record), wide=True),
        _part("cost", module.cost, partial(cost_page, record, module)),
        _part("time", profile, lambda seen: profile_page(record, seen, buffers)),
        _part("memory", memory, partial(memory_page, record)),
        _part("collectives", module.collectives, partial(collectives_page, record), wide=True),
        _part("shardings", record.shardings, partial(shardings_page, record), wide=True),
        _part("kernels", module.kernels, partial(kernels_page, record), wide=True),
        _part("skeleton", module.skeleton, partial(skeleton_page, record), wide=True),
        _part("graph", record, lambda _: graph_page(record, pictures), wide=True),
        _part("passes", overview, partial(passes_page, record, module)),
        _part("source", source, lambda cost: source_page(record, cost.source, cost.seconds)),
        _part("code", module.code, partial(code_page, record), wide=True),
        _part("texts", has_texts(module.summary.files), lambda _: texts_page(record), wide=True),
        _part("tpu", module.tpu, partial(tpu_page, record), wide=True),
        _part("files", module.summary, partial(files_page, record)),
    )
    return [part for part in rows if part is not None]


def _part(
    name: str, value: T | None, page: Callable[[T], PartPage], *, wide: bool = False
) -> ModulePart | None:
    """Return the part that shows a value; None without one."""
    return ModulePart(name, partial(page, value), wide) if value else None


class ModuleToShow(Struct, frozen=True):
    """A module, and the slugs of the previous and the next one."""

    analysis: ModuleAnalysis
    output: ModuleOutput
    record: ModuleRecord
    previous: str | None
    following: str | None


class ModulesShown(Struct, frozen=True):
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
        faults = Faults(module_path(to_show.analysis.summary.files))
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
    head = module_head(
        record, [(part.name, part.label) for part in parts], (to_show.previous, to_show.following)
    )
    if module.same_as is not None:
        duplicate = partial(_duplicate_page, to_show, module.same_as, head)
        yield from page_files(faults, source, record.name, duplicate, head)
        return
    yield from page_files(faults, source, record.name, partial(_first_page, to_show, head), head)
    for part in parts:
        source = navigation.module_page(record.slug, part.name)
        title = f"{part.label} of {record.name}"
        yield from part_payloads(faults, source, title, partial(_part_page, part, source, title))


def _part_page(part: ModulePart, source: str, title: str) -> Iterator[Payload]:
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
