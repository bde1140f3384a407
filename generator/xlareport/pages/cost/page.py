"""The page on the cost of a module: estimated time, findings, loops, parts."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.cost.interconnect_time import links_of
from xlareport.analysis.cost.rematerialization import RecomputedFlops
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.analysis.cost_report.work_report import LoopRow, Totals
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.dump_device import MOST_COMPARED
from xlareport.knowledge.devices import Device
from xlareport.pages import navigation
from xlareport.pages.collectives.page import describe_collectives
from xlareport.pages.cost.basis import describe_cycles, describe_unmodeled, on_chip_spaces
from xlareport.pages.cost.roofline_chart import roofline, roofline_words
from xlareport.pages.cost.tables import cycle_columns, estimate_columns, tabulate_costs
from xlareport.pages.cost.treemap import treemap, treemap_words
from xlareport.pages.cost.unknown_loops import iterations_words, with_one_iteration
from xlareport.pages.findings.section import MOST_ON_ITS_OWN_PAGE, FindingsView, module_findings
from xlareport.pages.large_figures import Figure
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import PartPage, Table
from xlareport.pages.tabs import ModuleTab
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units
from xlareport.runtime.english import plain


class Count(Struct, frozen=True):
    """A figure in both counts, and over all devices."""

    label: str
    counted: str
    xla: str
    together: str
    """Empty where one device runs the module alone."""


class CostPage(PartPage, frozen=True):
    """Everything on the page."""

    lead: str
    cycles: str
    """On the compiler's own estimate; empty where the dump has none."""
    iterations: Markup
    """On loops of unknown trip count; empty where none takes much time."""
    device: str
    device_source: str
    figures: tuple[Figure, ...]
    per_device: str
    devices: int
    counts: tuple[Count, ...]
    count_rules: str
    """How far the second count is XLA's own."""
    roofline: Markup
    roofline_words: str
    findings: FindingsView
    loops: str
    collectives: str
    collectives_address: str
    """Empty where there are none."""
    uncounted: str
    treemap: Markup
    """Empty where fewer than two scopes take any time."""
    treemap_words: str
    time_name: str
    """What the time of parts is estimated by."""
    restored: str
    """On op_names that are not in the final snapshot; empty where there are none."""


_TPU_RULES = (
    "The TPU compiler counts bytes by rules of its own: its cost_analysis() has had up to 50% more "
    "bytes, and the same FLOPs to 0.01%."
)
"""Measured with libtpu 0.0.52 on two programs, of which one is small and padded."""


def _tables(record: ModuleRecord, module: ModuleAnalysis, cost: CostReport) -> Mapping[str, Table]:
    here = navigation.module_page(record.slug, "cost")
    near, behind = estimate_columns(module.kernels) if module.kernels else ({}, {})
    cycles = cycle_columns(record.slug, module.tpu.programs) if module.tpu else {}
    instructions = navigation.instructions_address(record.slug, here)
    return tabulate_costs(cost, instructions, {**cycles, **near}, behind)


def cost_page(record: ModuleRecord, module: ModuleAnalysis, cost: CostReport) -> CostPage:
    """Return the page of one module."""
    source = navigation.module_page(record.slug, "cost")
    instructions = navigation.instructions_address(record.slug, source)
    return CostPage(
        tables=_tables(record, module, cost),
        lead=_lead(cost),
        cycles=describe_cycles(cost),
        iterations=prose(iterations_words(cost)),
        device=f"{plain(_DEVICES[cost.device_grade])} {_peaks(cost.device)}",
        device_source=cost.device.source,
        figures=tuple(_figures(cost)),
        per_device=_of_work(cost),
        devices=cost.totals.devices,
        counts=tuple(_count_rows(cost.totals)),
        count_rules=_TPU_RULES if record.backend == "tpu" else "",
        roofline=Markup(roofline(cost.heaviest, cost.device, cost.seconds)),  # noqa: S704 - made and escaped there
        roofline_words=roofline_words(cost.heaviest, cost.device, cost.seconds),
        findings=module_findings(module, record, source, most=MOST_ON_ITS_OWN_PAGE),
        loops=_loops_words(cost.loops, cost.totals),
        collectives=describe_collectives(module.collectives),
        collectives_address=collectives_address(module, record.slug, source),
        uncounted=_uncounted_words(cost),
        treemap=Markup(treemap(cost.scopes, instructions)),  # noqa: S704 - made and escaped there
        treemap_words=f"{treemap_words(cost.scopes)}{with_one_iteration(cost)}",
        time_name=cost.time_name,
        restored=_restored(cost.restored_op_names),
    )


TAB = ModuleTab(
    "cost",
    lambda shown: (shown.analysis, shown.analysis.cost) if shown.analysis.cost else None,
    lambda record, value: cost_page(record, *value),
    place=20,
)

_RESTORED = "matmuls, collectives or reduce-windows"


def _restored(count: int) -> str:
    """Return how many op_names are from an earlier snapshot; empty for none."""
    if not count:
        return ""
    return (
        f"{units.plural(count, 'matmul, collective or reduce-window', _RESTORED)} without op_name "
        "in the final snapshot: the op_name and the source line are those of its history (matched)."
    )


_DEVICES = {
    "exact": "The dump names this device; peak rates are the vendor's.",
    "matched": (
        "The dump names the architecture; other devices of that architecture can be slower or "
        "faster. Peak rates are the vendor's."
    ),
    "others": (
        "This module does not name a device; all modules of the dump that name one, of which at "
        f"most {MOST_COMPARED} are compared, name this. Peak rates are the vendor's."
    ),
    "chosen": "Device set by `--device`; the dump may be for another.",
    "guessed": (
        "The dump does not name the device: a default model is assumed. Use the ranking and the "
        "shares, not the seconds, or set `--device`."
    ),
}


def per_device(devices: int) -> str:
    """Return that figures are per device; empty if one device runs the module alone."""
    if devices <= 1:
        return ""
    return f"Per-device figures ({devices:,} devices)."


def _of_work(cost: CostReport) -> str:
    whose = per_device(cost.totals.devices)
    beside = "Per-device FLOPs drop after SPMD partitioning; total work does not."
    if any(finding.rule == "replicated-work" for finding in cost.findings):
        beside += " Several devices do the same here: see the findings."
    return f"{whose} {beside}" if whose else ""


def _lead(cost: CostReport) -> str:
    if cost.seconds is None:
        return "The cost of this module is not known."
    device = cost.device.name
    where = device if device.startswith(("a ", "an ")) else f"one {device}"
    partly = (
        " Instructions of unknown cost, such as custom calls, are not included."
        if cost.uncounted
        else ""
    )
    if any(loop.trip_count.count is None for loop in cost.loops):
        partly += " A loop of unknown trip count counts once."
    partly += _branches(cost.totals.branches)
    return (
        f"Roofline time: {units.seconds(cost.seconds)} per module execution on {where}, the sum "
        "of all instructions (excludes launch overhead)"
        f"{_asynchronous(cost)}. Not measured.{_waits(cost)}{partly}{describe_unmodeled(cost)}"
        f"{on_chip_spaces(cost)}"
    )


def _waits(cost: CostReport) -> str:
    """Return why the skeleton has another time."""
    if not cost.asynchronous_seconds:
        return ""
    return " The skeleton counts of asynchronous instructions only the waits for their ends."


def _asynchronous(cost: CostReport) -> str:
    """Return how much of the time may overlap other work, for which the sum is no lower bound."""
    if not cost.asynchronous_seconds:
        return ""
    hidden = units.seconds(cost.asynchronous_seconds)
    return f", {hidden} of it in asynchronous instructions, which may overlap others"


def _peaks(device: Device) -> str:
    rates = ", ".join(
        f"{units.quantity(rate, 'FLOP/s')} ({kind})" for kind, rate in device.matrix_flops.items()
    )
    memory = units.quantity(device.bandwidth, "B/s")
    # Only GPUs have multiprocessors: their roofline counts all accesses at the memory bandwidth.
    caches = " L2 caches are not modeled." if device.multiprocessors else ""
    return f"Assumes {rates}, {memory} memory bandwidth{_interconnect(device)}.{caches}"


def _interconnect(device: Device) -> str:
    """Return the bandwidth between devices; in a torus a group has that of some links alone."""
    if not device.interconnect:
        return ""
    whole = f" and {units.quantity(device.interconnect, 'B/s')} interconnect"
    links = links_of(device)
    if links is None or links.topology != "torus" or not links.link:
        return whole
    many = device.devices_per_chip
    shared = f" of the chip, which {many} devices share" if many > 1 else ""
    each_link = units.quantity(links.link, "B/s")
    return f"{whole} over all links{shared}, {each_link} each (a group uses some)"


def _figures(cost: CostReport) -> list[Figure]:
    totals, least = cost.totals, f"{cost.totals.bound}; " if cost.totals.bound else ""
    figures = []
    if cost.seconds is not None:
        note = f"{least}sum of all instructions, estimate, not measured{_asynchronous(cost)}"
        figures.append(Figure("Roofline time", units.seconds(cost.seconds), note))
    if cost.cycles is not None and cost.cycles.seconds is not None:
        note = f"{least}compiler's estimate; collectives and others by the roofline"
        figures.append(Figure("Time by cycles", units.seconds(cost.cycles.seconds), note))
    if totals.flops is not None:
        note = f"{least}loops multiplied by trip count"
        figures.append(Figure("FLOPs", units.quantity(totals.flops, "FLOP"), note))
    if totals.flops and cost.recomputed.total:
        figures.append(_recomputed(cost.recomputed, totals.flops))
    if totals.bytes_read is not None and totals.bytes_written is not None:
        moved = units.byte_size(totals.bytes_read + totals.bytes_written)
        note = f"{least}estimate; {units.byte_size(totals.bytes_read)} read, "
        note += f"{units.byte_size(totals.bytes_written)} written"
        figures.append(Figure("Bytes accessed", moved, note))
    if totals.intensity is not None:
        in_memory = " in device memory" if totals.stored_bytes is not None else ""
        note = f"FLOPs per byte accessed{in_memory}"
        figures.append(Figure("Operational intensity", f"{totals.intensity:.3g} FLOP/byte", note))
    return figures


def _recomputed(recomputed: RecomputedFlops, flops: int) -> Figure:
    """Return the figure: about, where more than matmuls is repeated, as fusions do anyway."""
    size = units.quantity(recomputed.total, "FLOP")
    note = f"{units.share(recomputed.total / flops)} of FLOPs, to save memory"
    if recomputed.products == recomputed.total:
        return Figure("Recomputed", size, note)
    products = units.quantity(recomputed.products, "FLOP") if recomputed.products else "none"
    note = f"about {note}; {products} in matmuls and convolutions, the rest an estimate"
    return Figure("Recomputed", f"about {size}", note)


def _count_rows(totals: Totals) -> list[Count]:
    rows = (
        ("FLOPs", totals.flops, totals.xla_flops),
        ("Transcendentals", totals.transcendentals, totals.xla_transcendentals),
        ("Bytes accessed", totals.bytes_accessed, totals.xla_bytes_accessed),
    )
    return [
        Count(label, _count(counted, totals), _count_words(xla), _together(counted, totals))
        for label, counted, xla in rows
    ]


def _count(figure: int | None, totals: Totals) -> str:
    return (
        f"{f'{totals.bound} ' if totals.bound and figure is not None else ''}{_count_words(figure)}"
    )


def _together(figure: int | None, totals: Totals) -> str:
    if totals.devices <= 1:
        return ""
    return _count(None if figure is None else figure * totals.devices, totals)


def _count_words(figure: int | None) -> str:
    return "not known" if figure is None else units.count(figure)


def _loops_words(loops: Sequence[LoopRow], totals: Totals) -> str:
    if not loops:
        return "No while loops."
    unknown = sum(loop.trip_count.count is None for loop in loops)
    have = units.plural(len(loops), "while loop")
    if not unknown:
        return (
            f"{have}, trip count known." if len(loops) == 1 else f"{have}, all trip counts known."
        )
    return (
        f"{have}, {unknown:,} with unknown trip count: these are counted once.{_bounds(totals)} "
        "They are assumed to run more often only when choosing the main program."
    )


def collectives_address(module: ModuleAnalysis, slug: str, page: str) -> str:
    """Return the address of the page on collectives; empty where there is none."""
    if module.collectives is None:
        return ""
    return navigation.module_address(slug, "collectives", seen_from=page)


def _branches(count: int) -> str:
    """Return a sentence on conditionals of which it is not known which branch runs."""
    if not count:
        return ""
    conditionals = units.plural(count, "conditional")
    counts = "counts as its" if count == 1 else "count as their"
    return f" {conditionals} {counts} costliest branch in every execution: it may be less."


def _uncounted_words(cost: CostReport) -> str:
    totals = cost.totals
    bounds = _bounds(totals)
    if not totals.unknown_ops:
        return f"No unknown custom calls or trip counts.{_branches(totals.branches)}{bounds}"
    return (
        f"{units.plural(totals.unknown_ops, 'instruction')} with unknown cost, including "
        f"loops of unknown trip count.{_branches(totals.branches)}{bounds}"
    )


def _bounds(totals: Totals) -> str:
    """Return the sentence on how the totals bound the true ones."""
    return f" Totals are {_BOUNDS[totals.bound]}." if totals.bound else " Totals are complete."


_BOUNDS = {
    "about": "neither lower nor upper bounds",
    "at least": "lower bounds",
    "at most": "upper bounds",
}


def cost_parts(module: ModuleRecord) -> Iterator[str]:
    """Yield the parts on cost that a module has: cost always, others if there is data."""
    if module.cost is None:
        return
    yield "cost"
    memory = module.cost.memory
    if memory.spaces or memory.at_peak or memory.estimated_peak_bytes is not None:
        yield "memory"
    if module.cost.lines:
        yield "source"
    if module.measured is not None:
        yield "time"


def cost_addresses(module: ModuleRecord, page: str) -> dict[str, str]:
    """Return their addresses as links from another page, by name."""
    return {
        part: navigation.module_address(module.slug, part, seen_from=page)
        for part in cost_parts(module)
    }


def devices_of(module: ModuleRecord) -> int:
    """Return how many devices do so much each as the figures say; 1 where that is not known."""
    return module.cost.devices if module.cost is not None else 1
