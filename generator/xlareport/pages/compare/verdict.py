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


def regression_sentence(verdict: Verdict, *, is_changed: bool) -> str:
    """Return in a sentence whether the head is a regression, as far as the figures can tell.

    `is_changed` says that the program itself differs: then the work need not be the same.
    """
    time, memory = verdict.time, verdict.memory
    words = f"{_answer(time, memory)}: {_time_clause(time)}; {_memory_clause(memory)}"
    if is_changed:
        words += "; the program was changed, so both need not do the same work"
    return f"{words}."


def _answer(time: Judgement, memory: Judgement) -> str:
    is_slower = time.direction is Direction.MORE and time.is_resolved
    if is_slower and time.basis is Basis.ROOFLINE:
        return "Probably"
    if is_slower:
        return "Yes"
    if memory.direction is Direction.MORE:
        return "In memory"
    is_known = time.direction is not Direction.UNKNOWN and time.is_resolved
    return "No" if is_known and memory.direction is not Direction.UNKNOWN else "Not shown"


def _time_clause(time: Judgement) -> str:
    """Return the time with what it rests on, and whether the estimate can tell it."""
    row = time_row(time)
    if time.direction is Direction.UNKNOWN:
        return "the time cannot be compared"
    if time.basis is Basis.ROOFLINE and not time.is_resolved:
        return f"{row.headline} by an estimate for a guessed device, too little to tell from none"
    return f"{row.headline} ({_BASES.get(time.basis, 'measured')})"


def _memory_clause(memory: Judgement) -> str:
    if memory.direction is Direction.UNKNOWN:
        return "the memory cannot be compared"
    return memory_row(memory).headline


_BASES = {Basis.ROOFLINE: "roofline estimate, not measured", Basis.CODE: "the same code"}


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
    look = _LOOKS.get(judgement.direction, "") if judgement.is_resolved else ""
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
