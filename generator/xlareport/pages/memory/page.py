"""The page on memory: use over time, values at the peak, possible savings."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from xlareport.analysis.cost.host_memory import FROM_HOST, TO_HOST
from xlareport.analysis.cost.memory import DEFAULT_SPACE
from xlareport.analysis.cost.occupancy import MAIN_MEMORY
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.knowledge.memory_spaces import space_words
from xlareport.pages import navigation
from xlareport.pages.cost.page import cost_parts, per_device
from xlareport.pages.large_figures import Figure
from xlareport.pages.memory.analysis_line import analysis_line, describe_padding
from xlareport.pages.memory.chart import MemoryChart, memory_chart
from xlareport.pages.memory.peak_words import (
    describe_live_range,
    describe_marked,
    describe_saving,
    peak_place,
)
from xlareport.pages.memory.tables import (
    tabulate_arguments,
    tabulate_breakdown,
    tabulate_fills,
    tabulate_kinds,
    tabulate_layouts,
    tabulate_memory,
    tabulate_shares,
    tabulate_spaces,
)
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import PartPage, Table
from xlareport.pages.tabs import ModuleTab
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units
from xlareport.runtime.english import capitalize


class MemoryPage(PartPage, frozen=True):
    """Everything on the page."""

    lead: Markup
    per_device: str
    figures: tuple[Figure, ...]
    further: tuple[Markup, ...]
    """Figures of other tools, one sentence each."""
    is_estimate: bool
    spaces: Table
    actions: tuple[Markup, ...]
    """Suggestions to reduce it, the most bytes first."""
    charts: tuple[MemoryChart, ...]
    """The device memory first, then other spaces."""
    small_charts: tuple[MemoryChart, ...]
    """Charts of spaces with little memory in use."""
    curve_words: str
    peak: str
    arguments: Table
    """By the beginnings of their names."""
    peak_scopes: Table
    peak_lines: Table
    breakdown: Table
    saving: str
    kinds: Table
    donation: str
    fills: Table
    layouts: Table
    host: str
    """Bytes between the memories of device and host; empty without any."""
    remat: Markup


def memory_page(module: ModuleRecord, cost: CostReport) -> MemoryPage:
    """Return the page of one module."""
    memory = cost.memory
    charts = tuple(_charts(module.backend, memory))
    return MemoryPage(
        tables=tabulate_memory(module.backend, memory),
        lead=prose(_lead(memory)),
        per_device=per_device(cost.totals.devices),
        figures=tuple(_figures(memory, module.backend)),
        further=tuple(prose(words) for words in _further(memory, module)),
        is_estimate=memory.estimate is not None,
        spaces=tabulate_spaces(module.backend, memory),
        actions=tuple(_actions(memory, module)),
        charts=tuple(chart for chart in charts if not _is_small(chart, charts)),
        small_charts=tuple(chart for chart in charts if _is_small(chart, charts)),
        curve_words=_CURVE_ESTIMATE if memory.estimate else _CURVE,
        peak=_peak(memory),
        arguments=tabulate_arguments(memory),
        peak_scopes=tabulate_shares("Scope", memory.peak_scopes, "(no op_name)"),
        peak_lines=tabulate_shares("Line", memory.peak_lines, "(no source info)"),
        breakdown=tabulate_breakdown(memory.breakdown),
        saving=describe_saving(memory),
        kinds=tabulate_kinds(module.backend, memory),
        donation=_donation(memory),
        fills=tabulate_fills(module.backend, memory),
        layouts=tabulate_layouts(module.backend, memory),
        remat=prose(_remat(memory)),
        host=_host_words(memory),
    )


def _actions(memory: MemoryReport, module: ModuleRecord) -> Iterator[Markup]:
    """Yield the suggestions, with links where they name a finding."""
    here, cost = (navigation.module_page(module.slug, part) for part in ("memory", "cost"))
    address = f"{navigation.address(cost, here)}#findings"
    titles = {finding.title: address for finding in module.findings}
    actions = module.cost.memory.actions if module.cost else ()
    yield from (prose(action.sentence, titles) for action in actions)
    if memory.lost_bytes > _LEAST_LOST * memory.peak_bytes:
        words = "of the temp allocations is fragmentation at most; the peak does not contain it."
        yield prose(f"{units.byte_size(memory.lost_bytes)} {words}")


TAB = ModuleTab(
    "memory",
    lambda shown: shown.analysis.cost if "memory" in cost_parts(shown.record) else None,
    memory_page,
    place=40,
)

_LEAST_LOST = 0.03
"""Of the peak: less fragmentation is no matter. It is allocated, and lowers no peak."""
_SMALL = 0.001
"""Of the peak of the device memory: a space with less is shown on demand."""
_CURVE = (
    "Bytes in use by schedule position: arguments, outputs and constants throughout, and the "
    "occupied parts of temp allocations. Values that share memory count once."
)
_CURVE_ESTIMATE = (
    "Live bytes by schedule position, estimated from the schedule: each value from its definition "
    "to its last use, without padding and buffer sharing."
)


def _lead(memory: MemoryReport) -> str:
    figures, held = memory.figures, memory.figures.held
    if figures.allocated_bytes is None and memory.occupied_peak_bytes is None and not memory.curve:
        return "The dump has no memory information of this module."
    facts = []
    if memory.occupied_peak_bytes is not None:
        facts.append(
            f"peak memory: {units.byte_size(memory.occupied_peak_bytes)}{peak_place(memory)}"
        )
    if held is not None:
        facts.append(
            f"arguments + outputs + temp \N{MINUS SIGN} alias: {units.byte_size(held.total_bytes)}"
        )
    elif figures.allocated_bytes is not None:
        facts.append(f"allocated: {units.byte_size(figures.allocated_bytes)}")
    if memory.estimate is not None:
        facts.append(
            f"peak memory: about {units.byte_size(memory.estimate.bytes)} at "
            f"`%{memory.estimate.at}`, estimated from the schedule, since the dump has no "
            f"{_missing_file(memory)} of this module{_beyond_allocated(memory)}"
        )
    return f"{capitalize('; '.join(facts))}.{_host(memory)}{_without_curve(memory)}"


def _beyond_allocated(memory: MemoryReport) -> str:
    allocated, estimate = memory.figures.allocated_bytes, memory.estimate
    if allocated is None or estimate is None or estimate.bytes <= allocated:
        return ""
    return f", and at most the {units.byte_size(allocated)} allocated: values share memory"


def _host_words(memory: MemoryReport) -> str:
    """Sum up the transfers by direction, as far as their number is known."""
    sums = []
    for direction in (TO_HOST, FROM_HOST):
        transfers = [item for item in memory.host_transfers if item.direction == direction]
        byte_counts = [item.total_bytes for item in transfers if item.total_bytes is not None]
        more = " or more" if len(byte_counts) < len(transfers) else ""
        if transfers:
            sums.append(f"{units.byte_size(sum(byte_counts))}{more} {direction} memory")
    return f"{', '.join(sums)} in one execution of the module." if sums else ""


def _without_curve(memory: MemoryReport) -> str:
    """Return why there is no curve of memory in use."""
    if memory.curve or memory.occupied_peak_bytes is not None:
        return ""
    return (
        f" No curve of memory in use: the dump has no {_missing_file(memory)} of this module, and "
        "its final snapshot has no schedule to estimate it from."
    )


def _missing_file(memory: MemoryReport) -> str:
    return "live ranges" if memory.figures.held else "buffer assignment"


def _host(memory: MemoryReport) -> str:
    held = memory.figures.held
    if held is None or not held.host_bytes:
        return ""
    return f" Host memory: {units.byte_size(held.host_bytes)}."


def _figures(memory: MemoryReport, backend: str | None) -> list[Figure]:
    """Return the peak and its components; bytes of the device memory, except for `host`."""
    figures, held = memory.figures, memory.figures.held
    rows: list[tuple[str, int | None, str]] = [
        ("Peak memory", memory.occupied_peak_bytes, f"{_main_memory(memory, backend)}, at most")
    ]
    if memory.estimate is not None:
        rows = [("Peak memory", memory.estimate.bytes, "estimated from the schedule")]
    if held is not None:
        rows += [
            ("Arguments", held.argument_bytes, f"entry parameters{describe_padding(memory)}"),
            ("Outputs", held.output_bytes, "including those aliased with arguments"),
            ("Alias", held.alias_bytes, "outputs that reuse argument memory"),
        ]
    rows += [
        ("Temp", figures.temp_bytes, "preallocated-temp"),
        ("Allocated", figures.allocated_bytes, "all device allocations"),
        ("Host memory", held.host_bytes if held and held.host_bytes else None, "pinned_host"),
    ]
    return [
        Figure(label, units.byte_size(size), note) for label, size, note in rows if size is not None
    ]


def _main_memory(memory: MemoryReport, backend: str | None) -> str:
    return space_words(backend, DEFAULT_SPACE, memory.chip)


def _further(memory: MemoryReport, module: ModuleRecord) -> Iterator[str]:
    """Yield the components of the peak, then figures of other tools, with their definitions."""
    parts = _peak_parts(memory, module.backend)
    if parts:
        yield parts
    line = analysis_line(memory, module.backend)
    if module.frontend == "jax" and line:
        yield line
    live = describe_live_range(memory)
    if live:
        yield live


_LEAST_UNUSED = 0.01
"""Of the peak: less of temp that is not in use then is not worth a word."""


def _peak_parts(memory: MemoryReport, backend: str | None) -> str:
    """Return a sentence on the peak, memory held throughout and temp, a separate maximum."""
    main = next((curve for curve in memory.curves if curve.color == MAIN_MEMORY), None)
    temp, peak = memory.figures.temp_bytes, memory.occupied_peak_bytes
    if main is None or not temp or peak is None:
        return ""
    held = sum(main.held.values())
    used, whole = units.byte_size(peak - held), units.byte_size(temp)
    is_whole = used == whole or temp - (peak - held) < _LEAST_UNUSED * peak
    of_temp = f"{used} of the {whole} allocated for temp; the rest is fragmentation or free then"
    return (
        f"Peak memory is the maximum of {_main_memory(memory, backend)} in use: "
        f"{units.byte_size(held)} of arguments, outputs and constants, and "
        f"{f'{used} of temp' if is_whole else of_temp}."
    )


def _charts(backend: str | None, memory: MemoryReport) -> Iterator[MemoryChart]:
    """Yield the chart of each memory space, or of the estimate."""
    drawn = []
    if memory.estimate is not None:
        curve = memory.estimate.curve
        peak = curve.index(max(curve)), f"%{memory.estimate.at}"
        drawn = [memory_chart("Estimated live bytes", memory.curve, {}, memory.positions, peak)]
    for space in memory.curves:
        name = space_words(backend, space.color, memory.chip)
        peak = space.position, f"%{space.at}" if space.at else "schedule end"
        drawn.append(memory_chart(name, space.curve, space.held, memory.positions, peak))
    yield from (chart for chart in drawn if chart is not None)


def _is_small(chart: MemoryChart, charts: Sequence[MemoryChart]) -> bool:
    return chart.most < charts[0].most * _SMALL


def _peak(memory: MemoryReport) -> str:
    if not memory.at_peak_count:
        return ""
    if memory.estimate is not None:
        values = units.plural(memory.at_peak_count, "HLO value")
        return f"{values} live at peak: %{memory.estimate.at}, estimated from the schedule."
    if memory.peak_position is None:
        return ""
    of_all = f"of {units.count(max(0, memory.positions - 1))}"
    place = f"schedule position {units.count(memory.peak_position)} {of_all}"
    at = f"%{memory.peak_instruction}" if memory.peak_instruction else "schedule end"
    when = f", {place}" if memory.plateau else f": {at} ({place})"
    return (
        f"{units.plural(memory.at_peak_count, 'buffer')} in use at peak{when}."
        f"{_without_value(memory)}{describe_marked(memory)}"
    )


def _without_value(memory: MemoryReport) -> str:
    """Return the number of listed buffers without a live value."""
    held = sum(row.at_peak is False and row.occupant is None for row in memory.at_peak)
    if not held:
        return ""
    return (
        f" {units.count(held)} of them {'holds' if held == 1 else 'hold'} no live value then: "
        "arguments, outputs and constants are held for the whole execution."
    )


def _donation(memory: MemoryReport) -> str:
    given = {row.parameter: row for row in reversed(memory.donations) if row.donated}
    aliased = {row.parameter for row in given.values() if row.output is not None}
    could = [donation for donation in memory.donations if not donation.donated]
    if not memory.donations:
        return "No argument matches an output, so none can be donated."
    sizes = {number: row.size or 0 for number, row in given.items()}
    size = units.byte_size(sum(sizes[number] for number in aliased))
    message = f"{units.plural(len(aliased), 'argument')} ({size}) aliased with outputs."
    donors = [size for number, size in sizes.items() if number not in aliased]
    if donors:
        donated = units.byte_size(sum(donors))
        message += f" {units.plural(len(donors), 'argument')} ({donated}) donated without an alias."
    if could:
        more = units.byte_size(sum(row.size or 0 for row in could))
        message += (
            f" {units.plural(len(could), 'more argument')} ({more}) donatable: same shape as an "
            "output. Donate (donate_argnums) if the caller does not reuse them."
        )
    return message


def _remat(memory: MemoryReport) -> str:
    if not memory.rematerialized:
        return (
            "No rematerialization: neither by XLA (`.remat`) nor by jax.checkpoint "
            "(`rematted_computation`)."
        )
    counts = memory.rematerialized_counts
    count, by_xla = sum(counts.values()), counts.get("XLA", 0)
    shown = len(memory.rematerialized)
    first = f" The table shows the first {shown:,}, by bytes accessed." if shown < count else ""
    return (
        f"{units.plural(count, 'rematerialized instruction')}: {by_xla:,} by XLA (`.remat` in the "
        f"name), {count - by_xla:,} by jax.checkpoint (`rematted_computation` in the scope). An "
        f"instruction that was merged with its original keeps the mark.{first}"
    )
