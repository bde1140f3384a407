"""Small collective in every iteration of a loop.

A collective of at most 256 KiB is executed 256 times or more. Its bytes take less than 2 µs by link
bandwidth, so that its latency weighs more; the gain assumes 2 µs of latency for each execution, and
the finding appears if that is 5% or more of the time of the module. The rule does not apply to CPU,
nor to modules without a schedule.
"""

from collections.abc import Iterator

from xlareport.analysis.collectives.figures import CollectiveFigures
from xlareport.analysis.findings.finding import SHORTEST, Case, Finding
from xlareport.analysis.findings.small_collectives import MOST_BYTES
from xlareport.runtime import units

LEAST_EXECUTIONS = 256
LEAST_SHARE = 0.05
"""Of the module's time, if each execution took as long as its latency."""


def looped_collectives(case: Case) -> Iterator[Finding]:
    """Report small collectives that loops execute often; a CPU runs them in one machine."""
    if case.device.nominal_for == "cpu" or case.module.attributes.get("is_scheduled") != "true":
        return
    for collective in case.collectives:
        latency = collective.counted * SHORTEST
        if (
            collective.counted >= LEAST_EXECUTIONS
            and _is_small(collective)
            and latency >= LEAST_SHARE * (case.seconds + latency)
        ):
            yield _finding(collective, latency)


def _is_small(collective: CollectiveFigures) -> bool:
    seconds = collective.time.seconds
    return 0 < (collective.data_bytes or 0) <= MOST_BYTES and (seconds or 0.0) < SHORTEST


def _finding(collective: CollectiveFigures, latency: float) -> Finding:
    kind, size = collective.collective.kind, units.byte_size(collective.data_bytes or 0)
    return Finding(
        rule="looped-collectives",
        title=f"Small {kind} in every iteration of a loop",
        places=(collective.collective.key,),
        evidence=(
            f"`{collective.collective.instruction}` runs {collective.counted:,} times per module "
            f"execution, with {size} each. At a latency of {units.seconds(SHORTEST)} that takes "
            f"{units.seconds(latency)}; roofline time counts its bytes alone."
        ),
        suggestion=(
            "Reduce once after the loop: sum the partial values of the iterations first, or shard "
            "another dimension, so that an iteration needs no other device."
        ),
        grade="guessed",
        weight=latency,
        seconds=latency,
    )
