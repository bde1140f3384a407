"""The parts of a module's page, a tab for each, and the head that leads to them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from xlareport.analysis.module import ModuleAnalysis
from xlareport.pages import navigation, words
from xlareport.pages.code.page import code_page
from xlareport.pages.collectives.page import collectives_page
from xlareport.pages.cost.page import cost_page, cost_parts
from xlareport.pages.kernels.page import kernels_page
from xlareport.pages.memory.page import memory_page
from xlareport.pages.module.file_list import files_page
from xlareport.pages.module.graph import graph_page
from xlareport.pages.module.overview import passes_page
from xlareport.pages.pictures.requests import PictureView
from xlareport.pages.profile.page import profile_page
from xlareport.pages.shardings.page import shardings_page
from xlareport.pages.skeleton.page import skeleton_page
from xlareport.pages.source.page import source_page
from xlareport.pages.steps.page import steps_page
from xlareport.pages.tables import PartPage
from xlareport.pages.texts.page import has_texts, texts_page
from xlareport.pages.tpu.page import tpu_page
from xlareport.records.report import ModuleRecord

_LABELS: Mapping[str, str] = {"texts": "HLO", "tpu": "TPU programs"}


@dataclass(frozen=True, slots=True)
class ModulePart:
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
    record: ModuleRecord, parts: Iterable[ModulePart], neighbours: tuple[str | None, str | None]
) -> ModuleHead:
    """Return the head of a page; `neighbours` are the slugs of the previous and next module."""
    page = navigation.module_page(record.slug)
    tabs = [Tab("Overview", navigation.address(page, page), "")]
    for part in parts:
        address = navigation.address(navigation.module_page(record.slug, part.name), page)
        tabs.append(Tab(part.label, address, part.name))
    previous, following = (
        slug and navigation.address(navigation.module_page(slug), page) for slug in neighbours
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
    known = [stage.label for stage in record.stages if stage.instructions is not None]
    return known[-1] if known else ""
