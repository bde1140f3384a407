"""The tab of a module's passes: the whole compilation in one view."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.passes.overview import Overview, PassChanges, RepeatedState
from xlareport.analysis.passes.pass_times import FileTimes
from xlareport.analysis.steps.numbers_changed import NumbersChanged
from xlareport.analysis.steps.wording import short
from xlareport.pages import navigation
from xlareport.pages.charts import curve_words, small_curve
from xlareport.pages.navigation import Link
from xlareport.pages.rendering.environment import prose
from xlareport.pages.replay.page import ReplayPart, replay_part
from xlareport.pages.tables import Column, PartPage, Table, tabulate
from xlareport.pages.tabs import ModuleTab, ShownModule
from xlareport.readers.replay_result import ReplayResult
from xlareport.runtime import units
from xlareport.runtime.english import first_few
from xlareport.runtime.grouping import group_by_key

_ROWS_SHOWN = 12
_NAMES = 4
_MICROSECONDS = 1e6
_LEAST_REPEATED = 1.2
"""Times the FLOPs of the program: less is work that partitioning adds, such as masks."""


class RepeatedStateRow(Struct, frozen=True):
    """A state that was there before, and is again."""

    step: Link
    before: Link
    what: Markup


class OverviewPart(Struct, frozen=True):
    """The template's data on all steps together."""

    curves: tuple[tuple[str, Markup], ...]
    """A description of each curve, and its drawing."""
    curves_note: str
    numbers: tuple[tuple[Link, NumbersChanged], ...]
    """Steps that may have changed numbers, with what they changed."""
    numbers_more: int
    again: tuple[RepeatedStateRow, ...]
    again_more: int
    idle: tuple[tuple[str, int], ...]
    """Names and runs."""
    idle_words: str
    times_words: str


class PassesPage(PartPage, frozen=True):
    """Everything on the tab."""

    overview: OverviewPart
    replay: ReplayPart | None = None
    """The runs of the snapshots on the CPU; None where the user gave none."""


def passes_page(module: ModuleAnalysis, overview: Overview) -> PassesPage:
    """Return the tab of one module."""
    summary, tables = module.summary, dict(tabulate_overview(overview))
    replay = None
    if module.replay is not None:
        replay = _replay(summary, overview, module.replay)
        tables["replay"] = replay.table
    return PassesPage(
        tables=tables,
        overview=overview_part(summary, overview),
        replay=replay,
    )


def _steps_together(shown: ShownModule) -> tuple[ModuleAnalysis, Overview] | None:
    overview = shown.analysis.overview
    return (shown.analysis, overview) if overview and shown.record.steps else None


TAB = ModuleTab("passes", _steps_together, lambda _, value: passes_page(*value), place=100)


def _replay(summary: ModuleSummary, overview: Overview, result: ReplayResult) -> ReplayPart:
    read = [stage.stage.key for stage in summary.stages if stage.instructions is not None]
    steps = dict(zip(read, _steps(summary), strict=True))
    return replay_part(result, steps, [(read[place], change) for place, change in overview.numbers])


def overview_part(summary: ModuleSummary, overview: Overview) -> OverviewPart:
    """Make the part of a module's page."""
    steps = list(_steps(summary))
    again = tuple(_again(overview.again, steps))
    return OverviewPart(
        curves=tuple(_curves(overview)),
        curves_note=_curves_note(overview),
        numbers=tuple((steps[place], change) for place, change in overview.numbers[:_ROWS_SHOWN]),
        numbers_more=max(0, len(overview.numbers) - _ROWS_SHOWN),
        again=again[:_ROWS_SHOWN],
        again_more=max(0, len(again) - _ROWS_SHOWN),
        idle=overview.idle.passes,
        idle_words=_idle_words(overview),
        times_words=_times_words(overview),
    )


def tabulate_overview(overview: Overview) -> Mapping[str, Table]:
    """Return the tables of the part by their names, without those that are empty."""
    tables = {"busiest": tabulate_busiest(overview.busiest), "passes": tabulate_passes(overview)}
    return {name: table for name, table in tables.items() if table.rows}


_UNNAMED = "(before a pipeline, in no file name)"


def tabulate_busiest(busies: Sequence[PassChanges]) -> Table:
    """Return the table of the passes that changed something."""
    return tabulate(
        busies,
        {
            Column("Pass", "code", "The last pass before each snapshot", of="pass"): lambda row: (
                row.name or _UNNAMED
            ),
            Column("Steps", "int", "Steps with changes in which it ran last"): lambda row: (
                row.steps
            ),
            Column("Sole pass in", "int", "Steps in which no other pass ran"): lambda row: (
                row.certain
            ),
            Column("Added", "int", "Instructions"): lambda row: row.added,
            Column("Removed", "int", "Instructions"): lambda row: row.removed,
            Column("Changed", "int", "Instructions"): lambda row: row.modified,
            Column("Total", "int", "Added, removed and changed"): lambda row: row.changes,
        },
    )


def tabulate_passes(overview: Overview) -> Table:
    """Return the table of passes with their times."""
    return tabulate(
        overview.passes,
        {
            Column("Pass", "code", of="pass"): lambda row: row.name,
            Column("Kind", "text", "A pipeline contains other passes"): lambda row: (
                "pipeline" if row.name in overview.pipelines else "pass"
            ),
            Column("Runs", "int"): lambda row: row.runs,
            Column("Reported a change", "int", "Runs that reported a change"): lambda row: (
                row.changed
            ),
            Column("Self time (ms)", "float", "Without nested passes"): lambda row: (
                None if row.self_microseconds is None else row.self_microseconds / 1000
            ),
            Column(
                "Share", "percent", "Of the time from the first start to the last end"
            ): lambda row: (
                row.self_microseconds / overview.span
                if row.self_microseconds and overview.span
                else None
            ),
        },
        (4, "desc"),
    )


def _steps(summary: ModuleSummary) -> Iterator[Link]:
    page = navigation.module_page(summary.files.slug)
    for stage in summary.stages:
        if stage.instructions is not None:
            address = navigation.step_address(summary.files.slug, stage.key, page)
            yield Link(stage.stage.label, address)


class _Figure(Struct, frozen=True):
    """A figure over the snapshots."""

    what: str
    values: Sequence[int | None]
    write: Callable[[int], str]

    @property
    def constant(self) -> int | None:
        """The value that all snapshots have; None if they differ, or fewer than two are known."""
        present = [value for value in self.values if value is not None]
        return present[0] if len(present) > 1 and len({*present}) == 1 else None


def _figures(overview: Overview) -> tuple[_Figure, ...]:
    growth = overview.growth
    return (
        _Figure("Computations", [point.computations for point in growth], units.count),
        _Figure("Fusions", [point.fusions for point in growth], units.count),
        _Figure(
            "FLOPs",
            [point.flops for point in growth],
            lambda number: units.quantity(number, "FLOP"),
        ),
        _Figure("Bytes accessed", [point.bytes_accessed for point in growth], units.byte_size),
    )


def _curves(overview: Overview) -> Iterator[tuple[str, Markup]]:
    for figure in _figures(overview):
        drawn = small_curve(figure.values, figure.what, figure.write)
        if drawn:
            yield curve_words(figure.values, figure.what, figure.write), Markup(drawn)  # noqa: S704 - SVG


def _curves_note(overview: Overview) -> str:
    notes = (_constant_note(overview), _counted_note(overview), _partitioned_note(overview))
    return " ".join(note for note in notes if note)


def _constant_note(overview: Overview) -> str:
    """Return a sentence on figures that are the same in every snapshot and not 0."""
    same = [(figure, figure.constant) for figure in _figures(overview)]
    constants = [f"{figure.what} {figure.write(value)}" for figure, value in same if value]
    return f"Unchanged in every snapshot: {', '.join(constants)}." if constants else ""


def _partitioned_note(overview: Overview) -> str:
    """Return from which snapshot work and bytes are per device: a decrease is no saving there."""
    split = [place for place, growth in enumerate(overview.growth) if growth.partitions > 1]
    if not split:
        return ""
    partitions = f"{overview.growth[split[0]].partitions:,} partitions"
    if not split[0]:
        return f"FLOPs and bytes are per device ({partitions})."
    return (
        f"From snapshot {split[0] + 1} on, FLOPs and bytes are per device ("
        f"{partitions}); total work does not drop there{_repeated_work(overview, split[0])}."
    )


def _repeated_work(overview: Overview, split: int) -> str:
    """Return how much more all devices together do than the program; empty for little or unknown.

    `split` is the number of the first partitioned snapshot.
    """
    growth = overview.growth
    before = next((point.flops for point in reversed(growth[:split]) if point.flops), None)
    # The partitioner leaves copies without users behind, which later passes remove.
    after = [point.flops * point.partitions for point in growth[split:] if point.flops]
    if before is None or not after:
        return ""
    times = min(after) / before
    if times < _LEAST_REPEATED:
        return ""
    return (
        f": all devices together do {times:,.1f} times the FLOPs of the unpartitioned program, so "
        "several devices do the same work"
    )


def _counted_note(overview: Overview) -> str:
    counted = sum(growth.flops is not None for growth in overview.growth)
    if counted in (0, len(overview.growth)):
        return ""
    return (
        f"FLOPs and bytes were counted in {counted} of {len(overview.growth)} snapshots: the "
        "first, the last and those around the largest changes. Lines between them are interpolated."
    )


def _again(agains: Sequence[RepeatedState], steps: Sequence[Link]) -> Iterator[RepeatedStateRow]:
    """Yield a row for all states of one snapshot that came back in one step."""
    together = group_by_key(((again.number, again.before), again.computation) for again in agains)
    for (stage, before), computations in together.items():
        yield RepeatedStateRow(steps[stage], steps[before], prose(_came_back(computations)))


def _came_back(computations: Sequence[str | None]) -> str:
    names = [f"`{short(computation)}`" for computation in computations if computation is not None]
    if not names:
        return "the whole module is"
    if len(names) == 1:
        return f"the computation {names[0]} is"
    return f"{len(names):,} computations ({first_few(names, _NAMES)}) are"


def _idle_words(overview: Overview) -> str:
    idle = overview.idle
    if not idle.passes:
        return f"No-op passes are not known: {idle.proof}."
    number = units.plural(len(idle.passes), "pass", "passes")
    runs = units.plural(sum(count for _, count in idle.passes), "run")
    return f"{number} changed nothing in any of {runs}. Source: {idle.proof}."


def _times_words(overview: Overview) -> str:
    sentences = [_metadata_words(overview)] if overview.span else []
    if overview.file_times:
        sentences.append(_file_words(overview.file_times))
    return " ".join(sentences) or (
        "Compile time is not known: the times of all files are within a second, and there is no "
        "metadata (--xla_dump_module_metadata)."
    )


def _metadata_words(overview: Overview) -> str:
    seconds = sum(pass_.self_microseconds or 0 for pass_ in overview.passes) / _MICROSECONDS
    span = (overview.span or 0) / _MICROSECONDS
    return (
        f"The passes took {units.seconds(span)} from the first start to the last end; self "
        f"times sum to {units.seconds(seconds)}. What "
        "pipeline-start takes is mostly the writing of dump files."
    )


def _file_words(times: FileTimes) -> str:
    words = (
        f"Compilation took about {units.seconds(times.whole)}, estimated from file times (coarse, "
        "and valid only if the copy preserved them)"
    )
    if times.passes is None:
        return f"{words}. No snapshot between passes divides it."
    return (
        f"{words}: {_about(times.passes)} up to the last snapshot between passes, "
        f"{_about(times.whole - times.passes)} after it, with code generation."
    )


def _about(time: float) -> str:
    return "less than a second" if time < 1 else units.seconds(time)
