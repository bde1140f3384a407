"""The page on collectives: data, devices, cause, time, and what hides it."""

from collections import Counter
from collections.abc import Sequence

from xlareport.analysis.collectives.collective_rows import CollectiveRow, CollectivesReport
from xlareport.analysis.collectives.counted_once import LoopCountedOnce
from xlareport.analysis.cost.interconnect_time import WITHOUT_LATENCY
from xlareport.analysis.cost.wire import ONE_SHOT, TWO_SHOT, SentBytes
from xlareport.pages.collectives.replica_groups import GroupsFigure, draw_groups
from xlareport.pages.collectives.tables import tabulate_collectives
from xlareport.pages.large_figures import Figure
from xlareport.pages.tables import PartPage
from xlareport.pages.tabs import ModuleTab
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units
from xlareport.runtime.english import first_few

_MOST_LOOPS = 3


class CollectivesPage(PartPage, frozen=True):
    """Everything on the page."""

    lead: str
    model: str
    """The basis of the times."""
    model_source: str
    figures: tuple[Figure, ...]
    groups: tuple[GroupsFigure, ...]
    schedule: str


def collectives_page(record: ModuleRecord, report: CollectivesReport) -> CollectivesPage:
    """Return the page of one module."""
    mesh = record.shardings.mesh if record.shardings else None
    numbers = {stage.label: stage.number_and_pipeline for stage in record.stages}
    return CollectivesPage(
        tables=tabulate_collectives(report, numbers, mesh),
        lead=describe_collectives(report),
        model=f"{_model(report)}{_planned(report.rows)}",
        model_source=report.interconnect_source,
        figures=tuple(_figures(report)),
        groups=draw_groups(report.rows, report.devices, mesh),
        schedule=_schedule(report),
    )


TAB = ModuleTab(
    "collectives", lambda shown: shown.analysis.collectives, collectives_page, wide=True, place=50
)


def describe_collectives(report: CollectivesReport | None) -> str:
    """Return the number of collectives and the data that they send."""
    if report is None:
        return "No collectives."
    rows = report.rows
    return (
        f"{units.plural(len(rows), 'collective')}; {_by_device(report, report.sent)} sent per "
        f"device and module execution ({_algorithms(rows)}, no in-network reduction)."
        f"{_once(report)}"
    )


def _once(report: CollectivesReport) -> str:
    """Return which collectives count for one iteration of a loop; empty where none does."""
    loops = report.counted_once
    if not loops:
        return ""
    number = sum(loop.collectives for loop in loops)
    run = "runs" if number == 1 else "run"
    is_single = len(loops) == 1
    is_bounded = any(loop.most is not None for loop in loops)
    names = [f"%{loop.name}{_most(loop) if is_bounded else ''}" for loop in loops]
    counts = "trip count is unknown" if is_single else "trip counts are unknown"
    if not is_bounded:
        counts += f" and {'has' if is_single else 'have'} no known bound"
    return (
        f" {number:,} of them {run} in {first_few(names, _MOST_LOOPS)}, whose {counts}; figures "
        "count one iteration."
    )


def _most(loop: LoopCountedOnce) -> str:
    """Return the bound of the trip count of a loop, beside loops that have one."""
    return " (no known bound)" if loop.most is None else f" (at most {loop.most:,})"


def _by_device(report: CollectivesReport, sent: SentBytes) -> str:
    """Return the bytes that a device sends; a range where some send more than others."""
    least, most = units.byte_size(sent.least), units.byte_size(sent.most)
    if not sent.is_exact:
        bound = "at most" if report.bound in ("", "at most") else "about"
        return f"{bound} {most}"
    number, _, unit = least.partition(" ")
    first = number if most.endswith(f" {unit}") else least
    size = most if least == most else f"{first} to {most}"
    return f"{report.bound} {size}".lstrip()


def _algorithms(rows: Sequence[CollectiveRow]) -> str:
    """Return by which algorithms the bytes count; `ring` where the dump names no other."""
    kernels = Counter(
        row.figures.algorithm
        for row in rows
        if row.figures.algorithm in (ONE_SHOT, TWO_SHOT) and row.figures.wire_bytes
    )
    if not kernels:
        return "ring algorithms"
    named = [f"{units.count(number)} by {name} kernels" for name, number in kernels.items()]
    others = ", others by ring algorithms" if kernels.total() < len(rows) else ""
    return f"{', '.join(named)}{others}"


def _model(report: CollectivesReport) -> str:
    if not report.interconnect_source:
        return (
            f"No bandwidth between devices is known for {report.device_name}: no times. Set "
            "--device, or give links in a table of --devices."
        )
    return (
        f"Times are modeled for {report.device_name}: bytes sent / bandwidth of the links that a "
        f"group can use{_latency(report)}{_domain(report)}. Not validated against a multi-device "
        "trace."
    )


def _latency(report: CollectivesReport) -> str:
    """Return whether times contain latency, which only a user's own table of devices can have."""
    times = [row.figures.time for row in report.rows if row.figures.time.seconds]
    has_latency = times and not any(WITHOUT_LATENCY in time.reason for time in times)
    return " + latency of each step" if has_latency else ", without latency"


def _domain(report: CollectivesReport) -> str:
    """Return which devices the model takes for one host; empty where links have no such limit."""
    domain = report.interconnect_domain
    if domain is None or report.devices < 2:
        return ""
    if report.devices <= domain:
        return (
            f", as if all {report.devices:,} devices were in one host, which the dump does not say"
        )
    return f", as if each {domain:,} consecutive devices were one host, which the dump does not say"


def _planned(rows: Sequence[CollectiveRow]) -> str:
    """Return whose plan the kernels of collectives are; empty where there are none."""
    if not any(row.figures.algorithm in (ONE_SHOT, TWO_SHOT) for row in rows):
        return ""
    return (
        " One-shot and two-shot kernels are those of kernel_strategy in the config, XLA's plan at "
        "compile time; where GPUs have no access to each other's memory, NCCL runs instead."
    )


def _schedule(report: CollectivesReport) -> str:
    if report.is_scheduled:
        return (
            f"Exposed time = modeled time less the {report.time_name} of what is scheduled between "
            "start and done, at least 0. If two collectives overlap, the same work hides both. "
            "Hideable time = exposed time, or that of independent work not run meanwhile if that "
            "is less. Of all collectives, each piece of work counts once; a row or a finding is "
            "the bound for its own collectives alone, so they do not add up."
        )
    return "The module is not scheduled: its order does not show what runs concurrently."


def _figures(report: CollectivesReport) -> list[Figure]:
    rows = report.rows
    figures = [Figure("Collectives", units.count(len(rows)), f"{report.devices:,} devices")]
    sent = report.sent
    note = "per device and module execution"
    if report.counted_once:
        note = f"{note}, loops of unknown trip count once"
    figures.append(Figure("Bytes sent", _by_device(report, sent), note))
    together = f"{report.bound} {units.byte_size(sent.by_all)}".lstrip()
    figures.append(Figure("On all devices", together, "per module execution"))
    times = [(row.figures.time.seconds, row.figures) for row in rows]
    timed = [(seconds, collective) for seconds, collective in times if seconds is not None]
    if timed:
        modeled = sum(seconds * collective.counted for seconds, collective in timed)
        figures.append(Figure("Modeled time", units.seconds(modeled), "not measured"))
    if timed and report.is_scheduled:
        exposed = sum(collective.exposed_seconds for _, collective in timed)
        note = "not overlapped with other work; estimate"
        figures.append(Figure("Exposed", units.seconds(exposed), note))
        most = units.seconds(report.hideable_seconds)
        figures.append(Figure("Hideable", most, "by more overlap; upper bound"))
    return figures
