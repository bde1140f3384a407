"""All-gather with a single consumer.

An all-gather that sends 1 MiB or more per device has one consumer. That consumer may be able to
work on the shards.
"""

from collections.abc import Iterator

from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding, describe_executions
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE


def gathered_once(case: Case) -> Iterator[Finding]:
    """Report large all-gathers with a single user that is no further collective."""
    for figures in case.collectives:
        collective = figures.collective
        is_gather = collective.kind == "all-gather" and figures.counted
        user = _only_user(case, collective) if is_gather else ""
        if user and (figures.wire_bytes or 0) >= LEAST_BYTES:
            seconds = (figures.time.seconds or 0.0) * figures.counted
            yield Finding(
                rule="gathered-once",
                title="All-gather with a single consumer",
                places=(collective.key, (collective.computation, user)),
                evidence=(
                    f"`{collective.instruction}` sends at least "
                    f"{units.byte_size(figures.wire_bytes or 0)} per device "
                    f"({figures.group_size} devices){describe_executions(figures.counted)}; "
                    f"only `{user}` uses the result."
                ),
                occurrences=1,
                suggestion=(
                    "Check whether the consumer can work on the shards: another sharding of this "
                    "operand, or of the other operand of the dot, sends fewer bytes."
                ),
                grade="matched",
                weight=seconds,
                seconds=figures.exposed_seconds,
            )


_COLLECTIVE = ("tuple", "while", "reduce-scatter", "all-reduce")


def _only_user(case: Case, gather: Collective) -> str:
    computation = case.module.by_name[gather.computation]
    last = gather.done or gather.instruction
    users = computation.users.get(last, ())
    while len(users) == 1 and users[0].opcode in ALIASES:
        users = computation.users.get(users[0].name, ())
    if len(users) != 1 or users[0].opcode in _COLLECTIVE:
        return ""
    return users[0].name
