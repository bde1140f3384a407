"""The verdict of a comparison in words: time, memory, basis and grade."""

from collections.abc import Callable
from typing import TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.compare.verdict import Basis, Direction, Judgement, Verdict, WorkChange
from xlareport.runtime import english, units

_TIME = {Direction.MORE: "slower", Direction.LESS: "faster", Direction.SAME: "as fast"}
_DOUBLED = 1.0
"""Changes above this are factors."""
_MEMORY = {Direction.MORE: "more memory", Direction.LESS: "less memory"}
_IN_MEMORY = "Yes, in memory"
_UNCHANGED = 0.01
"""Share; smaller changes of time per FLOP are within the precision of an estimate."""
_LOOKS = {Direction.MORE: "xr-worse", Direction.LESS: "xr-better"}


class JudgementRow(Struct, frozen=True):
    """A judgement in words."""

    headline: str
    """`14.3% slower`."""
    figures: str
    """`1.2 ms to 1.4 ms`; empty where they are not known."""
    basis: str
    grade: str
    look: str
    """The class of its color; empty if nothing changed."""


def describe_verdict(verdict: Verdict) -> str:
    """Return the answer in one sentence, the change first."""
    time, memory = time_row(verdict.time, verdict.work), memory_row(verdict.memory)
    slight = "" if verdict.time.is_resolved else " (within the error of the estimate)"
    headlines = [f"{time.headline}{slight}"] if time.headline else []
    headlines += [memory.headline] if memory.headline else []
    if not headlines:
        why = verdict.time.obstacle or verdict.memory.obstacle
        return f"Time and memory of both cannot be compared{f': {why}' if why else ''}."
    if not verdict.matters:
        unknown = Direction.UNKNOWN in (verdict.time.direction, verdict.memory.direction)
        if unknown or verdict.time.floor or verdict.memory.floor:
            return f"{english.capitalize(', '.join(headlines))}."
        return "No change in time or memory."
    return f"{english.capitalize(', '.join(headlines))}."


def describe_regression(verdict: Verdict, changed: str) -> str:
    """Return a sentence on whether the head is a regression, as far as the figures show it.

    `changed` says that the program itself differs, or is empty: the work may then differ.
    """
    time, memory, work = verdict.time, verdict.memory, verdict.work
    answer, clauses = _answer(time, memory), [_time_clause(time), _memory_clause(memory)]
    if answer == _IN_MEMORY:
        clauses.reverse()
    if changed and explains(work, time):
        answer = _IN_MEMORY if _grew_beyond(memory, work) else "No sign of one"
        basis = _BASES.get(time.basis, "measured")
        more = f"{_more_time(time)} ({basis}), per FLOP {_per_flop(work)}"
        clauses = [f"{changed}, with {_flops(work)}", more, _memory_clause(memory)]
    elif changed and work is not None:
        per_flop = f"per FLOP it is {_per_flop(work, 'slower', 'faster')}"
        clauses.append(f"{changed}, with {_flops(work)}, {per_flop}")
    elif changed:
        clauses.append(f"{changed}, so the two may not do the same work")
    return f"{answer}: {'; '.join(clauses)}."


def _answer(time: Judgement, memory: Judgement) -> str:
    is_slower = time.direction is Direction.MORE and time.is_resolved
    if is_slower and time.basis is Basis.ROOFLINE:
        return "Probably"
    if is_slower:
        return "Yes"
    if memory.direction is Direction.MORE:
        return _IN_MEMORY
    is_known = time.direction is not Direction.UNKNOWN and time.is_resolved
    return "No" if is_known and memory.direction is not Direction.UNKNOWN else "Not shown"


def explains(work: WorkChange | None, time: Judgement) -> TypeGuard[WorkChange]:
    """Return whether the head needs more time because the program was changed to do more."""
    return time.direction is Direction.MORE and work is not None and work.explains_time


def _grew_beyond(memory: Judgement, work: WorkChange) -> bool:
    return memory.direction is Direction.MORE and not work.explains(memory)


def _flops(work: WorkChange) -> str:
    return f"{abs(work.flops):.1%} {'more' if work.flops > 0 else 'fewer'} FLOPs"


def _per_flop(work: WorkChange, more: str = "more", less: str = "less") -> str:
    """Return the change of the time per FLOP in words."""
    if abs(work.time_per_flop) < _UNCHANGED:
        return "unchanged"
    return f"{abs(work.time_per_flop):.1%} {more if work.time_per_flop > 0 else less}"


def _more_time(time: Judgement) -> str:
    change = time.quantity.change if time.quantity else None
    return f"{change or 0:.1%} more time"


def _time_clause(time: Judgement) -> str:
    """Return the clause on time with its basis, and whether the estimate can resolve it."""
    row = time_row(time)
    if time.direction is Direction.UNKNOWN:
        return "the time cannot be compared"
    if time.basis is Basis.ROOFLINE and not time.is_resolved:
        return f"{row.headline} by an estimate for a guessed device, too little to be significant"
    return f"{row.headline} ({_BASES.get(time.basis, 'measured')})"


def _memory_clause(memory: Judgement) -> str:
    if memory.direction is Direction.UNKNOWN:
        return "the memory cannot be compared"
    return memory_row(memory).headline


_BASES = {
    Basis.ROOFLINE: "roofline estimate, not measured",
    Basis.CODE: "the same optimized HLO",
    Basis.HLO: "the same optimized HLO; other options",
}


def time_row(judgement: Judgement, work: WorkChange | None = None) -> JudgementRow:
    """Return the judgement of the time; more time for as much more work has no color."""
    words = _TIME.get(judgement.direction, "")
    basis = _time_basis(judgement)
    row = _judgement_row(judgement, words, _times, basis)
    if _is_scattered(judgement):
        return replace(row, headline="no significant change: runs differ by more")
    if not explains(work, judgement):
        return row
    return replace(row, headline=f"{_more_time(judgement)} for {_flops(work)}", look="")


def _is_scattered(judgement: Judgement) -> bool:
    """Return whether measured times differ, and the runs of one side as much."""
    change = judgement.quantity.change if judgement.quantity else None
    is_measured = judgement.basis is Basis.MEASURED and judgement.direction is Direction.SAME
    return is_measured and change is not None and abs(change) >= _UNCHANGED


def memory_row(judgement: Judgement, work: WorkChange | None = None) -> JudgementRow:
    """Return the judgement of the memory; no more than the work rose by has no color."""
    words = _MEMORY.get(judgement.direction, "")
    if judgement.direction is Direction.SAME:
        words = "the same memory"
    row = _judgement_row(judgement, words, units.sizes_apart, _memory_basis(judgement))
    is_explained = work is not None and work.explains_time and not _grew_beyond(judgement, work)
    return replace(row, look="") if is_explained else row


def _judgement_row(
    judgement: Judgement,
    words: str,
    written: Callable[[float, float], tuple[str, str]],
    basis: str,
) -> JudgementRow:
    quantity = judgement.quantity
    figures = ""
    if quantity is not None and quantity.base is not None and quantity.head is not None:
        figures = " to ".join(written(quantity.base, quantity.head))
        if judgement.direction is Direction.SAME:  # more digits would say that they differ
            values = (written(side, side)[0] for side in (quantity.base, quantity.head))
            figures = " to ".join(dict.fromkeys(values))
        if judgement.direction in _LOOKS and quantity.change is not None:
            words = _changed(quantity.change, words)
    if judgement.floor:
        floor = written(judgement.floor, judgement.floor)[0].replace(".0", "")
        words = f"{words} to within {floor}"
    look = _LOOKS.get(judgement.direction, "") if judgement.is_resolved else ""
    return JudgementRow(words, figures, basis, str(judgement.grade), look)


def _changed(change: float, words: str) -> str:
    """Return `3.4% slower`; of what more than doubled, `4.3x the time`."""
    if change <= _DOUBLED:
        return f"{abs(change):.1%} {words}"
    factor = f"{1 + change:.1f}x"
    return f"{factor} the memory" if words == _MEMORY[Direction.MORE] else f"{factor} the time"


def _times(base: float, head: float) -> tuple[str, str]:
    return units.times_apart(base / 1e9, head / 1e9)


def _time_basis(judgement: Judgement) -> str:
    match judgement.basis:
        case Basis.MEASURED:
            runs = units.plural(judgement.base_runs, "run")
            return f"measured by a profiler, {runs} against {judgement.head_runs}"
        case Basis.ROOFLINE:
            return f"roofline estimate for {judgement.device}, not measured"
        case Basis.CODE | Basis.HLO:
            return _OF_CODE[judgement.basis]
        case _:
            return f"not known: {judgement.obstacle}" if judgement.obstacle else "not known"


_OF_CODE = {
    Basis.CODE: "both end in the same optimized HLO",
    Basis.HLO: "both end in the same optimized HLO; options differ, and the code is not compared",
}


def _memory_basis(judgement: Judgement) -> str:
    if judgement.obstacle:
        return f"not known: {judgement.obstacle}"
    return _MEMORY_BASIS[judgement.basis]


_MEMORY_BASIS = {
    Basis.PEAK: "peak of the buffer assignment",
    Basis.ALLOCATED: "sum of the allocations",
    **_OF_CODE,
    Basis.NONE: "not known: the dump has no buffer assignment on one side",
    Basis.MEASURED: "measured",
    Basis.ROOFLINE: "estimated",
}
