"""Chain of small collectives.

Collectives of at most 256 KiB each depend on one another in one computation, so they cannot be
combined. An example is the reduction after each matmul of a decoding step with tensor parallelism.
Their bytes take less than 2 µs by link bandwidth, so latency dominates. The gain is latency, at an
assumed 2 µs for each execution. Roofline time and modeled times do not include it.

The finding appears if 16 or more run in sequence and their latency is 5% or more of the time of the
module. Collectives that run 256 times or more are reported as *Small collective in every iteration
of a loop* instead. A combiner can make a chain longer, as a combined collective waits for the
operands of all that are in it. If the longest chain of the computation was at most half as long
before, the finding names the combiner's step and the longest chain before and after it. The rule
does not apply to CPU or to modules without a schedule.
"""

from collections.abc import Iterator, Sequence

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.remedies import combiner_option
from xlareport.analysis.findings.combined_chains import (
    LongerChain,
    channel_of,
    find_longer_chain,
    longest_chain,
)
from xlareport.analysis.findings.finding import SHORTEST, Case, Finding, join_names
from xlareport.analysis.findings.iterations import describe_iterations
from xlareport.analysis.findings.looped_collectives import LEAST_EXECUTIONS, LEAST_SHARE, is_small
from xlareport.analysis.findings.small_collectives import LATENCY_WORDS
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

LEAST_NUMBER = 16
"""Executions in sequence."""
_FEWER = (
    "Shard over fewer devices, or let more work be done between two of them: a larger batch, or a "
    "sharding whose partial results are combined once for several products."
)


def chained_collectives(case: Case) -> Iterator[Finding]:
    """Report small collectives of which each needs another one; a CPU runs them in one machine."""
    if not case.has_order:
        return
    small = group_by_key(
        (figures.collective.computation, figures)
        for figures in case.collectives
        if 0 < figures.counted < LEAST_EXECUTIONS and is_small(figures)
    )
    chains = [_longest_chain(case, name, collectives) for name, collectives in small.items()]
    chains = [chain for chain in chains if _is_long(case, chain)]
    plain = [chain for chain in chains if _longer(case, chain) is None]
    kind = _kind_of([figures for chain in plain for figures in chain])
    for chain in chains:
        yield _finding(case, chain, kind)


def _longest_chain(
    case: Case, name: str, collectives: Sequence[CollectiveFigures]
) -> tuple[CollectiveFigures, ...]:
    """Return the longest sequence in which each needs the one before, in that order."""
    small = {figures.collective.instruction: figures for figures in collectives}
    names = longest_chain(case.module.by_name[name], frozenset(small))
    return tuple(small[name] for name in names)


def _is_long(case: Case, chain: Sequence[CollectiveFigures]) -> bool:
    """Return whether a chain has enough executions, and latency, to be reported."""
    executions = _executions(chain)
    latency = executions * SHORTEST
    is_long = len(chain) > 1 and executions >= LEAST_NUMBER
    return is_long and latency >= LEAST_SHARE * (case.seconds + latency)


def _executions(chain: Sequence[CollectiveFigures]) -> int:
    return sum(figures.counted for figures in chain)


def _longer(case: Case, chain: Sequence[CollectiveFigures]) -> LongerChain | None:
    """Return the lengths around the combiner that made most of a chain; None where none did."""
    kinds = frozenset(figures.collective.kind for figures in chain)
    channels = frozenset(channel_of(case.module, figures.collective) for figures in chain)
    return find_longer_chain(case.combiners, kinds, channels, len(chain))


def _kind_of(collectives: Sequence[CollectiveFigures]) -> str:
    kinds = {figures.collective.kind for figures in collectives}
    return kinds.pop() if len(kinds) == 1 else "collective"


def _finding(case: Case, chain: Sequence[CollectiveFigures], kind_of_all: str) -> Finding:
    """Return the finding of a chain; those that no combiner made longer have a common title."""
    longer = _longer(case, chain)
    executions, kind = _executions(chain), _kind_of(chain)
    data = sum((figures.data_bytes or 0) * figures.counted for figures in chain)
    latency = executions * SHORTEST
    home = chain[0].collective.computation
    return Finding(
        title=f"Chain of small {kind}s, combined" if longer else f"Chain of small {kind_of_all}s",
        places=tuple(figures.collective.key for figures in chain),
        evidence=(
            f"Each of {units.plural(len(chain), kind)} needs the one before: "
            f"{join_names(figures.collective.instruction for figures in chain)}. They run "
            f"{executions:,} times, with {units.byte_size(data)} in total. At "
            f"an assumed {units.seconds(SHORTEST)} of latency each, that is "
            f"{units.seconds(latency)}, {LATENCY_WORDS}."
            f"{describe_iterations(case, {home: executions}, SHORTEST)}"
            f"{_cause(longer) if longer else ''}"
        ),
        suggestion=_advise(case, longer) if longer else _FEWER,
        grade="guessed",
        weight=latency,
        latency_seconds=latency,
    )


def _cause(longer: LongerChain) -> str:
    """Return a sentence on the combiner that made a chain longer."""
    combiner = longer.combiner
    return (
        f" {combiner.name} (step {combiner.number}) made the chain longer: the longest of "
        f"this computation had {longer.before:,} before it and has {longer.after:,} after it. A "
        f"combined {combiner.kind} waits for the operands of all that are in it."
    )


def _advise(case: Case, longer: LongerChain) -> str:
    kind = longer.combiner.kind
    option = combiner_option(case.backend, kind)
    value = case.flags.get(option.lstrip("-"))
    now = f" ({value} in this dump)" if value else ""
    lower = f"Compare with a lower {option}{now}: it combines fewer. " if option else ""
    return (
        f"{lower}Or combine them in the program: values that do not need one another, such as the "
        f"norms of several parameters, as one array in a single {kind}."
    )
