"""Exposed (non-overlapped) collective, of any cause.

Collectives of one kind, not covered by the previous rule, are exposed for 3% or more of the
roofline time for one reason: compute depends on them, there is no compute to overlap them, or small
ones are synchronous or not scheduled next to independent compute. The finding names the longest one
with its reason, and the step that combined it. The upper bound of the gain is what more overlap
hides: the exposed time, by link bandwidth, or the estimated time of the independent compute, if
that is less. Where compute depends on them or there is none, it is more by what a type of half the
width saves of the rest, bf16 for f32, and by what sending operands of a combined collective before
the last could hide. Of values that a sort, a top-k or an argmax puts in order, a narrower type
changes the order: nothing is counted for it. The rule does not apply to CPU or to modules without a
schedule.
"""

from collections.abc import Iterator

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.collectives.schedule import WaitReason
from xlareport.analysis.cost.shape_sizes import iterate_leaves
from xlareport.analysis.findings.combined_chains import count_combined, find_combiner
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.findings.kept_parts import describe_kept_parts
from xlareport.analysis.findings.ranked_values import are_ranked_after
from xlareport.analysis.findings.waiting_collectives import (
    advise_overlap,
    count_words,
    list_waiting,
    sum_exposed,
    words_of_all,
    words_of_bound,
)
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

LEAST_SHARE = 0.03
"""Of the module's roofline time, all of one kind that are exposed for one reason together."""
_REASONS = {
    WaitReason.DEPENDENCE: "compute depends on it",
    WaitReason.NO_WORK: "no compute to overlap it",
    WaitReason.IS_SYNC: "synchronous, small or with little compute to overlap",
    WaitReason.SCHEDULER: "scheduled apart from independent compute",
}
_REMEDIES = {
    WaitReason.DEPENDENCE: (
        "Send less{how}, or cut the collective and what needs "
        "it into pieces: what needs one piece is then independent of the others, and hides them. "
        "The Collectives tab has the cause of each."
    ),
    WaitReason.NO_WORK: (
        "Send less, or less often, or in the same computation as other work. The Collectives tab "
        "has the cause of each."
    ),
}
_BY_TYPE = ", by a narrower type or another sharding"
_NARROWER = {"f64": 0.5, "f32": 0.5, "c64": 0.5, "c128": 0.5}
"""Part of the bytes that half the width saves."""
_LEAST_NARROWED = 0.01
"""Of the exposed time: what half the width saves of a few of many is no gain to name."""
LARGE_SHARE = 0.1
"""Of the module's time: what is exposed is medium, even if no gain is known."""


def exposed_collectives(case: Case) -> Iterator[Finding]:
    """Report the exposed time of collectives that `waiting_collectives` does not, by kind."""
    if not case.has_order:
        return
    reported = {figures.collective.key for figures in list_waiting(case)}
    groups = group_by_key(
        ((figures.collective.kind, reason), figures)
        for figures in case.collectives
        if (reason := figures.overlap.reason) is not None
        if figures.exposed_seconds and figures.collective.key not in reported
    )
    for (_, reason), exposed in sorted(groups.items()):
        exposed.sort(key=lambda figures: (-figures.exposed_seconds, figures.collective.key))
        if case.is_noticeable(sum(figures.exposed_seconds for figures in exposed), LEAST_SHARE):
            yield _finding(case, exposed, reason)


def _finding(case: Case, exposed: list[CollectiveFigures], reason: WaitReason) -> Finding:
    first, kind = exposed[0], exposed[0].collective.kind
    alike = sum(figures.collective.kind == kind for figures in case.collectives)
    seconds = sum(figures.exposed_seconds for figures in exposed)
    of_all = words_of_all(case, kind, seconds)
    is_fewer = reason in _REMEDIES
    collectives = [figures.collective for figures in exposed] if is_fewer else []
    ranked = [item for item in collectives if are_ranked_after(case.module, item)]
    narrowed = _sum_narrowed(case, exposed, ranked) if is_fewer else 0.0
    early = sum(figures.overlap.early_seconds * figures.counted for figures in exposed)
    bound = min(seconds, case.sum_hideable(exposed) + narrowed + (early if is_fewer else 0.0))
    longest = f"`{first.collective.instruction}`"
    if len(exposed) > 1:
        longest = f"The longest is {longest}, {units.seconds(first.exposed_seconds)}"
    return Finding(
        title=f"Exposed (non-overlapped) {kind}: {_REASONS[reason]}",
        places=tuple(figures.collective.key for figures in exposed),
        evidence=(
            f"{count_words(len(exposed), alike, kind)}: {units.seconds(seconds)}{of_all} exposed "
            "per module execution, "
            f"{case.share_words(seconds)}. "
            f"{longest}: {_as_clause(first.overlap.reason_detail)} "
            f"{_combined_words(case, first)}"
            f"{words_of_bound(case, exposed)}"
            f"{_other_gains(first, narrowed, bound) if is_fewer else ''}"
            f"{_describe_ranked(ranked)}"
            f"{describe_kept_parts(case.module, exposed)}"
        ),
        suggestion=_advise(case, exposed, reason, ranked),
        grade="matched",
        weight=bound,
        seconds=bound or None,
        severity="medium" if case.share(seconds) >= LARGE_SHARE else "low",
        seconds_together=sum_exposed(case, kind),
    )


def _advise(
    case: Case, exposed: list[CollectiveFigures], reason: WaitReason, ranked: list[Collective]
) -> str:
    remedy = _REMEDIES.get(reason)
    if remedy is None:
        return advise_overlap(case, exposed, is_synchronous=reason is WaitReason.IS_SYNC)
    is_ranked = len(ranked) == len(exposed)
    return remedy.format(how=" by another sharding" if is_ranked else _BY_TYPE)


def _combined_words(case: Case, figures: CollectiveFigures) -> str:
    """Return the step that combined a collective, with the number of operands."""
    combiner = find_combiner(case.combiners, case.module, figures.collective)
    if combiner is None:
        return ""
    combined = count_combined(combiner, case.module, figures.collective)
    operands = units.plural(combined, "operand")
    return f"`{combiner.name}` (step {combiner.number}) combined it of {operands}. "


def _sum_narrowed(case: Case, exposed: list[CollectiveFigures], ranked: list[Collective]) -> float:
    """Return the exposed seconds that half the width of f32 saves, beside what overlap hides."""
    others = [figures for figures in exposed if figures.collective not in ranked]
    whole = sum(figures.exposed_seconds for figures in exposed)
    left = 1.0 - case.sum_hideable(exposed) / whole if whole else 0.0
    saved = left * sum(figures.exposed_seconds * _narrower(case, figures) for figures in others)
    return saved if saved >= _LEAST_NARROWED * whole else 0.0


def _narrower(case: Case, figures: CollectiveFigures) -> float:
    """Return the part of the bytes of a collective that half the width saves."""
    body = case.module.find(*figures.collective.body)
    leaves = [*iterate_leaves(body.shape)] if body else []
    sizes = [leaf.byte_size or 0 for leaf in leaves]
    saved = (
        size * _NARROWER.get(leaf.element_type, 0.0)
        for leaf, size in zip(leaves, sizes, strict=True)
    )
    return sum(saved) / sum(sizes) if sum(sizes) else 0.0


def _describe_ranked(ranked: list[Collective]) -> str:
    """Return a sentence on the collectives whose results are put in order; empty without any."""
    names = [item.instruction for item in ranked]
    if not names:
        return ""
    values = "its values are" if len(names) == 1 else "their values are"
    return (
        f" A narrower type is not counted for {join_names(names)}: {values} put in order (sort, "
        "top-k or argmax), and rounding changes the order."
    )


def _other_gains(first: CollectiveFigures, narrowed: float, bound: float) -> str:
    """Return what is gained beside overlap, of the bound of all together."""
    early = _early_words(first)
    if narrowed:
        saved = units.seconds(narrowed)
        return f" A type of half the width, bf16 for f32, saves {saved} of the rest.{early}"
    return early or f" No {'other gain' if bound else 'gain'} is known unless less is sent."


def _early_words(figures: CollectiveFigures) -> str:
    """Return that operands wait for the last, where compute depends on a combined collective."""
    overlap = figures.overlap
    if not overlap.early or overlap.reason is not WaitReason.DEPENDENCE:
        return ""
    operands = units.plural(overlap.early, "operand")
    waiting = "it waits" if overlap.early == 1 else "they wait"
    hidden = units.seconds(overlap.early_seconds * figures.counted)
    return (
        f" {operands} of `{figures.collective.instruction}` could be sent long before the last, "
        f"`{overlap.last}`, is computed: combined, {waiting}. Sent by "
        f"{'itself' if overlap.early == 1 else 'themselves'}, at most {hidden} is hidden."
    )


def _as_clause(sentence: str) -> str:
    """Return a sentence as a clause that follows a colon."""
    return sentence[:1].lower() + sentence[1:]
