"""Fusion below 10% of the roofline.

TPU only, if the compiler writes its estimated cycles. A fusion takes 2% or more of the cycles, and
its share of the roofline time is less than a tenth of that. All its inputs and outputs count as HBM
accesses. The dump does not have the clock rate, so shares are compared: the fusion is below 10% of
the roofline even if all others reach it.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.work import InstructionCost
from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the compiler's cycles for the whole module."""
LEAST_CYCLES = 20_000
"""In one run; below that the fixed cost of a step is most of the estimate."""
MOST_OF_ROOFLINE = 0.1


def slow_fusions(case: Case) -> Iterator[Finding]:
    """Report fusions below a tenth of the roofline, by the compiler's estimate of their cycles.

    The clock is not known, so both estimates are taken as shares of the module: where the part of
    the roofline time is a tenth of the part of the cycles, the fusion reaches at most a tenth of
    the roofline, even if all others reached it.
    """
    rows = [
        (case.cycles[place] * cost.counted, _least(case, cost), place)
        for computation, instruction, cost in case.scheduled()
        if (place := (computation.name, instruction.name)) in case.cycles
        and instruction.opcode == "fusion"
    ]
    cycles, seconds = sum(row[0] for row in rows), sum(row[1] for row in rows)
    result = [
        (row[0] / cycles, row[1] / seconds, row[2])
        for row in rows
        if cycles and seconds and case.cycles[row[2]] >= LEAST_CYCLES
    ]
    slow = [
        item for item in result if item[0] >= LEAST_SHARE and item[1] < MOST_OF_ROOFLINE * item[0]
    ]
    for expected, least, place in sorted(slow, reverse=True)[:MOST_PLACES]:
        yield Finding(
            rule="slow-fusions",
            title="Fusion below 10% of the roofline",
            places=(place,),
            evidence=(
                f"`{place[1]}` has {case.cycles[place]:,} estimated cycles, "
                f"{units.share(expected)} of all fusions, but only {units.share(least)} of their "
                "roofline time, with every input and output counted."
            ),
            suggestion=(
                "Check its graph for a gather, a reduction over a minor dimension, or small or "
                "badly tiled shapes; another layout or a dense form of the operation may help."
            ),
            grade="guessed",
            weight=expected * case.seconds,
            seconds=expected * case.seconds,
        )


def _least(case: Case, cost: InstructionCost) -> float:
    """Return the roofline time with all operands and results in device memory.

    On-chip memory has no such traffic, but its reads are not free. Of arrays of which it reads a
    slice, the slice counts.
    """
    return max(case.least(cost), case.time_of_bytes(cost.bytes_accessed or 0) * cost.counted)
