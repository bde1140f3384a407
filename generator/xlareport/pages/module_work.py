"""All the work on one module, in one process: read, analyse, make its payloads and drawings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xlareport.analysis.cost.options import CostOptions
from xlareport.analysis.cost.work import Costs, ModuleCost
from xlareport.analysis.cost_report.report import CostReport, expense
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.matching.result import Matching
from xlareport.analysis.modules.marker import MarkerHit, SlowMarkerError, find_marker
from xlareport.analysis.modules.summarize import summarise
from xlareport.analysis.modules.summary import ModuleSummary, StepSummary
from xlareport.analysis.passes.overview import Overview, glance
from xlareport.analysis.passes.step_boundaries import between, has_same_form, identical
from xlareport.analysis.profile.measured import Measured
from xlareport.analysis.profile.times import ModuleTimes
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.analysis.steps.numbers_changed import NumbersChanged, numbers_changed
from xlareport.analysis.steps.step import StepChange, step
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source_text import SourceTexts
from xlareport.pages import navigation
from xlareport.pages.code.page import CodeSummary
from xlareport.pages.code.reading import CodeWork, code_work
from xlareport.pages.counting import Counted, clock, count, timelines, with_makers
from xlareport.pages.history.computations import film_payloads
from xlareport.pages.history.payload import history_payloads
from xlareport.pages.instructions.payload import instructions_payloads
from xlareport.pages.module_parts import Parts, fault, place_of
from xlareport.pages.pictures.graph import graph_payloads
from xlareport.pages.pictures.requests import (
    PictureChoice,
    Pictures,
    PictureShelf,
    PictureView,
    StepPictures,
    module_pictures,
    step_pictures_of,
    told,
)
from xlareport.pages.search.index import Touched, touched
from xlareport.pages.search.payload import Searched, Stage, searched
from xlareport.pages.small_payloads import File, hold
from xlareport.pages.steps.figures import step_figures, time_words
from xlareport.pages.steps.page import steps_payload
from xlareport.pages.steps.payload import mentioned, step_payload
from xlareport.pages.steps.text_diff import StoredLines
from xlareport.pages.texts.payload import KeptTexts, kept_texts
from xlareport.pictures.draw import PictureRequest
from xlareport.program import ParsedModule, ParsedSnapshot, read_module, unread
from xlareport.runtime.errors import Problem
from xlareport.storage.payloads import Payload, payload


@dataclass(frozen=True, slots=True)
class ModuleResult:
    """What comes back from the process that worked on a module: values only."""

    summary: ModuleSummary
    marker: MarkerHit | None
    read: tuple[str, ...]
    """Paths of the files that were opened and read."""
    payloads: tuple[File, ...] = ()
    """Files of the site that only this module's pages load."""
    small: bytes = b""
    """The payloads that share a file with the module's tables, see `small_payloads`."""
    expense: CostReport | None = None
    """What the module costs; None where it could not be read, or no pages were asked for."""
    code: CodeSummary | None = None
    """What the module's instructions became; None where the dump holds nothing of it."""
    pictures: tuple[PictureView, ...] = ()
    """Those of the module's page."""
    glance: Overview | None = None
    """All steps taken together; None where no pages were asked for."""
    scopes: tuple[str, ...] = ()
    """The outermost scopes of the framework's ops, for the search."""
    requests: tuple[PictureRequest, ...] = ()
    """What has to be drawn for the module's page and for its steps."""
    same_as: ModuleFiles | None = None
    """The earlier module that this one repeats, byte for byte; it has all but texts and files."""
    clock: Measured | None = None
    """What a profiler saw; None where none saw the module run, or no pages were asked for."""


def work_on(
    files: ModuleFiles,
    marker: re.Pattern[str] | None,
    *,
    pages: bool,
    pictures: PictureChoice = "changed",
    cost_options: CostOptions | None = None,
    times: ModuleTimes | None = None,
) -> ModuleResult:
    """Read and analyse a module; `pages` makes its payloads and drawings as well.

    `times` is what a profiler saw of the modules of its name.
    A fault of ours costs a part of its pages, or this module, and no other; it is listed with its
    place.
    """
    try:
        choice = pictures if pages else None
        return _work_on(files, marker, choice, cost_options or CostOptions(), times)
    except Exception as error:  # noqa: BLE001 - see above
        return given_up(files, fault(error))


def given_up(files: ModuleFiles, reason: str) -> ModuleResult:
    """Return the result for a module of which nothing could be read."""
    problem = Problem(place_of(files), None, f"{files.key} could not be analysed: {reason}.")
    summary = summarise(unread(files, problem), [], None)
    return ModuleResult(summary, None, ())


def _work_on(
    files: ModuleFiles,
    marker: re.Pattern[str] | None,
    pictures: PictureChoice | None,
    cost_options: CostOptions,
    times: ModuleTimes | None,
) -> ModuleResult:
    """Read and analyse a module; without a choice of pictures nothing is made for pages."""
    parts = Parts(place_of(files))
    kept = KeptTexts()
    if pictures:
        kept = parts.make("The page of texts", lambda: kept_texts(files), kept)
    module = read_module(files)
    found = between(module)
    steps = list(_steps(module, found, pictures, kept) if pictures else _differences(module))
    counter = Costs()
    cost = counter.module(module.final.hlo) if module.final else None
    summary = summarise(module, [one.summary for one in steps], cost, cost_options)
    result = ModuleResult(summary, _marked(module, marker, parts), module.read)
    if pictures is None:
        problems = (*summary.problems, *parts.problems)
        return replace(result, summary=replace(summary, problems=problems))
    seen = _glance(module, found, steps, counter)
    code = parts.make("The page of its code", lambda: code_work(module, kept.paths), CodeWork(None))
    counted = count(module, summary, cost, cost_options, times)
    drawn = parts.make(
        "Its pictures", lambda: module_pictures(module, pictures, counted.known), Pictures()
    )
    costs = parts.make("What it costs", lambda: _expense(module, summary, cost, cost_options), None)
    search = parts.make("The search", lambda: _search(module, summary, steps), Searched())
    made = hold(
        (
            *_payloads(summary, steps, seen),
            *_details(module, summary, steps, counted, parts),
            *drawn.payloads,
            *code.payloads,
        )
    )
    return replace(
        result,
        summary=replace(summary, problems=(*summary.problems, *code.problems, *parts.problems)),
        read=(*module.read, *code.read),
        payloads=(*kept.payloads, *search.payloads, *made.files),
        small=made.small,
        scopes=search.scopes,
        code=code.summary,
        expense=costs,
        pictures=drawn.views,
        glance=seen,
        requests=(*drawn.requests, *(one.request for one in steps if one.request)),
        clock=parts.make(
            "Its measured time", lambda: _clock(module, summary, found, steps, counted), None
        ),
    )


def _marked(module: ParsedModule, marker: re.Pattern[str] | None, parts: Parts) -> MarkerHit | None:
    """Look for the user's marker; one that takes too long is no fault of ours, but is said."""
    if marker is None:
        return None
    try:
        return find_marker([one.hlo for one in module.snapshots], marker)
    except SlowMarkerError as error:
        parts.problems.append(Problem(parts.place, None, f"{error}."))
        return None


def _expense(
    module: ParsedModule, summary: ModuleSummary, cost: ModuleCost | None, cost_options: CostOptions
) -> CostReport | None:
    lines = SourceTexts().lines if cost_options.with_source else None
    return expense(module, cost, summary.origin.backend, cost_options, lines) if cost else None


@dataclass(frozen=True, slots=True)
class _Step:
    """The step that led to a snapshot, already as text where it changed something."""

    summary: StepSummary | None
    payload: dict[str, object] | None = None
    request: PictureRequest | None = None
    matching: Matching | None = None
    """None where nothing changed."""
    numbers: tuple[NumbersChanged, ...] = ()
    touched: Touched | None = None
    """None where nothing changed."""


@dataclass(frozen=True, slots=True)
class _Stores:
    """What all steps of a module store together."""

    lines: StoredLines
    shelf: PictureShelf


def _differences(module: ParsedModule) -> Iterator[_Step]:
    """Tell which steps changed something, and no more."""
    for same in [None, *identical(module.snapshots)][: len(module.snapshots)]:
        yield _Step(None if same is None else StepSummary(not same, 0, 0, 0, ""))


def _steps(
    module: ParsedModule, found: Sequence[Boundary], pictures: PictureChoice, kept: KeptTexts
) -> Iterator[_Step]:
    """Tell what each step did; the first snapshot has none."""
    if module.snapshots:
        yield _Step(None)
    slug = module.files.slug
    stores = _Stores(StoredLines(navigation.texts_key(slug), kept.lines), PictureShelf(slug))
    for one in found:
        before, after = module.snapshots[one.number - 1 : one.number + 1]
        yield _step(before, after, one, pictures, stores)


def _glance(
    module: ParsedModule, found: Sequence[Boundary], steps: Sequence[_Step], costs: Costs
) -> Overview:
    return glance(module, found, [*_numbers(steps)], [one.summary for one in steps], costs)


def _numbers(steps: Sequence[_Step]) -> Iterator[tuple[int, NumbersChanged]]:
    for place, one in enumerate(steps):
        yield from ((place, changed) for changed in one.numbers)


_NOT_ASKED = (
    "No picture, because the report was built with `--pictures none`; "
    "`xlareport build DUMP --pictures changed` draws it."
)
_NO_PICTURE = "No picture: the change is too large to draw, or none that a graph could show."


def _step(
    before: ParsedSnapshot,
    after: ParsedSnapshot,
    found: Boundary,
    pictures: PictureChoice,
    stores: _Stores,
) -> _Step:
    change = step(before.hlo, after.hlo, found.actor, headers=has_same_form(before, after))
    summary = _summary(change)
    if change.matching is None:
        return _Step(summary)
    diff = text_diff(change.matching, header=bool(change.header))
    drawn, note = _drawn(change, pictures, stores.shelf)
    seen = told(drawn, note)
    story = step_payload(change, diff, found.note, seen, stores.lines) | {"ran": found.inside}
    request = drawn.request if drawn else None
    return _Step(summary, story, request, change.matching, numbers_changed(change), touched(change))


def _drawn(
    change: StepChange, pictures: PictureChoice, shelf: PictureShelf
) -> tuple[StepPictures | None, str]:
    """Return the pictures of a step, or why there are none."""
    if pictures == "none":
        return None, _NOT_ASKED
    drawn = step_pictures_of(change, shelf)
    return drawn, "" if drawn else _NO_PICTURE


def _summary(change: StepChange) -> StepSummary:
    return StepSummary(
        changed=not change.identical,
        added=len(change.added),
        removed=len(change.removed),
        modified=len(change.modified),
        headline="" if change.identical else change.headline,
        weight=change.weight,
    )


def _payloads(summary: ModuleSummary, steps: Sequence[_Step], seen: Overview) -> Iterator[Payload]:
    slug = summary.files.slug
    read = [one for one in summary.stages if one.instructions is not None]
    for place, (stage, one) in enumerate(zip(read, steps, strict=True)):
        if one.payload is not None:
            key = navigation.step_key(slug, stage.key)
            figures = step_figures(*seen.growth[place - 1 : place + 1])
            took = time_words(seen.step_times[place])
            yield payload(key, one.payload | {"figures": figures, "time": took})
    key = navigation.steps_key(slug)
    yield payload(key, steps_payload(summary))


def _search(module: ParsedModule, summary: ModuleSummary, steps: Sequence[_Step]) -> Searched:
    """Index the module for the search over everything."""
    stages = [
        Stage(one.stage.key, one.stage.label, one.read_from.name.kind == "hlo-text")
        for one in module.snapshots
    ]
    told = [(place, one.touched) for place, one in enumerate(steps) if one.touched]
    return searched(summary.files.slug, [one.hlo for one in module.snapshots], stages, told)


def _details(
    module: ParsedModule,
    summary: ModuleSummary,
    steps: Sequence[_Step],
    counted: Counted,
    parts: Parts,
) -> Iterator[Payload]:
    """Yield the payloads of what is shown on demand."""
    yield from parts.payloads("The graph", lambda: _graphs(module, counted))
    yield from parts.payloads("The instructions", lambda: _instructions(module, counted))
    yield from parts.payloads("The timeline", lambda: timelines(module, counted))
    snapshots = parts.make("What became of it", lambda: _snapshots(module, summary, steps), None)
    if snapshots:
        yield from parts.payloads("The histories", lambda: _histories(summary, steps, snapshots))
        yield from parts.payloads("The films", lambda: _films(module, summary, snapshots))


def _instructions(module: ParsedModule, counted: Counted) -> Iterator[Payload]:
    """Yield the payloads of the table of all instructions of the final snapshot."""
    if module.final is not None:
        found = counted.cost, counted.shares
        yield from instructions_payloads(module.files.slug, module.final.hlo, *found)


def _graphs(module: ParsedModule, counted: Counted) -> Iterator[Payload]:
    """Yield the payloads of the graphs of the first and the final snapshot."""
    first, final = module.snapshots[0] if module.snapshots else None, module.final
    if final is not None:
        key = navigation.graph_key(module.files.slug)
        yield from graph_payloads(key, final, counted.cost, counted.known, counted.instructions)
    if first is not None and final is not None and first.hlo is not final.hlo:
        yield from graph_payloads(navigation.first_graph_key(module.files.slug), first, None)


def _snapshots(
    module: ParsedModule, summary: ModuleSummary, steps: Sequence[_Step]
) -> SnapshotSequence | None:
    """Return the snapshots for histories and films; None where no step changed anything."""
    if not summary.changed_steps:
        return None
    matchings = {place: one.matching for place, one in enumerate(steps) if one.matching}
    return SnapshotSequence([one.hlo for one in module.snapshots], matchings)


def _clock(
    module: ParsedModule,
    summary: ModuleSummary,
    found: Sequence[Boundary],
    steps: Sequence[_Step],
    counted: Counted,
) -> Measured | None:
    """Join what a profiler saw, and say which steps made what was slowest."""
    seen = clock(module, counted)
    return with_makers(seen, module, _snapshots(module, summary, steps), found) if seen else None


def _named(summary: ModuleSummary) -> list[tuple[str, str]]:
    """Return (key, label) of each snapshot that was read."""
    read = [one for one in summary.stages if one.instructions is not None]
    return [(one.key, one.stage.label) for one in read]


def _histories(
    summary: ModuleSummary, steps: Sequence[_Step], snapshots: SnapshotSequence
) -> Iterator[Payload]:
    told = [(place, mentioned(one.payload)) for place, one in enumerate(steps) if one.payload]
    yield from history_payloads(summary.files.slug, snapshots, _named(summary), told)


def _films(
    module: ParsedModule, summary: ModuleSummary, snapshots: SnapshotSequence
) -> Iterator[Payload]:
    texts = {one.stage.key for one in module.snapshots if one.read_from.name.kind == "hlo-text"}
    yield from film_payloads(summary.files.slug, snapshots, _named(summary), texts)
