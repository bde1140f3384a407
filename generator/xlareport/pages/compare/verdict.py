"""The verdict of a comparison in words: time, memory, by what and how sure."""

from collections.abc import Callable
from dataclasses import dataclass

from xlareport.analysis.compare.verdict import Basis, Direction, Judgement, Verdict
from xlareport.runtime import english, units

_TIME = {Direction.MORE: "slower", Direction.LESS: "faster", Direction.SAME: "as fast"}
_MEMORY = {Direction.MORE: "more memory", Direction.LESS: "less memory"}
_LOOKS = {Direction.MORE: "xr-worse", Direction.LESS: "xr-better"}


@dataclass(frozen=True, slots=True)
class JudgementRow:
    """One judgement as the page shows it."""

    headline: str
    """`14.3% slower`."""
    figures: str
    """`1.2 ms to 1.4 ms`; empty where they are not known."""
    basis: str
    grade: str
    look: str
    """The class of its color; empty where nothing changed."""


def verdict_sentence(verdict: Verdict) -> str:
    """Return the answer in one sentence, the change first."""
    time, memory = time_row(verdict.time), memory_row(verdict.memory)
    known = [row.headline for row in (time, memory) if row.headline]
    if not known:
        why = verdict.time.obstacle or verdict.memory.obstacle
        return f"Time and memory of both cannot be compared{f': {why}' if why else ''}."
    if not verdict.matters:
        if Direction.UNKNOWN in (verdict.time.direction, verdict.memory.direction):
            return f"{english.capitalize(', '.join(known))}."
        return "No change in time or memory."
    return f"{english.capitalize(', '.join(known))}."


def time_row(judgement: Judgement) -> JudgementRow:
    """Return the judgement of the time."""
    words = _TIME.get(judgement.direction, "")
    return _row(judgement, words, lambda value: units.seconds(value / 1e9), _time_basis(judgement))


def memory_row(judgement: Judgement) -> JudgementRow:
    """Return the judgement of the memory."""
    words = _MEMORY.get(judgement.direction, "")
    if judgement.direction is Direction.SAME:
        words = "the same memory"
    return _row(judgement, words, units.byte_size, _memory_basis(judgement))


def _row(
    judgement: Judgement, words: str, written: Callable[[float], str], basis: str
) -> JudgementRow:
    quantity = judgement.quantity
    share, figures = "", ""
    if quantity is not None and quantity.base is not None and quantity.head is not None:
        figures = f"{written(quantity.base)} to {written(quantity.head)}"
        if judgement.direction in _LOOKS and quantity.change is not None:
            share = f"{abs(quantity.change):.1%} "
    look = _LOOKS.get(judgement.direction, "")
    return JudgementRow(f"{share}{words}", figures, basis, str(judgement.grade), look)


def _time_basis(judgement: Judgement) -> str:
    match judgement.basis:
        case Basis.MEASURED:
            runs = units.plural(judgement.base_runs, "run")
            return f"measured by a profiler, {runs} against {judgement.head_runs}"
        case Basis.ROOFLINE:
            return f"roofline estimate for {judgement.device}, not measured"
        case Basis.CODE:
            return "both end in the same code"
        case _:
            return f"not known: {judgement.obstacle}" if judgement.obstacle else "not known"


def _memory_basis(judgement: Judgement) -> str:
    if judgement.obstacle:
        return f"not known: {judgement.obstacle}"
    return _MEMORY_BASIS[judgement.basis]


_MEMORY_BASIS = {
    Basis.PEAK: "peak of the buffer assignment",
    Basis.ALLOCATED: "sum of the allocations",
    Basis.CODE: "both end in the same code",
    Basis.NONE: "not known: the dump has no buffer assignment on one side",
    Basis.MEASURED: "measured",
    Basis.ROOFLINE: "estimated",
}
