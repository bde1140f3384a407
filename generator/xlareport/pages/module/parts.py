"""The parts of a module's page, a tab for each, and the head that leads to them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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

_LABELS: Mapping[navigation.Part, str] = {"texts": "HLO", "tpu": "TPU programs"}


@dataclass(frozen=True, slots=True)
class ModulePart:
    """One part that is not made yet, so that a fault in one costs no other."""

    name: navigation.Part
    """In its address, `m/x.md?cost`, and of its template."""
    page: Callable[[], PartPage]
    """Makes the record that the template shows, and its tables."""
    wide: bool = False
    """Whether it takes the room of the sidebars."""

    @property
    def label(self) -> str:
        """The title of its tab."""
        return _LABELS.get(self.name, self.name.capitalize())


_ORDER: Sequence[navigation.Part] = (
    *("steps", "cost", "time", "memory", "collectives", "shardings", "kernels", "skeleton"),
    *("graph", "passes", "source", "code", "texts", "tpu", "files"),
)
"""By use: what answers first is first."""


def module_parts(
    record: ModuleRecord, module: ModuleAnalysis, pictures: Sequence[PictureView] = ()
) -> Sequence[ModulePart]:
    """Return the parts of a module that there are, in the order of their tabs."""
    parts = (
        *_snapshot_parts(record, module, pictures),
        *_cost_parts(record, module),
        *_partition_parts(record, module),
        *_code_parts(record, module),
    )
    return sorted(parts, key=lambda part: _ORDER.index(part.name))


def _snapshot_parts(
    record: ModuleRecord, module: ModuleAnalysis, pictures: Sequence[PictureView]
) -> Iterator[ModulePart]:
    """Yield the parts on the snapshots and on the files that hold them."""
    summary, overview, skeleton = module.summary, module.overview, module.skeleton
    yield ModulePart("graph", lambda: graph_page(record, pictures), wide=True)
    if record.steps:
        yield ModulePart("steps", lambda: steps_page(record), wide=True)
    if record.steps and overview:
        yield ModulePart("passes", lambda: passes_page(record, module, overview))
    if skeleton:
        yield ModulePart("skeleton", lambda: skeleton_page(record, skeleton), wide=True)
    if has_texts(summary.files):
        yield ModulePart("texts", lambda: texts_page(record), wide=True)
    yield ModulePart("files", lambda: files_page(record, summary))


def _cost_parts(record: ModuleRecord, module: ModuleAnalysis) -> Iterator[ModulePart]:
    """Yield the parts on what it costs, counted and measured."""
    cost, profile, costs = module.cost, module.profile, {*cost_parts(record)}
    buffers = module.kernels.command_buffers if module.kernels else ()
    if cost:
        yield ModulePart("cost", lambda: cost_page(record, module, cost))
    if profile and "time" in costs:
        yield ModulePart("time", lambda: profile_page(record, profile, buffers))
    if cost and "memory" in costs:
        yield ModulePart("memory", lambda: memory_page(record, cost))
    if cost and "source" in costs:
        yield ModulePart("source", lambda: source_page(record, cost.source, cost.seconds))


def _partition_parts(record: ModuleRecord, module: ModuleAnalysis) -> Iterator[ModulePart]:
    """Yield the parts on several devices."""
    collectives, shardings = module.collectives, record.shardings
    if collectives:
        yield ModulePart("collectives", lambda: collectives_page(record, collectives), wide=True)
    if shardings:
        yield ModulePart("shardings", lambda: shardings_page(record, shardings), wide=True)


def _code_parts(record: ModuleRecord, module: ModuleAnalysis) -> Iterator[ModulePart]:
    """Yield the parts on what the instructions became."""
    code, kernels, tpu = module.code, module.kernels, module.tpu
    if code:
        yield ModulePart("code", lambda: code_page(record, code), wide=True)
    if kernels:
        yield ModulePart("kernels", lambda: kernels_page(record, kernels), wide=True)
    if tpu:
        yield ModulePart("tpu", lambda: tpu_page(record, tpu), wide=True)


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
    """What the payload keys of its parts begin with."""
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
    """Make the head of one page; `neighbours` are the slugs of the modules before and after."""
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
