"""Findings as pages show them: each finding with links to its places and to its rule."""

from collections.abc import Iterable, Mapping, Sequence
from math import isclose

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.looped import CountedOnce, time_at_most
from xlareport.analysis.dump import AnalyzedDump
from xlareport.analysis.findings.finding import MEBIBYTE, SHORTEST, Finding
from xlareport.analysis.module import ModuleAnalysis
from xlareport.pages import navigation, words
from xlareport.records.cost import CostRecord
from xlareport.records.findings import SEVERITIES
from xlareport.records.module_outline import ModuleOutline
from xlareport.records.report import RECOMPILATIONS, ModuleRecord, ReportRecord
from xlareport.runtime import units
from xlareport.runtime.english import first_few

MOST_ON_A_PAGE = 5
"""Limit on findings on a page about something else; the cost page has all."""
MOST_ON_ITS_OWN_PAGE = 60
_CANDIDATES = 3
_LEAST = f"{units.seconds(SHORTEST)} or {units.byte_size(MEBIBYTE).replace('.0', '')}"
_RECOMPILED = 2
"""Functions compiled again that the home page lists."""
_MOST_LOOPS = 3
_GUIDE = "guide/findings.md"


class PlaceView(Struct, frozen=True):
    """An instruction or a module that a finding names."""

    name: str
    address: str | None
    """Where it came from, else its code; None where the report has neither."""
    code: str | None
    """The address of its code, where that is a second one."""


class FindingView(Struct, frozen=True):
    """A finding with its links and the gain in words."""

    finding: Finding
    gain: str
    """The maximum gain of a remedy; empty if unknown."""
    gain_words: str
    """The same in a sentence, for a tooltip."""
    places: tuple[PlaceView, ...]
    rule: str
    """The address of the rule's section in the guide."""


class FindingsView(Struct, frozen=True):
    """The findings of a page."""

    shown: tuple[FindingView, ...]
    more: int
    """Findings beyond those; the page of costs has them."""
    all_address: str
    order: str = ""
    """By what they are ranked."""
    note: str = ""
    """Why there are none; empty if there are some."""
    candidates: tuple[FindingView, ...] = ()
    """Without findings, the largest savings that are too little for one."""
    traces: str = ""
    """The address of the page with the traces of the module's instructions; empty without any."""


def module_findings(
    module: ModuleAnalysis, record: ModuleRecord, page: str, most: int = MOST_ON_A_PAGE
) -> FindingsView:
    """Return the first findings of a module, for the page at a source."""
    findings = record.findings
    address = navigation.module_address(record.slug, "cost", seen_from=page)
    return FindingsView(
        shown=tuple(_view(finding, module, record, page) for finding in findings[:most]),
        more=max(0, len(findings) - most),
        all_address=f"{address}#findings",
        order=_order(findings),
        note="" if findings else _why_none(record.cost),
        candidates=tuple(
            _view(finding, module, record, page) for finding in record.candidates[:_CANDIDATES]
        ),
        traces=_traces(record, page),
    )


def _order(findings: Sequence[Finding]) -> str:
    """Return by what findings are ranked, in sentences."""
    order = "Ranked by severity, then by the estimated upper bound of what each can save."
    loops = list(dict.fromkeys(loop for finding in findings for loop in finding.beside_loops))
    if not loops:
        return order
    named = first_few([f"%{loop}" for loop in loops], _MOST_LOOPS, len(loops))
    return f"{order} Time outside of {named} does not count: the trip count is unknown."


def _traces(record: ModuleRecord, page: str) -> str:
    has_steps = record.changed_steps > 0
    return navigation.module_address(record.slug, seen_from=page) if has_steps else ""


def _why_none(cost: CostRecord | None) -> str:
    """Return why a module has no findings, with its time and memory as far as they are known."""
    facts = []
    if cost is not None and cost.seconds:
        guess = f" on {cost.device}" if cost.device_grade == "guessed" else ""
        facts.append(f"takes {units.seconds(cost.seconds)}{guess} by the roofline estimate")
    if cost is not None and cost.memory.held_bytes:
        facts.append(f"uses {units.byte_size(cost.memory.held_bytes)} of memory")
    whole = f" One execution {' and '.join(facts)}." if facts else ""
    return f"No finding. Savings are reported from {_LEAST}.{whole}"


def home_findings(dump: AnalyzedDump, report: ReportRecord) -> FindingsView | None:
    """Return the findings of the main program and of the dump; None without a main program."""
    place = report.main_place
    if place is None:
        return None
    main = report.modules[place]
    main_record = replace(
        main, findings=tuple(finding for finding in main.findings if not _is_again(finding))
    )
    findings = module_findings(dump.modules[place], main_record, navigation.HOME)
    shown = (*findings.shown, *_compiled_again(report))
    ranked = sorted(shown, key=lambda view: SEVERITIES.index(view.finding.severity))
    if not ranked:
        return findings
    return replace(findings, shown=tuple(ranked), note="", candidates=())


def _is_again(finding: Finding) -> bool:
    return finding.rule == RECOMPILATIONS


def _compiled_again(report: ReportRecord) -> list[FindingView]:
    """Return a finding for each of the first functions that were compiled several times."""
    findings: dict[tuple[tuple[str, str], ...], Finding] = {}
    every = (finding for module in report.outlines for finding in module.findings)
    for finding in filter(_is_again, every):
        findings.setdefault(finding.places, finding)
        if len(findings) == _RECOMPILED:
            break
    return [_of_modules(finding, report.by_key) for finding in findings.values()]


def _view(finding: Finding, module: ModuleAnalysis, record: ModuleRecord, page: str) -> FindingView:
    names = dict.fromkeys(instruction for _, instruction in finding.places if instruction)
    places = (_instruction(name, module, record, page) for name in names)
    return _finding(finding, places, page, record.cost)


def _instruction(name: str, module: ModuleAnalysis, record: ModuleRecord, page: str) -> PlaceView:
    history = navigation.module_address(record.slug, seen_from=page)
    code = navigation.module_address(record.slug, "code", seen_from=page)
    has_code = module.code is not None and name in module.code.names
    unit = f"{code}#unit={name}" if has_code else None
    if record.changed_steps:
        return PlaceView(f"%{name}", f"{history}#i={name}", unit)
    return PlaceView(f"%{name}", unit, None)


def _of_modules(finding: Finding, modules: Mapping[str, ModuleOutline]) -> FindingView:
    with_finding = (modules[key] for key, _ in finding.places)
    places = (
        PlaceView(words.label(module), navigation.module_address(module.slug), None)
        for module in with_finding
    )
    return _finding(finding, places, navigation.HOME, None)


def _finding(
    finding: Finding, places: Iterable[PlaceView], page: str, cost: CostRecord | None
) -> FindingView:
    return FindingView(
        finding=finding,
        gain=_gain(finding, cost),
        gain_words=_gain_words(finding, cost),
        places=tuple(places),
        rule=f"{navigation.address(_GUIDE, page)}#{finding.rule}",
    )


_GAIN = (
    "Upper bound of the time saved in one execution of the module: roofline time, not measured, "
    "and its share of the module's"
)
_LATENCY_GAIN = (
    "Upper bound of the latency saved in one execution of the module, at an assumed 2 µs for each "
    "collective, or 1 µs for each launch; no part of the roofline time or of the modeled times of "
    "collectives"
)
_GAIN_BY_CYCLES = (
    "Upper bound of the time saved in one execution of the module, and its share of the module's "
    "time by the compiler's estimated cycles, not measured"
)
_PADDING_GAIN = (
    "Time of the padding in one execution of the module at the peak rate of the MXU, no part of "
    "the roofline time: what a remedy saves is not known"
)
_CYCLES_GAIN = (
    "Upper bound of the time saved in one execution of the module, by the compiler's estimated "
    "cycles; the roofline time has less than a tenth of it"
)
_MEMORY_GAIN = "Upper bound of the device memory saved, and its share of what is allocated"


def _gain_words(finding: Finding, cost: CostRecord | None) -> str:
    if finding.latency_seconds is not None:
        return _LATENCY_GAIN
    if finding.cycle_seconds is not None:
        return _CYCLES_GAIN
    if finding.padding_seconds is not None:
        return _PADDING_GAIN
    if finding.seconds is None:
        return _MEMORY_GAIN
    if finding.in_loops or finding.is_partial:
        return _LOOPED_GAIN if finding.in_loops else _PARTIAL_GAIN
    return _GAIN_BY_CYCLES if cost is not None and cost.by_cycles else _GAIN


_PARTIAL_GAIN = (
    "Of the module's roofline time, without parts that the evidence names: no upper bound"
)
_LOOPED_GAIN = (
    "Time of one iteration of a loop of unknown trip count, and its share of the module's time "
    "with one iteration: not measured, and no upper bound of what all iterations save"
)


def _gain(finding: Finding, cost: CostRecord | None) -> str:
    """Return the maximum gain of a remedy; only as a share of time if the device is a guess."""
    gains = []
    if finding.seconds and cost is not None and cost.whole_seconds:
        share = units.share(min(1.0, finding.seconds / cost.whole_seconds))
        if finding.beside_loops:
            loops = first_few([f"%{name}" for name in finding.beside_loops], _MOST_LOOPS)
            share = f"{share} with 1 iteration of {loops}"
        time = units.seconds(finding.seconds)
        guessed = cost.device_grade == "guessed"
        gains.append(f"{share} of roofline time" if guessed else f"{time} ({share})")
        gains[0] += _iterations(finding, cost)
    once = _once(finding, cost) if cost is not None else ""
    if finding.cycle_seconds:
        time = units.seconds(finding.cycle_seconds)
        gains.append(f"{time} by estimated cycles, not in roofline time{once}")
    if finding.padding_seconds:
        return f"{units.seconds(finding.padding_seconds)} of padding at peak rate{once}"
    if finding.latency_seconds:
        time = units.seconds(finding.latency_seconds)
        gains.append(f"{time} of latency (a guess), not in roofline time{once}")
    if finding.bytes:
        whole = cost.memory.held_bytes if cost is not None else None
        part = units.share(min(1.0, finding.bytes / whole)) if whole else ""
        share = f" ({part} of the allocated memory)" if part else ""
        gains.append(f"{units.byte_size(finding.bytes)}{share}")
    bound = "" if finding.in_loops else "about " if finding.is_partial else "up to "
    return f"{bound}{', '.join(gains)}" if gains else ""


def _once(finding: Finding, cost: CostRecord) -> str:
    """Return that a time beside the estimated one is of one iteration; empty outside loops."""
    if not finding.in_loops or finding.seconds:
        return ""
    names, loops = _loops_around(finding, cost)
    inside = finding.seconds_in_loops or 0.0
    most = time_at_most(finding.any_seconds, inside, 0.0, loops)
    once = f", for one iteration of {names}"
    if most.seconds is None:
        return once
    bound = max(loop.most or 1 for loop in loops)
    return f"{once}; at {bound:,}, the most, {units.seconds(most.seconds)}"


def _loops_around(finding: Finding, cost: CostRecord) -> tuple[str, list[CountedOnce]]:
    """Return the loops of unknown trip count around a finding: the names of the first, and all."""
    loops = [
        CountedOnce(loop.instruction, loop.seconds or 0.0, loop.at_most)
        for loop in cost.loops
        if loop.instruction in finding.in_loops
    ]
    return first_few([f"%{name}" for name in finding.in_loops], _MOST_LOOPS), loops


def _iterations(finding: Finding, cost: CostRecord) -> str:
    """Return that a time is of one iteration, and what it is at the most; empty outside loops."""
    if not finding.in_loops:
        return ""
    names, loops = _loops_around(finding, cost)
    inside, seconds = finding.seconds_in_loops or 0.0, finding.seconds or 0.0
    word = "for" if isclose(inside, seconds) else "with"
    most = time_at_most(seconds, inside, cost.whole_seconds or 0.0, loops)
    once = f" {word} one iteration of {names}"
    if most.seconds is None:
        return once
    bound = max(loop.most or 1 for loop in loops)
    is_guess = cost.device_grade == "guessed"
    time = "" if is_guess else f"{units.seconds(most.seconds)} "
    share = units.share(most.share)
    return f"{once}; at {bound:,}, the most, {time}{share if is_guess else f'({share})'}"
