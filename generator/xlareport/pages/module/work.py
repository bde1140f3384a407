"""The work on one module in one process: its analysis, then payloads and drawings for its pages."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from xlareport.analysis.code.unfused_pairs import list_unfused_pairs
from xlareport.analysis.compare.sketch import sketch_parsed
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.module import (
    AnalysisOptions,
    AnalyzedModule,
    ModuleAnalysis,
    analyze_module,
    outline_module,
    place_of,
    unreadable_module,
    with_problems,
)
from xlareport.analysis.modules.summary import SnapshotSummary
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.analysis.steps.step import StepChange
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.dump.modules import ModuleFiles
from xlareport.pages import navigation
from xlareport.pages.code.page import code_payloads
from xlareport.pages.history.computations import computation_payloads
from xlareport.pages.history.payload import history_payloads
from xlareport.pages.instructions.payload import instructions_payloads
from xlareport.pages.kernels.panel import kernel_facts
from xlareport.pages.pictures.graph import graph_payloads
from xlareport.pages.pictures.requests import (
    PictureChoice,
    Pictures,
    PictureStore,
    PictureView,
    StepPictures,
    describe_pictures,
    module_pictures,
    step_pictures_of,
)
from xlareport.pages.profile.page import timeline_payload
from xlareport.pages.search.payload import Searched, SearchedSnapshot, Touched, searched, touched
from xlareport.pages.steps.figures import step_figures, time_words
from xlareport.pages.steps.page import steps_payload
from xlareport.pages.steps.payload import mentioned, step_payload
from xlareport.pages.steps.text_diff import StoredLines, further_lines
from xlareport.pages.steps.unfused import FUSION_STEP, unfused_groups
from xlareport.pages.texts.page import KeptTexts, kept_texts
from xlareport.pages.tpu.payload import tpu_payloads
from xlareport.pictures.draw import PictureRequest
from xlareport.pictures.shade import Known
from xlareport.records.stored_sketches import sketch_file
from xlareport.runtime.faults import Faults, guard
from xlareport.storage.payloads import File, Payload, hold, make_payload

_PICTURES_NOT_WANTED = (
    "No graph: the report was built with `--pictures none`; "
    "`xlareport build DUMP --pictures changed` draws it."
)
_NO_PICTURE = "No graph: the change is too large to draw, or not visible in a graph."


@dataclass(frozen=True, slots=True)
class ModuleOutput:
    """Files and drawings of a module's pages."""

    payloads: tuple[File, ...] = ()
    """Files of the site that only this module's pages load."""
    small: bytes = b""
    """The payloads that share a file with the module's tables, see `small_payloads`."""
    pictures: tuple[PictureView, ...] = ()
    """Those of the module's page."""
    requests: tuple[PictureRequest, ...] = ()
    """What has to be drawn for the module's page and for its steps."""
    scopes: tuple[str, ...] = ()
    """The outermost scopes of the framework's ops, for the search."""


@dataclass(frozen=True, slots=True)
class ModuleResult:
    """What the process returns: values only."""

    analysis: ModuleAnalysis
    output: ModuleOutput = ModuleOutput()


def process_module(
    files: ModuleFiles, options: AnalysisOptions, pictures: PictureChoice | None = "changed"
) -> ModuleResult:
    """Analyze a module and make what its pages load; only an outline where `pictures` is None.

    A defect in xlareport costs a part of the module's pages, or this module, and no other.
    """
    if pictures is None:
        return ModuleResult(outline_module(files, options))
    return guard(
        lambda: _process(files, options, pictures),
        lambda reason: ModuleResult(unreadable_module(files, reason)),
    )


def _process(files: ModuleFiles, options: AnalysisOptions, choice: PictureChoice) -> ModuleResult:
    faults = Faults(place_of(files))
    texts = faults.attempt("The page of texts", lambda: kept_texts(files), KeptTexts())
    steps = _StepPages(files.slug, choice, texts)
    analyzed = analyze_module(files, options, faults, steps.add)
    pages = _ModulePages(analyzed, steps, texts, faults)
    output = pages.output(choice)
    analysis = analyzed.analysis
    if pages.code is None:
        analysis = replace(analysis, code=None)
    return ModuleResult(with_problems(analysis, faults.problems), output)


@dataclass(frozen=True, slots=True)
class _StepPage:
    """What the page of a step needs of a change."""

    payload: dict[str, Any]
    request: PictureRequest | None
    touched: Touched
    further: tuple[Payload, ...]
    """The lines of a long difference that are not in its payload."""


class _StepPages:
    """The pages of the steps that changed something, by the number of the snapshot they led to."""

    def __init__(self, slug: str, choice: PictureChoice, texts: KeptTexts) -> None:
        self.pages: dict[int, _StepPage] = {}
        self._slug = slug
        self._choice = choice
        self._lines = StoredLines(navigation.module_key(slug, "texts"), texts.lines)
        self._store = PictureStore(slug)

    def add(self, change: StepChange, boundary: Boundary) -> None:
        """Make the payload of one step."""
        diff = text_diff(change.matching, header=bool(change.header)) if change.matching else None
        drawn, note = self._draw(change)
        key = navigation.further_lines_key(self._slug, str(boundary.number))
        pictures = describe_pictures(drawn, note)
        value = step_payload(change, diff, boundary.note, pictures, self._lines, further=key)
        request = drawn.request if drawn else None
        further = tuple(further_lines(diff, self._lines, key))
        page = _StepPage(value | {"ran": boundary.inside}, request, touched(change), further)
        self.pages[boundary.number] = page

    def _draw(self, change: StepChange) -> tuple[StepPictures | None, str]:
        """Return the pictures of a step, or why there are none."""
        if self._choice == "none":
            return None, _PICTURES_NOT_WANTED
        drawn = step_pictures_of(change, self._store)
        return drawn, "" if drawn else _NO_PICTURE


@dataclass(slots=True)
class _ModulePages:
    """Makes the payloads of one module, each part by itself."""

    analyzed: AnalyzedModule
    steps: _StepPages
    texts: KeptTexts
    faults: Faults
    code: tuple[Payload, ...] | None = field(init=False, default=None)
    """None where these payloads could not be made, so that no page leads to them."""

    @property
    def slug(self) -> str:
        """The module's name in addresses."""
        return self.analyzed.module.files.slug

    def output(self, choice: PictureChoice) -> ModuleOutput:
        """Make everything."""
        module, faults = self.analyzed.module, self.faults
        self.code = faults.attempt("The page of its code", lambda: (*self._code(),), None)
        pictures = faults.attempt(
            "Its pictures", lambda: module_pictures(module, choice, self._known()), Pictures()
        )
        search = faults.attempt("The search", self._search, Searched())
        sketch = faults.attempt("Its sketch for comparisons", self._sketch, ())
        held = hold((*self._steps(), *self._on_demand(), *pictures.payloads, *(self.code or ())))
        requests = [page.request for page in self.steps.pages.values() if page.request]
        return ModuleOutput(
            payloads=(*self.texts.payloads, *sketch, *search.payloads, *held.files),
            small=held.small,
            pictures=pictures.views,
            requests=(*pictures.requests, *requests),
            scopes=search.scopes,
        )

    def _known(self) -> Known:
        """Return what pictures of the final snapshot can be colored by."""
        figures = self.analyzed.figures
        shares = {name: share for (_, name), share in figures.shares.items()}
        return Known(shares, figures.times.shares if figures.times else {})

    def _stages(self) -> list[SnapshotSummary]:
        """Return the snapshots that could be read."""
        stages = self.analyzed.analysis.summary.stages
        return [stage for stage in stages if stage.instructions is not None]

    def _labels(self) -> list[tuple[str, str]]:
        """Return key and label of each snapshot that could be read."""
        return [(stage.key, stage.stage.label) for stage in self._stages()]

    def _steps(self) -> Iterator[Payload]:
        overview = self.analyzed.analysis.overview
        for number, stage in enumerate(self._stages()):
            page = self.steps.pages.get(number)
            if page is not None and overview is not None:
                figures = step_figures(*overview.growth[number - 1 : number + 1])
                added = {
                    "figures": figures,
                    "time": time_words(overview.step_times[number]),
                    "groups": [*page.payload["groups"], *self._unfused(number)],
                }
                yield make_payload(
                    navigation.module_key(self.slug, f"step-{stage.key}"), page.payload | added
                )
                yield from page.further
        summary = self.analyzed.analysis.summary
        growth = overview.growth if overview else ()
        yield make_payload(
            navigation.module_key(self.slug, "steps"), steps_payload(summary, growth)
        )

    def _unfused(self, number: int) -> list[dict[str, Any]]:
        """Return the pairs that the GPU fusion pass left apart, at its own step."""
        module = self.analyzed.module
        snapshot = module.snapshots[number]
        if snapshot.stage.after != FUSION_STEP or not module.code.decisions:
            return []
        return unfused_groups(list_unfused_pairs(snapshot.hlo, module.code.decisions))

    def _code(self) -> Iterator[Payload]:
        module, code = self.analyzed.module, self.analyzed.code
        if module.final is not None:
            kernels = kernel_facts(self.analyzed.analysis.kernels)
            own = self.slug, module.final.hlo
            yield from code_payloads(*own, code, self.texts.paths, kernels)

    def _sketch(self) -> tuple[File, ...]:
        """Return what a comparison asks of the module, where its texts are all carried."""
        analyzed, cost = self.analyzed, self.analyzed.figures.cost
        module = analyzed.module
        if any(each.read_from.path not in self.texts.paths for each in module.snapshots):
            return ()
        sketched = sketch_parsed(module, analyzed.analysis.summary, cost)
        return sketch_file(sketched, module.snapshots, self.texts.payloads)

    def _search(self) -> Searched:
        """Index the module for the search over everything."""
        snapshots = self.analyzed.module.snapshots
        stages = [
            SearchedSnapshot(
                snapshot.stage.key, snapshot.stage.label, snapshot.read_from.name.kind == "hlo-text"
            )
            for snapshot in snapshots
        ]
        steps = [(number, page.touched) for number, page in self.steps.pages.items()]
        return searched(self.slug, [snapshot.hlo for snapshot in snapshots], stages, steps)

    def _on_demand(self) -> Iterator[Payload]:
        """Yield the payloads of what is shown on demand."""
        faults, snapshots = self.faults, self.analyzed.snapshots
        yield from faults.attempt_all("The graph", self._graphs)
        yield from faults.attempt_all("The instructions", self._instructions)
        yield from faults.attempt_all("The timeline", self._timeline)
        yield from faults.attempt_all("The TPU programs", self._tpu_programs)
        if snapshots:
            yield from faults.attempt_all("The histories", lambda: self._histories(snapshots))
            yield from faults.attempt_all(
                "The computation timelines", lambda: self._computations(snapshots)
            )

    def _tpu_programs(self) -> Iterator[Payload]:
        changed = self.analyzed.analysis.summary.changed_steps
        return tpu_payloads(self.slug, self.analyzed.tpu, has_history=bool(changed))

    def _graphs(self) -> Iterator[Payload]:
        """Yield the payloads of the graphs of the first and the final snapshot."""
        module, figures = self.analyzed.module, self.analyzed.figures
        first, final = module.snapshots[0] if module.snapshots else None, module.final
        if final is not None:
            key = navigation.module_key(self.slug, "graph")
            yield from graph_payloads(key, final, figures.cost, self._known(), figures.instructions)
        if first is not None and final is not None and first.hlo is not final.hlo:
            yield from graph_payloads(navigation.module_key(self.slug, "graph-first"), first, None)

    def _instructions(self) -> Iterator[Payload]:
        """Yield the payloads of the table of all instructions of the final snapshot."""
        final, figures = self.analyzed.module.final, self.analyzed.figures
        if final is not None:
            yield from instructions_payloads(self.slug, final.hlo, figures.cost, figures.shares)

    def _timeline(self) -> Iterator[Payload]:
        """Yield the payload of the runs that are drawn, where a profiler saw some."""
        final, times = self.analyzed.module.final, self.analyzed.figures.times
        if final is not None and times is not None:
            yield from timeline_payload(self.slug, final.hlo, times)

    def _histories(self, snapshots: SnapshotSequence) -> Iterator[Payload]:
        names = [(number, mentioned(page.payload)) for number, page in self.steps.pages.items()]
        yield from history_payloads(self.slug, snapshots, self._labels(), names)

    def _computations(self, snapshots: SnapshotSequence) -> Iterator[Payload]:
        read = self.analyzed.module.snapshots
        texts = {
            snapshot.stage.key for snapshot in read if snapshot.read_from.name.kind == "hlo-text"
        }
        yield from computation_payloads(self.slug, snapshots, self._labels(), texts)
