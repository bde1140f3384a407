"""Exposed (non-overlapped) collective.

A collective of 1 MiB or more is synchronous, or its done directly follows its start, and the same
computation has independent compute. Smaller ones of its kind and form count with it. The finding
names that compute. The upper bound of the gain is
the exposed time of the collectives, by link bandwidth, or the roofline time of that compute if it
is less. The rule does not apply to modules without a schedule, or to CPU, where ready instructions
run in any order.
"""

from collections.abc import Iterator, Sequence

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.remedies import advise_scheduling
from xlareport.analysis.collectives.schedule import WaitReason
from xlareport.analysis.cost.wire import count_sent
from xlareport.analysis.findings.finding import MEBIBYTE, SHORTEST, Case, Finding, join_names
from xlareport.analysis.findings.kept_parts import describe_kept_parts
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

LEAST_BYTES = MEBIBYTE
"""That each device must send in one run, of each collective."""
_COULD = frozenset({WaitReason.IS_SYNC, WaitReason.SCHEDULER})


def waiting_collectives(case: Case) -> Iterator[Finding]:
    """Report large collectives that run alone although independent work could overlap them.

    That is work of the same computation that neither needs the result nor is needed for it. The
    order of instructions means nothing on a CPU, which runs what is ready, nor in a module that is
    not scheduled.
    """
    waiting = group_by_key((_form(collective), collective) for collective in list_waiting(case))
    for (kind, is_synchronous), exposed in sorted(waiting.items()):
        exposed.sort(key=lambda figures: (-figures.sent_bytes, figures.collective.instruction))
        alike = [
            collective for collective in case.collectives if collective.collective.kind == kind
        ]
        yield _finding(case, exposed, alike, is_synchronous=is_synchronous)


def list_waiting(case: Case) -> list[CollectiveFigures]:
    """Return large collectives that run alone though other work could run meanwhile.

    Others of their kind and form that could overlap have the same cause: they are among them.
    """
    alone = [
        collective
        for collective in (case.collectives if case.has_order else ())
        if collective.counted
        and collective.exposed_seconds
        and not collective.overlap.between
        and collective.overlap.reason in _COULD
    ]
    large = {_form(figures) for figures in alone if _is_large(case, figures)}
    return [figures for figures in alone if _form(figures) in large]


def _form(figures: CollectiveFigures) -> tuple[str, bool]:
    """Return what one finding is about: a kind, synchronous or not."""
    return figures.collective.kind, figures.overlap.between is None


def _is_large(case: Case, figures: CollectiveFigures) -> bool:
    """Return whether a collective is large and has noticeable compute that could run meanwhile."""
    return (figures.wire_bytes or 0) >= LEAST_BYTES and bool(_computing(case, figures))


def _computing(case: Case, figures: CollectiveFigures) -> list[str]:
    """Return the independent work that computes, if it is long enough to be worth moving."""
    home = figures.collective.computation
    times = {
        name: case.least(cost)
        for name in figures.overlap.independent
        if (cost := case.cost.instructions.get((home, name)))
        and (cost.flops or cost.transcendentals)
    }
    return list(times) if sum(times.values()) >= SHORTEST else []


def _finding(
    case: Case,
    exposed: list[CollectiveFigures],
    alike: list[CollectiveFigures],
    *,
    is_synchronous: bool,
) -> Finding:
    kind = exposed[0].collective.kind
    hideable = case.sum_hideable(exposed)
    why = "synchronous" if is_synchronous else "done directly after start"
    first = exposed[0]
    return Finding(
        title=f"Exposed (non-overlapped) {kind}: {why}",
        places=tuple(figures.collective.key for figures in exposed),
        evidence=(
            f"{_subject(exposed, alike, is_synchronous=is_synchronous)}: {_sent_words(exposed)} "
            f"sent per device and module execution, {_time(case, exposed, alike)}. "
            f"Independent of `{first.collective.instruction}`: "
            f"{join_names(first.overlap.independent)}. {words_of_bound(case, exposed)}"
            f"{describe_kept_parts(case.module, exposed)}"
        ),
        suggestion=advise_overlap(case, exposed, is_synchronous=is_synchronous),
        grade="matched",
        weight=hideable,
        seconds=hideable,
        seconds_together=sum_exposed(case, kind),
    )


def _subject(
    exposed: list[CollectiveFigures], alike: list[CollectiveFigures], *, is_synchronous: bool
) -> str:
    """Return which of a kind are meant: those that could overlap, not all of their form."""
    which = count_words(len(exposed), len(alike), exposed[0].collective.kind)
    is_single = len(exposed) == 1
    verb = ("run" if is_synchronous else "end") + ("s" if is_single else "")
    how = "synchronously" if is_synchronous else "directly after the start"
    overlaps = f"although independent work could overlap {'it' if is_single else 'them'}"
    same_form = sum(_form(figures)[1] for figures in alike) if is_synchronous else 0
    others = ""
    if len(exposed) < same_form:
        number = "all" if same_form == len(alike) else f"{same_form:,} of the"
        others = f" ({number} {len(alike):,} are synchronous)"
    return f"{which} {verb} {how} {overlaps}{others}"


def sum_exposed(case: Case, kind: str) -> float:
    """Return the exposed seconds of all collectives of a kind, whatever exposes them."""
    return sum(
        figures.exposed_seconds for figures in case.collectives if figures.collective.kind == kind
    )


def words_of_bound(case: Case, exposed: Sequence[CollectiveFigures]) -> str:
    """Return a sentence on what more overlap hides at most, and what limits it."""
    hideable = case.sum_hideable(exposed)
    if not hideable:
        has_work = any(figures.hideable_seconds for figures in exposed)
        why = "what is independent hides others now" if has_work else "no independent work is left"
        return f"More overlap hides none of it: {why}."
    whole = sum(figures.exposed_seconds for figures in exposed)
    if units.seconds(hideable) == units.seconds(whole):
        return f"More overlap can hide all of it, {units.seconds(hideable)}."
    return (
        f"More overlap hides at most {units.seconds(hideable)} of it, by the "
        f"{case.basis.measure} of the independent work{_shared_words(case, exposed)}."
    )


def _shared_words(case: Case, exposed: Sequence[CollectiveFigures]) -> str:
    """Return the condition that work which others could overlap with too is left for these."""
    own = {figures.collective.key for figures in exposed}
    work = {
        (figures.collective.computation, name) for figures in exposed for name in _apart(figures)
    }
    is_shared = any(
        (figures.collective.computation, name) in work
        for figures in case.collectives
        if figures.collective.key not in own and figures.hideable_seconds
        for name in _apart(figures)
    )
    return ", if no other collective needs that work" if is_shared else ""


def _apart(figures: CollectiveFigures) -> Sequence[str]:
    return figures.overlap.apart


def _time(case: Case, exposed: list[CollectiveFigures], alike: list[CollectiveFigures]) -> str:
    """Return the exposed time, and that of the collectives that this finding does not include."""
    some = sum(figures.exposed_seconds for figures in exposed)
    return f"{units.seconds(some)}{words_of_all(case, alike[0].collective.kind, some)} exposed"


def words_of_all(case: Case, kind: str, seconds: float) -> str:
    """Return of how much exposed time some is: of all of the kind, and of all collectives.

    A sum that equals the one before it is left out.
    """
    kinds = sorted({figures.collective.kind for figures in case.collectives})
    sums = {f"all {kind}s": sum_exposed(case, kind)}
    sums["all collectives"] = sum(sum_exposed(case, name) for name in kinds)
    words, last = "", seconds
    for of_what, whole in sums.items():
        if units.seconds(whole) != units.seconds(last):
            words += f"{' and' if words else ' of'} the {units.seconds(whole)} of {of_what}"
        last = whole
    return words


def advise_overlap(
    case: Case, exposed: Sequence[CollectiveFigures], *, is_synchronous: bool
) -> str:
    """Return how collectives of one kind come to run beside independent compute."""
    return advise_scheduling(
        case.backend,
        case.scheduler_step,
        exposed[0].collective.kind,
        case.sync_step if is_synchronous else "",
        is_async=not is_synchronous,
        overlaps=[figures.overlap for figures in exposed],
        flags=case.flags,
    )


def count_words(number: int, whole: int, kind: str) -> str:
    """Return how many of a kind: `2 of 9 all-gathers`, `9 all-gathers`."""
    return (
        f"{number} of {units.plural(whole, kind)}" if number < whole else units.plural(number, kind)
    )


def _sent_words(collectives: Sequence[CollectiveFigures]) -> str:
    """Return what a device sends at least; of permutes with other sources a range."""
    every = ((figures.traffic, figures.counted) for figures in collectives)
    sent = count_sent((traffic, times) for traffic, times in every if traffic is not None)
    least, most = units.byte_size(sent.least), units.byte_size(sent.most)
    return f"at least {most}" if least == most or not sent.is_exact else f"{least} to {most}"
