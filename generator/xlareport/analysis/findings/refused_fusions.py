"""Producer not fused into its consumer.

GPU only, and only if the dump has `priority_fusion_dump`: the fusion pass rejected the fusion. The
finding quotes its reason and lists the current consumers. It is reported where writing the results
of the producers and reading them in each consumer takes 3% or more of the roofline time; that is
what fusing saves at most, launches aside. Collectives are no consumers. The dump of the pass uses
names from before the final module; they are followed through the fusions.
"""

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from xlareport.analysis.code.decisions import LinkedDecisions
from xlareport.analysis.code.unfused_pairs import find_consumers, last_refusal
from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding, Where, join_names
from xlareport.hlo.model import Computation
from xlareport.runtime import units

LEAST_SHARE = 0.03
"""Of the module's roofline time, what all that were refused for one reason could save together."""
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class _Refused:
    """A producer that was not fused."""

    place: Where
    users: tuple[str, ...]
    seconds: float
    """Its whole time."""
    saved: float
    """The time to write its result and to read it again in each user: what fusing saves at most."""


def refused_fusions(case: Case) -> Iterator[Finding]:
    """Report what the fusion pass refused to fuse into its users, together for each reason.

    Only the last word of the pass counts, and only where there is a user to be fused into: a
    collective is none.
    """
    refused: dict[str, list[_Refused]] = defaultdict(list)
    collectives = {figures.collective.key for figures in case.collectives}
    for computation, instruction, cost in case.scheduled():
        place = (computation.name, instruction.name)
        reason = _last_word(case.decisions.get(place))
        users = tuple(_fusible_users(collectives, computation, instruction.name)) if reason else ()
        if users:
            seconds = case.least(cost)
            moved = (instruction.shape.byte_size or 0) * (1 + len(users)) * cost.counted
            saved = min(seconds, case.time_of_bytes(moved))
            refused[reason].append(_Refused(place, users, seconds, saved))
    for reason, producers in sorted(refused.items()):
        if case.is_noticeable(sum(producer.saved for producer in producers), LEAST_SHARE):
            producers.sort(key=lambda producer: (-producer.saved, producer.place))
            yield _finding(case, reason, producers)


def _finding(case: Case, reason: str, producers: list[_Refused]) -> Finding:
    seconds, saved = (
        sum(producer.seconds for producer in producers),
        sum(producer.saved for producer in producers),
    )
    first = producers[0]
    return Finding(
        rule="refused-fusions",
        title=f"Producer not fused into its consumer: {reason}",
        places=tuple(producer.place for producer in producers[:MOST_PLACES]),
        occurrences=len(producers),
        evidence=(
            f"{units.plural(len(producers), 'instruction')}, "
            f"{units.share(case.share(seconds))} of the module's roofline time, by the log of the "
            f"fusion pass. Fusing them saves at most {units.seconds(saved)}, the time to write "
            "their results and to read them in each consumer, and the launches. "
            f"Consumers of `{first.place[1]}`: {join_names(first.users)}."
        ),
        suggestion=(
            "Check the consumers: a library call or a Triton kernel fuses only "
            "what was assigned to it earlier. Elementwise work between two matmuls can be fused "
            "into either."
        ),
        grade="matched",
        weight=saved,
        seconds=saved,
    )


def _fusible_users(
    collectives: AbstractSet[Where], computation: Computation, name: str
) -> Iterator[str]:
    for user in find_consumers(computation, name):
        if (computation.name, user) not in collectives:
            yield user


def _last_word(linked: LinkedDecisions | None) -> str:
    """Return the reason for the refusal with which the steps end; empty where they end in none."""
    decision = last_refusal(linked) if linked else None
    if decision is None:
        return ""
    return decision.reason.partition(":")[0][:_LONGEST].replace("`", "'")
