"""All-gathers whose result is used only once."""

from collections.abc import Iterator

from xlareport.analysis.cost.collectives import Collective, collectives
from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding, each_run
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE


def gathered_once(case: Case) -> Iterator[Finding]:
    """Report large all-gathers with a single user that is no further collective."""
    for one in collectives(case.module, case.cost):
        user = _only_user(case, one) if one.kind == "all-gather" and one.counted else ""
        if user and (one.wire_bytes or 0) >= LEAST_BYTES:
            yield Finding(
                rule="gathered-once",
                title="Gathered from all devices and used once",
                places=((one.computation, one.instruction), (one.computation, user)),
                evidence=(
                    f"For `{one.instruction}` each of {one.group_size} devices sends "
                    f"{units.byte_size(one.wire_bytes or 0)} or more{each_run(one.counted)}, and "
                    f"`{user}` alone uses the result."
                ),
                suggestion=(
                    "See whether the user could work on the shards: another sharding of this "
                    "operand or of its partner in the product moves less."
                ),
                grade="matched",
                weight=case.time_of_bytes(float(one.wire_bytes or 0) * one.counted),
            )


def _only_user(case: Case, gather: Collective) -> str:
    computation = case.module.by_name[gather.computation]
    found = computation.users.get(gather.instruction, ())
    if len(found) == 1 and found[0].opcode.endswith("-done"):
        found = computation.users.get(found[0].name, ())
    if len(found) != 1 or found[0].opcode in ("tuple", "while", "reduce-scatter", "all-reduce"):
        return ""
    return found[0].name
