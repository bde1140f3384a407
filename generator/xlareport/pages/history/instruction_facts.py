"""The details of an instruction besides its history: cause, memory, fusion decisions."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from xlareport.analysis.code.later_instructions import LaterInstructions
from xlareport.analysis.code.unfused_pairs import (
    BEHIND_BITCAST,
    CONSUMER_NOT_FUSIBLE,
    OF_THE_PRODUCER,
    SLOWER,
    UNDECIDED,
    UnfusedPair,
    is_weighable,
    list_unfused_finally,
)
from xlareport.analysis.collectives.collective_rows import CollectiveRow, CollectivesReport
from xlareport.analysis.collectives.find import ASYNC_FUSIONS, Collective
from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.cost.wire import ONE_SHOT, TWO_SHOT
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.analysis.module import AnalyzedModule
from xlareport.analysis.shardings.sharding_report import ShardingReport
from xlareport.hlo.model import HloModule
from xlareport.knowledge.memory_spaces import space_words
from xlareport.pages import navigation, words
from xlareport.pages.collectives.collective_reasons import describe_coded_reason
from xlareport.pages.collectives.replica_groups import find_axes
from xlareport.pages.history.argument_facts import argument_facts
from xlareport.program import ParsedModule
from xlareport.records.sentences import why
from xlareport.records.shardings import MeshRecord, mesh_record
from xlareport.runtime import units
from xlareport.runtime.english import capitalize, first_few
from xlareport.storage.payloads import Payload, make_payload

_LONGEST_SENTENCE = 400
_MOST_PAIRS = 4
"""Limit on reasons of one instruction, and on instructions of one reason."""
_MOST_BUFFERS = 4
"""Limit on listed buffers of one instruction."""

EventFact = tuple[str, ...]
"""Title, sentence, address of the part with more, grade, and a longer text to fold, where any."""


def facts_payload(slug: str, analyzed: AnalyzedModule[Any]) -> Iterator[Payload]:
    """Yield the facts by the name of the instruction, with what holds for the whole module."""
    module, analysis = analyzed.module, analyzed.analysis
    if module.final is None:
        return
    facts: dict[str, list[EventFact]] = defaultdict(list)
    backend = analysis.summary.origin.backend
    memory = analysis.cost.memory if analysis.cost else None
    for name, fact in (
        *_reasons(analysis.collectives, _mesh(analysis.shardings)),
        *_loops(analyzed.costed),
        *_buffers(memory, backend),
        *_unfused(module, analyzed.code.later),
        *argument_facts(analysis.summary.signature, memory, analysis.shardings),
    ):
        if fact not in facts[name]:
            facts[name].append(fact)
    value = {
        "seconds": analyzed.costed.seconds if analyzed.costed else None,
        "fusion": describe_fusion(
            analysis.summary.origin.backend, has_decisions=bool(module.code.decisions)
        ),
        "facts": facts,
    }
    yield make_payload(navigation.module_key(slug, "facts"), value)


def describe_fusion(backend: str | None, *, has_decisions: bool) -> str:
    """Return a sentence on an instruction without a rejected fusion in the log."""
    if has_decisions:
        return "The log of `priority-fusion` has no rejected fusion of this instruction."
    reason = words.without_decisions(backend)
    return f"Why it was not fused with its consumers is not known: {reason}"


def _loops(costed: CostedModule | None) -> Iterator[tuple[str, EventFact]]:
    """Yield the trip count of each loop, and how it is known."""
    for (_, name), trips in costed.cost.trip_counts.items() if costed else ():
        count = "Not known" if trips.count is None else f"{trips.count:,}"
        grade = "" if trips.count is None else trips.grade
        yield name, ("Trip count", f"{count}. {trips.reason}", "cost", grade)


def _mesh(shardings: ShardingReport | None) -> MeshRecord | None:
    mesh = None if shardings is None else shardings.mesh
    return None if mesh is None else mesh_record(mesh)


def _reasons(
    report: CollectivesReport | None, mesh: MeshRecord | None
) -> Iterator[tuple[str, EventFact]]:
    """Yield the reason and the cost of each collective, for each of its instructions."""
    for row in report.rows if report else ():
        collective = row.collective
        pieces = _pieces(collective)
        names = dict.fromkeys([collective.instruction, *collective.parts, collective.body[1]])
        facts = [("Reason", _reason(row, mesh), "collectives#origins", row.origin.grade or "")]
        sent = _sent(row)
        if sent:
            facts.append(("Communication", sent, "collectives#overlap", ""))
        for name in names:
            yield from ((name, fact) for fact in facts if name not in pieces)
        what = f"It carries on the {collective.kind} of `%{collective.instruction}` as it computes."
        yield from ((name, ("Communication", what, "collectives#overlap", "")) for name in pieces)


def _pieces(collective: Collective) -> list[str]:
    """Return the fusions that carry on a collective between its start and its done."""
    middle = collective.parts[1:-1] if collective.form == ASYNC_FUSIONS else ()
    return [*middle, *(name for _, name in collective.inner)]


def _reason(row: CollectiveRow, mesh: MeshRecord | None) -> str:
    """Return the reason of a collective; for a combined one with the op of its largest part."""
    origin = row.origin
    cause = f"{origin.cause.value}. " if origin.cause else ""
    detail = describe_coded_reason(row, find_axes(row, mesh), mesh)
    by = f" First seen after {origin.after}." if origin.after else ""
    return _shortened(f"{capitalize(cause)}{_ended(detail)}{by}")


def _ended(text: str) -> str:
    """Return a sentence with its stop; it may begin with an op_name, which keeps its letters."""
    return f"{text}{'' if text.endswith(('.', '?')) or not text else '.'}"


def _sent(row: CollectiveRow) -> str:
    figures = row.figures
    if figures.wire_bytes is None:
        return ""
    # In a loop of unknown trip count, those of one iteration count.
    number = figures.counted if figures.executions is None else figures.executions
    times = f" in each of {number:,} executions" if number > 1 else ""
    by = f" by a {figures.algorithm} kernel" if figures.algorithm in (ONE_SHOT, TWO_SHOT) else ""
    sent = f"{units.byte_size(figures.wire_bytes)} sent per device{times}{by}"
    if figures.time.seconds is None:
        return f"{sent}."
    counted = figures.counted
    modeled = units.seconds(figures.time.seconds * counted)
    exposed = figures.overlap.exposed_seconds
    seen = "" if exposed is None else f", {units.seconds(exposed * counted)} of it exposed"
    together = " in all" if counted > 1 else ""
    return f"{sent}; {modeled} modeled{together}{seen}. Bytes alone, no latency; not measured."


def _buffers(memory: MemoryReport | None, backend: str | None) -> Iterator[tuple[str, EventFact]]:
    """Yield size, lifetime and allocation of the values that the page on memory lists."""
    rows: dict[str, dict[tuple[int, ...], ValueRow]] = defaultdict(dict)
    if memory is None:
        return
    for row in (*memory.at_peak, *memory.values):
        rows[row.instruction].setdefault(row.index, row)
    for name, by_index in rows.items():
        for row in list(by_index.values())[:_MOST_BUFFERS]:
            yield name, ("Buffer", _buffer(row, backend, memory), "memory", "")
        if len(by_index) > _MOST_BUFFERS:
            yield name, ("Buffer", "Its tuple has more, smaller buffers.", "memory", "")


def _buffer(row: ValueRow, backend: str | None, memory: MemoryReport) -> str:
    index = f" (tuple index {{{','.join(map(str, row.index))}}})" if row.index else ""
    held = f" in allocation {row.allocation} ({row.kind})" if row.allocation is not None else ""
    if row.color:
        held = f" of {space_words(backend, row.color, memory.chip)}{held}"
    lifetime = why(row.lifetime)
    peak = _at_peak(row, memory.peak_position)
    return f"{units.byte_size(row.size)}{index}{held}{f'; {lifetime}' if lifetime else ''}{peak}."


def _at_peak(row: ValueRow, position: int | None) -> str:
    """Return whether a value is live at the peak, or a later one in its memory is."""
    if row.at_peak is None:
        return ""
    life = row.lifetime
    follower = life.follower if life is not None else None
    if row.at_peak or life is None or follower is None or position is None:
        return "; live at peak" if row.at_peak else "; not live at peak"
    is_held = life.start <= position <= follower.end
    return "; its memory is in use at the peak" if is_held else "; not live at peak"


def _unfused(module: ParsedModule, later: LaterInstructions) -> Iterator[tuple[str, EventFact]]:
    """Yield at the producer and at the consumer why the GPU compiler did not fuse both."""
    decisions = module.code.decisions
    if module.final is None or not decisions:
        return
    yield from _later_steps(module.final.hlo, later)
    pairs = list_unfused_finally(module.final.hlo, decisions, later)
    for side, other, verb in (
        ("producer", "consumer", "into"),
        ("consumer", "producer", "with its producer"),
    ):
        by_name: dict[str, dict[tuple[str, str, str], list[str]]] = defaultdict(dict)
        for pair in pairs:
            if side == "consumer" and pair.is_later:
                continue  # the consumer says so of itself
            reason = (*describe_refusal(pair), pair.grade)
            by_name[getattr(pair, side)].setdefault(reason, []).append(getattr(pair, other))
        for name, reasons in by_name.items():
            for (plain, text, grade), others in list(reasons.items())[:_MOST_PAIRS]:
                sentence = f"{verb} {_first_names(others)}: {plain}"
                yield name, ("Not fused", sentence, "steps", grade, *filter(None, [text]))
            if len(reasons) > _MOST_PAIRS:
                more = f"{len(reasons) - _MOST_PAIRS:,} more reasons, for other instructions."
                yield name, ("Not fused", more, "steps", "")


def _later_steps(module: HloModule, later: LaterInstructions) -> Iterator[tuple[str, EventFact]]:
    """Yield of work that it was made after the fusion pass."""
    for (computation, name), step in later.items():
        if is_weighable(module.by_name[computation].by_name[name]):
            sentence = f"It was made after the fusion pass, {step.words}."
            yield name, ("Not fused", sentence, "steps", step.grade)


def _first_names(names: Sequence[str]) -> str:
    return first_few([f"%{name}" for name in names], _MOST_PAIRS)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SENTENCE else f"{text[:_LONGEST_SENTENCE]}…"


_SENTENCES = (
    (
        "Fusion can not be tiled with SymbolicTileAnalysis",
        "XLA cannot tile the fused computation, which a fusion that Triton compiles needs.",
    ),
    (
        "not fusing because there are only bitcast users",
        "All direct users of the producer are bitcasts, and the pass does not fuse through them.",
    ),
    (
        "the producer is not fusible",
        "The producer is of a kind that the pass fuses into no consumer.",
    ),
    (
        CONSUMER_NOT_FUSIBLE,
        "The consumer is of a kind that the pass fuses no producer into.",
    ),
    (
        "both the producer and the consumer contain a reduce",
        "Both have a reduction; the pass does not put two one after the other into a fusion.",
    ),
)
"""Beginnings of XLA's texts, with their meanings."""
_NOT_OF_XLA = (BEHIND_BITCAST, SLOWER, UNDECIDED)
"""Reasons that follow from the log, in words of this report."""
_REUSED = "Names in it can be those of an equal fusion elsewhere: XLA reuses such a text."
_LONGEST_QUOTE = 160
_LONGEST_TEXT = 2_000


def describe_refusal(pair: UnfusedPair) -> tuple[str, str]:
    """Return the sentences that a panel shows, and XLA's own text; empty if they quote it whole."""
    if pair.blockers and pair.consumer not in pair.blockers:
        return f"{_blocked(pair)}{_estimate(pair)}", pair.reason[:_LONGEST_TEXT]
    if pair.is_later or pair.reason in _NOT_OF_XLA:
        return f"{capitalize(pair.reason)}.{_estimate(pair)}", ""
    sentence = next((plain for text, plain in _SENTENCES if pair.reason.startswith(text)), "")
    if not sentence and len(pair.reason) <= _LONGEST_QUOTE:
        return f"{_quoted(pair.reason)}{_about(pair)}{_estimate(pair)}", ""
    plain = sentence or _quoted(pair.reason[:_LONGEST_QUOTE].partition(":")[0])
    text = pair.reason[:_LONGEST_TEXT]
    note = f" {_REUSED}" if "%" in text else ""
    return f"{plain}{_about(pair)}{_estimate(pair)}", f"{text}{note}"


def _blocked(pair: UnfusedPair) -> str:
    """Return which other users of a producer keep the pass from fusing it into a consumer."""
    read = "reads" if len(pair.blockers) == 1 else "read"
    return (
        f"{_first_names(pair.blockers)} also {read} %{pair.producer}, and the pass fuses nothing "
        "into that. It fuses a producer into all consumers that are no bitcasts, or into none."
    )


def _about(pair: UnfusedPair) -> str:
    """Return the consumers that a reason refers to: the log may refer to all of a producer."""
    if pair.consumers < 2:
        return ""
    if pair.reason.startswith(OF_THE_PRODUCER):
        return f" That holds for all {pair.consumers:,} consumers of %{pair.producer}."
    return (
        f" %{pair.producer} has {pair.consumers:,} consumers; the log gives this reason without "
        "the consumer that it is about."
    )


def _estimate(pair: UnfusedPair) -> str:
    fused, apart = pair.microseconds_fused, pair.microseconds_unfused
    if fused is None or apart is None:
        return ""
    of = f" of fusing into {_first_names(pair.listed)}" if len(pair.listed) > 1 else ""
    return f" XLA's estimate{of}: {words.fusion_estimate(fused, apart)}."


def _quoted(text: str) -> str:
    """Return words of XLA as such: some are orders to the pass, or terms of its code."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}, in XLA's words."
