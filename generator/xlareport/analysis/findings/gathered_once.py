"""All-gathers whose result is used only once."""

from collections.abc import Iterator

from xlareport.analysis.cost.collectives import Collective, find_collectives
from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding, describe_executions
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE


def gathered_once(case: Case) -> Iterator[Finding]:
    """Report large all-gathers with a single user that is no further collective."""
    for collective in find_collectives(case.module, case.cost):
        user = (
            _only_user(case, collective)
            if collective.kind == "all-gather" and collective.counted
            else ""
        )
        if user and (collective.wire_bytes or 0) >= LEAST_BYTES:
            yield Finding(
                rule="gathered-once",
                title="All-gather with a single consumer",
                places=(
                    (collective.computation, collective.instruction),
                    (collective.computation, user),
                ),
                evidence=(
                    f"`{collective.instruction}` sends at least "
                    f"{units.byte_size(collective.wire_bytes or 0)} per device "
                    f"({collective.group_size} devices){describe_executions(collective.counted)}; "
                    f"only `{user}` uses the result."
                ),
                suggestion=(
                    "Check whether the consumer can work on the shards: another sharding of this "
                    "operand, or of the other operand of the dot, sends fewer bytes."
                ),
                grade="matched",
                weight=case.time_of_bytes(float(collective.wire_bytes or 0) * collective.counted),
                seconds=case.least_at(collective.computation, collective.instruction),
            )


def _only_user(case: Case, gather: Collective) -> str:
    computation = case.module.by_name[gather.computation]
    instructions = computation.users.get(gather.instruction, ())
    if len(instructions) == 1 and instructions[0].opcode.endswith("-done"):
        instructions = computation.users.get(instructions[0].name, ())
    if len(instructions) != 1 or instructions[0].opcode in (
        "tuple",
        "while",
        "reduce-scatter",
        "all-reduce",
    ):
        return ""
    return instructions[0].name
