"""Fusion far below the roofline.

TPU only, if the compiler writes its estimated cycles. A fusion takes 2% or more of the cycles of
all fusions, and its roofline time is less than a tenth of these cycles at the chip's clock rate. Of
a fusion that takes 10% or more, and 100,000 cycles in a run, it is less than a quarter. All its
inputs and outputs count as HBM accesses; work other than matmuls counts at the rate of the vector
unit, not of the matrix unit. A fusion of fewer than 20,000 cycles in one execution is
not reported by itself, because fixed costs and latency are most of its estimate; all of them in
loops that are that far below the roofline are one finding, if they take 5% or more of the cycles.
Where the clock rate is not known, shares of all fusions
are compared: the fusion is that far below the roofline even if all others reach it.
"""

from collections.abc import Iterator

from msgspec import Struct

from xlareport.analysis.cost.roofline import estimate_time, time_of_runs
from xlareport.analysis.cost.work import InstructionCost
from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding, join_names
from xlareport.hlo.model import InstructionKey
from xlareport.knowledge.tpu_cores import tpu_cores
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the compiler's cycles for all fusions."""
LEAST_CYCLES = 20_000
"""In one run; below that the fixed cost of a step is most of the estimate."""
MOST_OF_ROOFLINE = 0.1
LARGE_SHARE = 0.1
"""Of the compiler's cycles for all fusions."""
LARGE_CYCLES = 100_000
"""In one run. A fusion as large and with a large share is worth a look sooner."""
MOST_OF_LARGE = 0.25
LEAST_OF_SHORT = 0.05
"""Of the compiler's cycles for all fusions, all short ones together."""
SHORT_SECONDS = 2e-5
"""In one run of the module, all short ones together."""


class _Fusion(Struct, frozen=True, order=True):
    """A fusion in all its executions."""

    cycles: int
    least: float
    """Seconds, by the roofline."""
    place: InstructionKey


def slow_fusions(case: Case) -> Iterator[Finding]:
    """Report fusions far below the roofline, by the compiler's estimate of their cycles."""
    fusions = [
        _Fusion(
            cost.cycles * cost.counted, _least(case, cost), (computation.name, instruction.name)
        )
        for computation, instruction, cost in case.scheduled
        if cost.cycles is not None and instruction.opcode == "fusion"
    ]
    fusions.sort(reverse=True)
    cycles, seconds = (
        sum(fusion.cycles for fusion in fusions),
        sum(fusion.least for fusion in fusions),
    )
    core = tpu_cores().get(case.device.key)
    # Without a clock rate, cycles are valued as if all fusions together ran at the roofline.
    clock = core.clock if core else cycles / seconds if seconds else 0.0
    slow = [
        fusion
        for fusion in fusions
        if (in_a_run := case.cost.instructions[fusion.place].cycles or 0) >= LEAST_CYCLES
        and fusion.cycles >= LEAST_SHARE * cycles
        and fusion.least * clock < _least_share(in_a_run, fusion.cycles / cycles) * fusion.cycles
    ]
    for fusion in slow[:MOST_PLACES] if clock else ():
        yield _finding(
            case, fusion.place, fusion.cycles / cycles, fusion.cycles / clock, fusion.least
        )
    short = [fusion for fusion in fusions if _is_short(case, fusion, clock)]
    together = sum(fusion.cycles for fusion in short)
    if core and together >= max(LEAST_OF_SHORT * cycles, SHORT_SECONDS * core.clock):
        yield _short_finding(case, short, together / cycles, core.clock)


def _is_short(case: Case, fusion: _Fusion, clock: float) -> bool:
    """Return whether a fusion in a loop has few cycles in one execution, far below the roofline."""
    cost = case.cost.instructions[fusion.place]
    is_slow = fusion.least * clock < MOST_OF_ROOFLINE * fusion.cycles
    return is_slow and cost.counted > 1 and (cost.cycles or 0) < LEAST_CYCLES


def _least_share(cycles: int, share: float) -> float:
    """Return below which part of the roofline a fusion is reported, by its share of all cycles."""
    is_large = cycles >= LARGE_CYCLES and share >= LARGE_SHARE
    return MOST_OF_LARGE if is_large else MOST_OF_ROOFLINE


def _finding(
    case: Case, place: InstructionKey, share: float, seconds: float, least: float
) -> Finding:
    core = tpu_cores().get(case.device.key)
    instruction = case.cost.instructions[place]
    cycles, runs = instruction.cycles or 0, max(1, instruction.counted)
    saved = max(0.0, seconds - least)
    time = f" ({units.seconds(seconds / runs)} at {core.clock / 1e9:.4g} GHz)" if core else ""
    together = f"{runs:,} executions take" if runs > 1 else "That is"
    whole = f" {units.seconds(seconds)}," if core and runs > 1 else ""
    return Finding(
        title="Fusion far below the roofline",
        places=(place,),
        evidence=(
            f"`{place[1]}` has {cycles:,} estimated cycles{time}; its roofline time is "
            f"{units.seconds(least / runs)}, {_limit_words(case, instruction)}. "
            f"{together}{whole} {units.share(share)} of the cycles of all fusions."
        ),
        suggestion=(
            "Check its graph for a gather, a reduction over a minor dimension, or small or "
            "badly tiled shapes; another layout or a dense form of the operation may help."
        ),
        grade="guessed",
        weight=seconds,
        seconds=saved if case.basis.clock else None,
        cycle_seconds=None if case.basis.clock else saved,
    )


def _short_finding(case: Case, short: list[_Fusion], share: float, clock: float) -> Finding:
    """Return the finding for all fusions of few cycles, the slowest first."""
    seconds = sum(fusion.cycles for fusion in short) / clock
    least = sum(fusion.least for fusion in short)
    saved = max(0.0, seconds - least)
    runs = sum(case.cost.instructions[fusion.place].counted for fusion in short)
    return Finding(
        title="Short fusions far below the roofline",
        places=tuple(fusion.place for fusion in short),
        evidence=(
            f"{units.plural(len(short), 'fusion')} of fewer than {LEAST_CYCLES:,} cycles "
            f"({join_names(fusion.place[1] for fusion in short)}), {runs:,} executions: "
            f"{units.seconds(seconds)} by estimated cycles, {units.share(share)} of the cycles of "
            f"all fusions. Their roofline time is {units.seconds(least)}, with every input and "
            "output counted as HBM accesses. Fixed costs and latency are most of it."
        ),
        suggestion=(
            "Do more per fusion: a larger batch or larger tiles, unroll of jax.lax.scan, jax.vmap "
            "in place of a loop."
        ),
        grade="guessed",
        weight=seconds,
        seconds=saved if case.basis.clock else None,
        cycle_seconds=None if case.basis.clock else saved,
    )


def _limit_words(case: Case, cost: InstructionCost) -> str:
    """Return what the roofline time of a fusion is the time of: its accesses or its arithmetic."""
    least = estimate_time(cost, case.device)
    if least is None or least.arithmetic < case.time_of_bytes(cost.bytes_accessed or 0):
        return "with every input and output counted as HBM accesses, also those in VMEM"
    vector_seconds = case.device.vector_seconds(cost.vector_flops)
    unit = "vector" if vector_seconds == least.arithmetic else "matrix"
    return f"by its arithmetic at the peak of the {unit} unit"


def _least(case: Case, cost: InstructionCost) -> float:
    """Return the roofline time with all operands and results in device memory.

    On-chip memory has no such traffic, but its reads are not free. Of arrays of which it reads a
    slice, the slice counts.
    """
    least = time_of_runs(cost, case.device)
    return max(least, case.time_of_bytes(cost.bytes_accessed or 0) * cost.counted)
