"""Chain of small collectives.

Collectives of at most 256 KiB each depend on one another in one computation, so they cannot be
combined. An example is the reduction after each matmul of a decoding step with tensor parallelism.
Their bytes take less than 2 µs by link bandwidth, so latency dominates. The gain is latency, at an
assumed 2 µs for each execution. Roofline time and modeled times do not include it.

The finding appears if 16 or more run in sequence and their latency is 5% or more of the time of the
module. Collectives that run 256 times or more are reported as *Small collective in every iteration
of a loop* instead. The rule does not apply to CPU or to modules without a schedule.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from xlareport.analysis.collectives.figures import CollectiveFigures
from xlareport.analysis.findings.finding import SHORTEST, Case, Finding, join_names
from xlareport.analysis.findings.looped_collectives import (
    LEAST_EXECUTIONS,
    LEAST_SHARE,
    is_small,
)
from xlareport.analysis.findings.small_collectives import LATENCY_WORDS
from xlareport.hlo.model import Computation
from xlareport.runtime import units

LEAST_NUMBER = 16
"""Executions in sequence."""


def chained_collectives(case: Case) -> Iterator[Finding]:
    """Report small collectives of which each needs another one; a CPU runs them in one machine."""
    if not case.has_order:
        return
    small = defaultdict[str, list[CollectiveFigures]](list)
    for collective in case.collectives:
        if 0 < collective.counted < LEAST_EXECUTIONS and is_small(collective):
            small[collective.collective.computation].append(collective)
    for name, collectives in small.items():
        chain = _longest_chain(case.module.by_name[name], collectives)
        executions = sum(collective.counted for collective in chain)
        latency = executions * SHORTEST
        is_long = len(chain) > 1 and executions >= LEAST_NUMBER
        if is_long and latency >= LEAST_SHARE * (case.seconds + latency):
            yield _finding(chain, executions, latency)


def _finding(chain: Sequence[CollectiveFigures], executions: int, latency: float) -> Finding:
    kinds = dict.fromkeys(collective.collective.kind for collective in chain)
    kind = next(iter(kinds)) if len(kinds) == 1 else "collective"
    data = sum((figures.data_bytes or 0) * figures.counted for figures in chain)
    return Finding(
        rule="chained-collectives",
        title=f"Chain of small {kind}s",
        places=tuple(figures.collective.key for figures in chain),
        evidence=(
            f"Each of {units.plural(len(chain), kind)} needs the one before: "
            f"{join_names(figures.collective.instruction for figures in chain)}. They run "
            f"{executions:,} times per module execution, with {units.byte_size(data)} in total. At "
            f"an assumed {units.seconds(SHORTEST)} of latency each, that is "
            f"{units.seconds(latency)}, {LATENCY_WORDS}."
        ),
        suggestion=(
            "Shard over fewer devices, or let more work be done between two of them: a larger "
            "batch, or a sharding whose partial results are combined once for several products."
        ),
        grade="guessed",
        weight=latency,
        latency_seconds=latency,
    )


def _longest_chain(
    computation: Computation, collectives: Sequence[CollectiveFigures]
) -> list[CollectiveFigures]:
    """Return the longest sequence in which each needs the one before, in that order."""
    small = {figures.collective.instruction: figures for figures in collectives}
    ends: dict[str, tuple[int, str]] = {}
    """The length and the last collective of the longest chain that each instruction needs."""
    earlier: dict[str, str] = {}
    for instruction in computation.instructions:
        needed = (ends.get(name, (0, "")) for name in instruction.operand_names)
        length, last = max(needed, default=(0, ""))
        if instruction.name in small:
            earlier[instruction.name] = last
            length, last = length + 1, instruction.name
        ends[instruction.name] = length, last
    _, name = max(ends.values(), default=(0, ""))
    chain = []
    while name:
        chain.append(small[name])
        name = earlier[name]
    return chain[::-1]
