"""All-gather with a single consumer.

An all-gather that sends 1 MiB or more per device has one consumer, which may be able to work on the
shards. The remedy depends on the consumer: a dot, a convolution or a gather. If the program itself
has the all-gather (`jax.lax.all_gather` in a `shard_map`), no sharding changes it, and the remedy
says so. Copies, transposes and converts are looked through. Other all-gathers of the same operand
over the same groups are named, because one of them is enough.
"""

from collections.abc import Iterator, Sequence

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.findings.detoured_values import (
    describe_way,
    detoured_values,
    way_to_only_user,
)
from xlareport.analysis.findings.finding import (
    MEBIBYTE,
    Case,
    Finding,
    describe_executions,
    join_names,
)
from xlareport.analysis.findings.gathered_remedies import advise_gather, consumer_kind
from xlareport.analysis.findings.repeated_all_gathers import gathers_by_operand
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE


def gathered_once(case: Case) -> Iterator[Finding]:
    """Report large all-gathers with a single user that is no further collective."""
    groups = {
        figures.collective.key: group for group in gathers_by_operand(case) for figures in group
    }
    detoured = case.places_of((detoured_values,))
    for figures in case.collectives:
        collective = figures.collective
        is_gather = collective.kind == "all-gather" and figures.counted
        way = _way_to_consumer(case, collective) if is_gather else ()
        is_reported = collective.key in detoured
        if way and not is_reported and (figures.wire_bytes or 0) >= LEAST_BYTES:
            seconds = (figures.time.seconds or 0.0) * figures.counted
            kind = consumer_kind(case.module, collective, way)
            yield Finding(
                title=f"All-gather with a single consumer{f', a {kind}' if kind else ''}",
                places=(collective.key, (collective.computation, way[-1])),
                evidence=(
                    f"`{collective.instruction}` sends at least "
                    f"{units.byte_size(figures.wire_bytes or 0)} per device "
                    f"({figures.group_size} devices){describe_executions(figures.counted)}; "
                    f"only `{way[-1]}` uses the result{describe_way(way[:-1])}."
                    f"{_describe_repeats(groups.get(collective.key, ()), figures)}"
                ),
                occurrences=1,
                suggestion=advise_gather(case, collective, kind, way),
                grade="matched",
                weight=seconds,
                seconds=figures.exposed_seconds,
            )


_COLLECTIVE = ("tuple", "while", "reduce-scatter", "all-reduce")


def _way_to_consumer(case: Case, gather: Collective) -> tuple[str, ...]:
    """Return the way to the only consumer; empty if it is a collective or a loop."""
    way = way_to_only_user(case.module, gather)
    last = case.module.find(gather.computation, way[-1]) if way else None
    return () if last is None or last.opcode in _COLLECTIVE else way


def _describe_repeats(group: Sequence[CollectiveFigures], figures: CollectiveFigures) -> str:
    """Return which other all-gathers of a group send the same operand to the same devices."""
    names = [other.collective.instruction for other in group if other is not figures]
    if not names:
        return ""
    sends = "sends" if len(names) == 1 else "send"
    return f" {join_names(names)} {sends} the same operand to the same devices again."
