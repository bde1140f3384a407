"""Repeated all-gathers.

Two or more all-gathers of one computation send the same operand over the same groups. The repeats
send 64 KiB or more per device, and 5% or more of the bytes of all collectives. With
`jax.checkpoint`, or if gathered parameters are freed between forward and backward pass, this is
intended: it saves memory.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from xlareport.analysis.collectives.figures import CollectiveFigures
from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding, join_names
from xlareport.runtime import units

LEAST_BYTES = 64 << 10
"""Bytes that all repeats send per device."""
LEAST_SHARE = 0.05
"""Of what all collectives send per device."""


def repeated_all_gathers(case: Case) -> Iterator[Finding]:
    """Report all-gathers whose operand another all-gather sends to the same devices."""
    counted = [
        [figures for figures in group if figures.counted] for group in gathers_by_operand(case)
    ]
    repeated = [group for group in counted if len(group) > 1]
    if not repeated:
        return
    again = [figures for group in repeated for figures in group[1:]]
    sent = sum(figures.sent_bytes for figures in again)
    if sent < max(
        LEAST_BYTES, LEAST_SHARE * sum(figures.sent_bytes for figures in case.collectives)
    ):
        return
    repeated.sort(key=lambda group: -sum(figures.sent_bytes for figures in group[1:]))
    members = [figures.collective.key for group in repeated for figures in group]
    yield Finding(
        rule="repeated-all-gathers",
        title="Repeated all-gathers",
        places=tuple(members[:MOST_PLACES]),
        occurrences=len(again),
        evidence=(
            f"{_describe(repeated[0])}{_describe_others(len(repeated) - 1)}: at least "
            f"{units.byte_size(sent)} per device are sent more than once."
        ),
        suggestion=(
            "Use one gathered value for all consumers if memory allows: it is kept until the last "
            "of them. With jax.checkpoint the repeats are part of the recomputation; a policy that "
            "saves the gathered value avoids them."
        ),
        grade="matched",
        weight=sum((figures.time.seconds or 0.0) * (figures.counted or 0) for figures in again),
        seconds=_exposed(again),
    )


def gathers_by_operand(case: Case) -> Sequence[Sequence[CollectiveFigures]]:
    """Return the all-gathers of a module in groups of one operand and the same devices."""
    groups: dict[Hashable, list[CollectiveFigures]] = defaultdict(list)
    for figures in case.collectives:
        key = _sent_value(case, figures)
        if key is not None:
            groups[key].append(figures)
    return list(groups.values())


def _sent_value(case: Case, figures: CollectiveFigures) -> Hashable:
    """Return what an all-gather sends to which devices; None where that is not listed."""
    gather = figures.collective
    groups = figures.groups.groups if figures.groups else None
    if gather.kind != "all-gather" or groups is None:
        return None
    line = case.module.by_name[gather.computation].by_name[gather.instruction]
    dimensions = line.attributes.get("dimensions", "")
    return gather.computation, tuple(line.operands), dimensions, tuple(sorted(groups))


def _exposed(again: Sequence[CollectiveFigures]) -> float | None:
    exposed = [figures.exposed_seconds for figures in again]
    times = [seconds for seconds in exposed if seconds is not None]
    return sum(times) if len(times) == len(exposed) else None


def _describe(group: Sequence[CollectiveFigures]) -> str:
    first, *others = [figures.collective.instruction for figures in group]
    sends = "sends" if len(others) == 1 else "send"
    return f"{join_names(others)} {sends} the operand of `{first}` to the same devices again"


def _describe_others(count: int) -> str:
    return f", and so for {units.plural(count, 'further operand')}" if count else ""
