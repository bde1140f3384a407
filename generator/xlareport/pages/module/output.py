"""Payloads and drawings of the pages of one analyzed module, part by part."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.code.later_instructions import FUSION_STEP
from xlareport.analysis.code.unfused_pairs import list_unfused_pairs
from xlareport.analysis.compare.sketch import sketch_parsed
from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.module import AnalyzedModule
from xlareport.analysis.modules.summary import SnapshotSummary
from xlareport.analysis.steps.boundaries import Boundary, passes_that_begin_pipelines
from xlareport.analysis.steps.mentions import list_mentioned
from xlareport.analysis.steps.step import StepChange
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.pages import navigation
from xlareport.pages.code.page import code_payloads
from xlareport.pages.history.computations import computation_payloads
from xlareport.pages.history.instruction_facts import facts_payload
from xlareport.pages.history.payload import history_payloads
from xlareport.pages.instructions.payload import instructions_payloads
from xlareport.pages.kernels.panel import kernel_facts
from xlareport.pages.pictures.requests import (
    DrawnStep,
    PictureChoice,
    Pictures,
    PictureStore,
    PictureView,
    describe_pictures,
    draw_step,
    module_pictures,
    place_step,
)
from xlareport.pages.pictures.snapshot_graph import graph_payloads
from xlareport.pages.profile.page import timeline_payload
from xlareport.pages.search.payload import (
    ModuleSearchData,
    SearchedSnapshot,
    StepSearchData,
    searched,
    touched,
)
from xlareport.pages.steps.change_rows import further_rows
from xlareport.pages.steps.page import steps_payload
from xlareport.pages.steps.payload import step_payload
from xlareport.pages.steps.step_figures import describe_uncounted, step_figures, time_words
from xlareport.pages.steps.text_diff import StoredLines, further_lines
from xlareport.pages.steps.unfused import unfused_groups
from xlareport.pages.texts.page import KeptTexts
from xlareport.pages.tpu.payload import tpu_payloads
from xlareport.pictures.draw import PictureRequest
from xlareport.pictures.shade import ColorData
from xlareport.records.stored_sketches import sketch_file
from xlareport.runtime.errors import Problem
from xlareport.runtime.faults import Faults
from xlareport.runtime.forked_parts import run_parts
from xlareport.storage.payloads import Payload, TextFile, make_payload, pack_small_payloads

T = TypeVar("T")

_PICTURES_NOT_WANTED = (
    "No graph: the report was built with `--pictures none`; "
    "`xlareport build DUMP --pictures changed` draws it."
)
_NO_PICTURE = "No graph: the change is too large to draw, or not visible in a graph."


class ModuleOutput(Struct, frozen=True):
    """Files and drawings of a module's pages."""

    payloads: tuple[TextFile, ...] = ()
    """Files of the site that only this module's pages load."""
    small: bytes = b""
    """The packed payloads that share a file with the module's tables."""
    pictures: tuple[PictureView, ...] = ()
    """The pictures of the module's page."""
    requests: tuple[PictureRequest, ...] = ()
    """The drawings for the module's page and for its steps."""
    plain: tuple[PictureRequest, ...] = ()
    """The drawings of the module's page that are also .svg files, if it is the main program."""
    drawn: tuple[TextFile, ...] | None = None
    """Files of its pictures that a former build drew; None where they are yet to be drawn."""
    scopes: tuple[str, ...] = ()
    """The outermost scopes of the framework's ops, for the search."""


class StepPage(Struct, frozen=True):
    """The data of a step that its page needs."""

    payload: dict[str, Any]
    drawn: DrawnStep | None
    touched: StepSearchData
    further: tuple[Payload, ...]
    """The lines of a long difference and the rows of large groups that are not in its payload."""
    mentioned: tuple[str, ...] = ()
    """Names of instructions, which get a history."""
    request: PictureRequest | None = None
    """The drawing request, set once the place of the picture is known."""


def make_step(
    slug: str, choice: PictureChoice, texts: KeptTexts, change: StepChange, boundary: Boundary
) -> StepPage:
    """Return the page of one step of a module, without the places of its pictures."""
    diff = text_diff(change.matching, header=bool(change.header)) if change.matching else None
    lines = StoredLines(navigation.module_key(slug, "texts"), texts.lines)
    key = navigation.further_lines_key(slug, str(boundary.number))
    value = step_payload(change, diff, boundary.note, {}, lines, further=key)
    drawn = None if choice == "none" else draw_step(change)
    further = (*further_lines(diff, lines, key), *further_rows(change.groups, key))
    value["ran"] = boundary.inside
    return StepPage(value, drawn, touched(change), further, list_mentioned(change))


def place_pictures(
    slug: str, choice: PictureChoice, pages: Mapping[int, StepPage]
) -> dict[int, StepPage]:
    """Return the pages with their pictures, which share files in the order of the steps."""
    store = PictureStore(slug)
    note = _PICTURES_NOT_WANTED if choice == "none" else _NO_PICTURE
    placed = {}
    for number, page in pages.items():
        drawn = place_step(page.drawn, store) if page.drawn else None
        pictures = describe_pictures(drawn, "" if drawn else note)
        request = drawn.request if drawn else None
        payload = page.payload | {"pictures": pictures}
        placed[number] = replace(page, payload=payload, drawn=None, request=request)
    return placed


@dataclass(slots=True)
class ModulePages:
    """Makes the payloads of one module, part by part."""

    analyzed: AnalyzedModule[StepPage]
    steps: Mapping[int, StepPage]
    """By the number of the snapshot that a step led to."""
    texts: KeptTexts
    faults: Faults
    code: tuple[Payload, ...] | None = field(init=False, default=None)
    """None where these payloads could not be made, so that no page leads to them."""

    @property
    def slug(self) -> str:
        """The module's name in addresses."""
        return self.analyzed.module.files.slug

    def output(self, choice: PictureChoice, processes: int) -> ModuleOutput:
        """Return all output, made by up to `processes`; the longest work is started first."""
        parts = _ModuleParts(
            *self._run_parts(
                processes,
                lambda faults: faults.attempt(
                    "Its pictures", lambda: self._pictures(choice), Pictures()
                ),
                lambda faults: faults.attempt("The search", self._search, ModuleSearchData()),
                lambda faults: faults.attempt_all("The histories", self._histories),
                lambda faults: faults.attempt_all("The computation timelines", self._computations),
                lambda faults: faults.attempt("Its sketch for comparisons", self._sketch, ()),
                lambda faults: faults.attempt("The page of its code", self._code, None),
                lambda faults: tuple(self._of_snapshots(faults)),
                lambda _: tuple(self._steps()),
            )
        )
        self.code = parts.code
        on_demand = (*parts.snapshots, *parts.histories, *parts.computations)
        held = pack_small_payloads(
            (*parts.steps, *on_demand, *parts.pictures.payloads, *(parts.code or ()))
        )
        requests = [page.request for page in self.steps.values() if page.request]
        return ModuleOutput(
            payloads=(*self.texts.payloads, *parts.sketch, *parts.search.payloads, *held.files),
            small=held.small,
            pictures=parts.pictures.views,
            requests=(*parts.pictures.requests, *requests),
            plain=tuple(request for request in parts.pictures.requests if request.plain),
            scopes=parts.search.scopes,
        )

    def _run_parts(self, processes: int, *parts: Callable[[Faults], Any]) -> Iterator[Any]:
        """Yield the results of parts, and collect their problems in order."""
        for result, problems in run_parts(
            [partial(self._alone, part) for part in parts], processes
        ):
            self.faults.problems.extend(problems)
            yield result

    def _alone(self, part: Callable[[Faults], T]) -> tuple[T, Sequence[Problem]]:
        """Return the result of a part with its own problems."""
        faults = Faults(self.faults.path)
        return part(faults), faults.problems

    def _pictures(self, choice: PictureChoice) -> Pictures:
        return module_pictures(self.analyzed.module, choice, self._known())

    def _known(self) -> ColorData:
        """Return the values that color pictures of the final snapshot."""
        costed, times = self.analyzed.costed, self.analyzed.times
        shares = {name: share for (_, name), share in (costed.shares if costed else {}).items()}
        return ColorData(shares, times.shares if times else {})

    def _stages(self) -> list[SnapshotSummary]:
        """Return the snapshots that could be read."""
        stages = self.analyzed.analysis.summary.stages
        return [stage for stage in stages if stage.instructions is not None]

    def _labels(self) -> list[tuple[str, str]]:
        """Return key and label of each snapshot that could be read, and the pass it was made in."""
        stages = [stage.stage for stage in self._stages()]
        inside = dict(passes_that_begin_pipelines(stages))
        return [
            (stage.key, f"{stage.label} (in {inside[number]})" if number in inside else stage.label)
            for number, stage in enumerate(stages)
        ]

    def _steps(self) -> Iterator[Payload]:
        analysis = self.analyzed.analysis
        if analysis.overview is None:
            return
        overview = analysis.overview
        for number, stage in enumerate(self._stages()):
            page = self.steps.get(number)
            if page is not None:
                growth = overview.growth[number - 1 : number + 1]
                added = {
                    "figures": step_figures(*growth),
                    "uncounted": describe_uncounted(*growth),
                    "time": time_words(overview.step_times[number]),
                    "groups": [*page.payload["groups"], *self._unfused(number)],
                }
                yield make_payload(
                    navigation.module_key(self.slug, f"step-{stage.key}"), page.payload | added
                )
                yield from page.further
        yield make_payload(
            navigation.module_key(self.slug, "steps"),
            steps_payload(analysis.summary, overview, self.analyzed.pipelines),
        )

    def _unfused(self, number: int) -> list[dict[str, Any]]:
        """Return the pairs that the GPU fusion pass did not fuse, if the step is that pass."""
        module = self.analyzed.module
        snapshot = module.snapshots[number]
        if snapshot.stage.after != FUSION_STEP or not module.code.decisions:
            return []
        return unfused_groups(list_unfused_pairs(snapshot.hlo, module.code.decisions))

    def _code(self) -> tuple[Payload, ...]:
        module, code = self.analyzed.module, self.analyzed.code
        if module.final is None:
            return ()
        kernels = kernel_facts(self.analyzed.analysis.kernels)
        shown = self.slug, module.final.hlo
        return tuple(code_payloads(*shown, code, self.texts.paths, kernels))

    def _sketch(self) -> tuple[TextFile, ...]:
        """Return the sketch of the module for comparisons, if the report has all its texts."""
        analyzed, module = self.analyzed, self.analyzed.module
        if any(snapshot.read_from.path not in self.texts.paths for snapshot in module.snapshots):
            return ()
        sketched = sketch_parsed(module, analyzed.analysis.summary, analyzed.costed)
        return sketch_file(sketched, module.snapshots, self.texts.payloads)

    def _search(self) -> ModuleSearchData:
        """Index the module for the search over everything."""
        snapshots = self.analyzed.module.snapshots
        stages = [
            SearchedSnapshot(
                key=snapshot.stage.key,
                label=snapshot.stage.label,
                number_and_pipeline=snapshot.stage.number_and_pipeline,
                has_text=snapshot.read_from.name.kind == "hlo-text",
            )
            for snapshot in snapshots
        ]
        steps = [(number, page.touched) for number, page in self.steps.items()]
        cost = self.analyzed.analysis.cost
        lines = cost.source.lines if cost else ()
        return searched(self.slug, [snapshot.hlo for snapshot in snapshots], stages, steps, lines)

    def _of_snapshots(self, faults: Faults) -> Iterator[Payload]:
        """Yield the payloads of single snapshots that are shown on demand."""
        slug, analyzed, costed = self.slug, self.analyzed, self.analyzed.costed
        if costed is not None:
            yield from faults.attempt_all("The graph", partial(self._graphs, costed))
            columns = partial(instructions_payloads, slug, costed)
            yield from faults.attempt_all("The instructions", columns)
        if analyzed.snapshots is not None:
            facts = partial(facts_payload, slug, analyzed)
            yield from faults.attempt_all("Facts on instructions", facts)
        if costed is not None and analyzed.times is not None:
            timeline = partial(timeline_payload, slug, costed.hlo, analyzed.times)
            yield from faults.attempt_all("The timeline", timeline)
        has_history = bool(analyzed.analysis.summary.changed_steps)
        programs = partial(tpu_payloads, slug, analyzed.tpu, has_history=has_history)
        yield from faults.attempt_all("The TPU programs", programs)

    def _graphs(self, costed: CostedModule) -> Iterator[Payload]:
        """Yield the payloads of the graphs of the first and the final snapshot."""
        times = self.analyzed.times
        key = navigation.module_key(self.slug, "graph")
        measured = times.instructions if times else {}
        yield from graph_payloads(key, costed.final, costed.cost, self._known(), measured)
        first = costed.module.snapshots[0]
        if first.hlo is not costed.hlo:
            yield from graph_payloads(navigation.module_key(self.slug, "graph-first"), first, None)

    def _histories(self) -> Iterator[Payload]:
        snapshots = self.analyzed.snapshots
        names = [(number, page.mentioned) for number, page in self.steps.items()]
        if snapshots is not None:
            yield from history_payloads(self.slug, snapshots, self._labels(), names)

    def _computations(self) -> Iterator[Payload]:
        snapshots = self.analyzed.snapshots
        read = self.analyzed.module.snapshots
        texts = {stage.stage.key for stage in read if stage.read_from.name.kind == "hlo-text"}
        if snapshots is not None:
            yield from computation_payloads(self.slug, snapshots, self._labels(), texts)


class _ModuleParts(Struct, frozen=True):
    """The payloads of each part of a module's pages."""

    pictures: Pictures
    search: ModuleSearchData
    histories: tuple[Payload, ...]
    computations: tuple[Payload, ...]
    sketch: tuple[TextFile, ...]
    code: tuple[Payload, ...] | None
    snapshots: tuple[Payload, ...]
    """Payloads of single snapshots."""
    steps: tuple[Payload, ...]
