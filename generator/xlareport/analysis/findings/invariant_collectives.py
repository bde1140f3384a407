"""Loop-invariant collective in a loop.

A loop of two or more iterations executes a collective whose operands no iteration changes: each
iteration sends the same bytes. Of a combined collective, the operands that do not change count, by
their bytes. The finding appears if a device sends at least 64 KiB again, and 5% or more of the
bytes of all collectives. Of a loop whose trip count is not known, the bytes and the time are those
of one iteration. XLA does not move collectives out of loops. An all-gather before the loop needs
memory for its result during the loop.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.findings.loop_state import (
    RepeatedLoop,
    follow_invariants,
    loops_around,
    repeated_loops,
)
from xlareport.hlo.model import Computation
from xlareport.runtime import units

LEAST_BYTES = 64 << 10
"""Bytes that a device sends again in one execution of the module."""
LEAST_SHARE = 0.05
"""Of what all collectives send per device."""

_ADVICE = {
    "all-gather": "`jax.lax.with_sharding_constraint` to the gathered sharding outside of the "
    "loop. The result then uses memory during the whole loop.",
    "all-to-all": "`jax.lax.with_sharding_constraint` to the sharding that the loop reads, outside "
    "of the loop.",
}
_VALUE = "compute the value outside of the loop."
_UNKNOWN = " of unknown trip count"


class _Repeat(Struct, frozen=True):
    """A collective that sends the same in each iteration of a loop."""

    figures: CollectiveFigures
    loop: RepeatedLoop
    around: tuple[RepeatedLoop, ...]
    """Loops around it, inner ones first, in which it sends the same too."""
    operands: int
    """Of the collective, with those that change."""
    kept: tuple[str, ...]
    """The operands that no iteration changes."""
    share: float
    """The part, 0 to 1, of the operands' bytes that these have."""
    sources: tuple[str, ...]
    """The elements of the state from which they follow."""

    @property
    def again(self) -> float:
        """The part, 0 to 1, of what it sends that repeats the first iteration of each loop."""
        rest = 1.0 - self.loop.share_again
        for outer in self.around:
            rest *= 1.0 - outer.share_again
        return self.share * (1.0 - rest)

    @property
    def sent_again(self) -> float:
        """Bytes that a device sends again."""
        return self.figures.sent_bytes * self.again

    @property
    def seconds(self) -> float:
        """Exposed time of the executions that send again."""
        return self.figures.exposed_seconds * self.again


def invariant_collectives(case: Case) -> Iterator[Finding]:
    """Report collectives that send the same in each iteration of a loop."""
    every = sorted(
        _find_repeats(case), key=lambda repeat: (-repeat.sent_again, repeat.figures.collective.key)
    )
    for is_known in (True, False):
        repeats = [repeat for repeat in every if (repeat.loop.trips is not None) is is_known]
        sent = sum(repeat.sent_again for repeat in repeats)
        if sent >= max(LEAST_BYTES, LEAST_SHARE * case.sent_bytes):
            yield _finding(repeats, sent)


def _find_repeats(case: Case) -> Iterator[_Repeat]:
    loops = list(repeated_loops(case.module, case.cost))
    for loop in loops:
        body = loop.body
        inside = [line for line in case.collectives if line.collective.computation == body.name]
        behind = follow_invariants(body) if inside else {}
        for figures in inside:
            operands = body.by_name[figures.collective.instruction].operand_names
            kept = tuple(operand for operand in operands if behind.get(operand))
            if figures.counted and kept:
                sources = tuple(dict.fromkeys(name for line in kept for name in behind[line]))
                share = _count_bytes(body, kept) / (_count_bytes(body, operands) or 1)
                around = tuple(loops_around(loops, loop, sources))
                yield _Repeat(figures, loop, around, len(operands), kept, share, sources)


def _count_bytes(body: Computation, names: Iterable[str]) -> int:
    return sum(body.by_name[name].shape.byte_size or 0 for name in names if name in body.by_name)


def _what(repeat: _Repeat) -> str:
    """Return what a collective sends again: all that it sends, or some operands of a combined."""
    if len(repeat.kept) == repeat.operands:
        return "the same"
    number = f"{len(repeat.kept):,} of its {repeat.operands:,} operands"
    return f"{number} ({join_names(repeat.kept)}, {repeat.share:.0%} of the bytes) the same"


def _around(repeat: _Repeat) -> str:
    """Return words on the loops around the loop in which it sends the same too."""
    return "".join(f", {outer.trips:,} times in `{outer.name}`" for outer in repeat.around)


def _which_loop(repeat: _Repeat) -> str:
    return f"`{repeat.around[-1].name}`, the outer loop," if repeat.around else "the loop"


def _finding(repeats: list[_Repeat], sent: float) -> Finding:
    first, seconds = repeats[0], sum(repeat.seconds for repeat in repeats)
    trips = first.loop.trips
    is_known = trips is not None
    iterations = "iteration" if trips is None else f"of {trips:,} iterations"
    size = units.byte_size(round(sent))
    again = f"{'at least ' if is_known else ''}{size} per device are sent again"
    when = "" if is_known else " in each iteration but the first"
    name = first.figures.collective.instruction
    names = join_names(repeat.figures.collective.instruction for repeat in repeats)
    return Finding(
        title=f"Loop-invariant collective in a loop{'' if is_known else _UNKNOWN}",
        places=tuple(repeat.figures.collective.key for repeat in repeats),
        evidence=(
            f"{names}: {again}{when}, {units.seconds(seconds)} of exposed time. `{name}` sends "
            f"{_what(first)} in each {iterations} of `{first.loop.name}`{_around(first)}, from "
            f"{join_names(first.sources)}, which no iteration changes."
        ),
        suggestion=(
            f"Do it once before {_which_loop(first)} and let the loop read the result: "
            f"{_ADVICE.get(first.figures.collective.kind, _VALUE)}"
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )
