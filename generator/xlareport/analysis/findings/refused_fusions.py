"""Why the GPU compiler did not fuse what takes a noticeable part of the time."""

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from xlareport.analysis.code.decisions import LinkedDecisions
from xlareport.analysis.code.unfused_pairs import find_consumers
from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding, Where, join_names
from xlareport.hlo.model import Computation
from xlareport.runtime import units

LEAST_SHARE = 0.05
"""Of the module's least time, all that were refused for one reason together."""
_LONGEST = 200


def refused_fusions(case: Case) -> Iterator[Finding]:
    """Report what the fusion pass refused to fuse into its users, together for each reason.

    Only the last word of the pass counts, and only where there is a user to be fused into: a
    collective is none.
    """
    refused: dict[str, list[tuple[float, Where, tuple[str, ...]]]] = defaultdict(list)
    collectives = {figures.collective.key for figures in case.collectives}
    for computation, instruction, cost in case.scheduled():
        place = (computation.name, instruction.name)
        reason = _last_word(case.decisions.get(place))
        users = tuple(_fusible_users(collectives, computation, instruction.name)) if reason else ()
        if users:
            refused[reason].append((case.least(cost), place, users))
    for reason, item in sorted(refused.items()):
        seconds = sum(time for time, _, _ in item)
        if case.is_noticeable(seconds, LEAST_SHARE):
            yield _finding(case, reason, sorted(item, key=lambda item: (-item[0], item[1])))


def _finding(case: Case, reason: str, value: list[tuple[float, Where, tuple[str, ...]]]) -> Finding:
    seconds = sum(time for time, _, _ in value)
    _, (_, first), users = value[0]
    return Finding(
        rule="refused-fusions",
        title=f"Producer not fused into its consumer: {reason}",
        places=tuple(place for _, place, _ in value[:MOST_PLACES]),
        occurrences=len(value),
        evidence=(
            f"{units.plural(len(value), 'instruction')}, "
            f"{units.share(case.share(seconds))} of the module's roofline time, by the log of the "
            "fusion pass. That is their whole time; fusing them saves a part of it, the bytes of "
            f"their results and launches. Consumers of `{first}`: {join_names(users)}."
        ),
        suggestion=(
            "Check the consumers: a library call, a collective or a Triton kernel fuses only "
            "what was assigned to it earlier. Elementwise work between two matmuls can be fused "
            "into either."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _fusible_users(
    collectives: AbstractSet[Where], computation: Computation, name: str
) -> Iterator[str]:
    for user in find_consumers(computation, name):
        if (computation.name, user) not in collectives:
            yield user


def _last_word(linked: LinkedDecisions | None) -> str:
    """Return the reason for the refusal with which the steps end; empty where they end in none."""
    fusion_decisions = (
        [decision for decision in linked.decisions if decision.kind != "update_priority"]
        if linked
        else []
    )
    if not fusion_decisions or fusion_decisions[-1].kind == "fusion":
        return ""
    return fusion_decisions[-1].reason.partition(":")[0][:_LONGEST].replace("`", "'")
