"""Small collective in every iteration of a loop.

A collective of at most 256 KiB is executed 256 times or more. Its bytes take less than 2 µs by link
bandwidth, so latency dominates. The gain is latency, at an assumed 2 µs for each execution.
Roofline time and modeled times do not include it. The finding appears if it is 5% or more of the
time of the module. The rule does not apply to CPU or to modules without a schedule.
"""

from collections.abc import Iterator

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.findings.finding import SHORTEST, Case, Finding
from xlareport.analysis.findings.small_collectives import LATENCY_WORDS, MOST_BYTES
from xlareport.hlo.opcode_groups import REDUCING_COLLECTIVES
from xlareport.runtime import units

LEAST_EXECUTIONS = 256
_REDUCE = (
    "Reduce once after the loop: sum the partial values of the iterations first, or shard "
    "another dimension, so that an iteration needs no other device."
)
_RESHARD = (
    "Send the values of all iterations together, before or after the loop, or shard a dimension "
    "that an iteration does not send."
)
LEAST_SHARE = 0.05
"""Of the module's time, if each execution took as long as its latency."""


def looped_collectives(case: Case) -> Iterator[Finding]:
    """Report small collectives that loops execute often; a CPU runs them in one machine."""
    if not case.has_order:
        return
    for collective in case.collectives:
        latency = collective.counted * SHORTEST
        if (
            collective.counted >= LEAST_EXECUTIONS
            and is_small(collective)
            and latency >= LEAST_SHARE * (case.seconds + latency)
        ):
            yield _finding(collective, latency)


def is_small(collective: CollectiveFigures) -> bool:
    """Return whether the bytes of a collective take less than its latency."""
    seconds = collective.time.seconds
    return 0 < (collective.data_bytes or 0) <= MOST_BYTES and (seconds or 0.0) < SHORTEST


def _finding(collective: CollectiveFigures, latency: float) -> Finding:
    kind, size = collective.collective.kind, units.byte_size(collective.data_bytes or 0)
    modeled = collective.time.seconds
    by_bytes = (
        f", {units.seconds(modeled * collective.counted)} by link bandwidth" if modeled else ""
    )
    return Finding(
        title=f"Small {kind} in every iteration of a loop",
        places=(collective.collective.key,),
        evidence=(
            f"`{collective.collective.instruction}` runs {collective.counted:,} times per module "
            f"execution, with {size} each{by_bytes}. At an assumed {units.seconds(SHORTEST)} of "
            f"latency each, that is {units.seconds(latency)}, {LATENCY_WORDS}."
        ),
        suggestion=_REDUCE if kind in REDUCING_COLLECTIVES else _RESHARD,
        grade="guessed",
        weight=latency,
        latency_seconds=latency,
    )
