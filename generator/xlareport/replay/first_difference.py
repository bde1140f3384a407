"""Which step changed the numbers: the first difference beyond a tolerance, confirmed by a rerun."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from xlareport.replay.ulp import epsilon

_ROUNDINGS = {"bfloat16": 8, "float16": 8}
_ROUNDINGS_OTHERWISE = 100
"""How many roundings of its type an output may be off; sums of low precision are made wider."""
_OF_REFERENCE = 8
"""How many times the error of the first snapshot against doubles another may be off."""


class OutputDifference(Struct, frozen=True):
    """How far the outputs of a snapshot are from those of the first one that ran."""

    max_relative_error: float | None
    """None where it is not finite, or shapes differ."""
    max_ulp: int | None
    """None where no output is a float of the same type."""


class StageRun(Struct, frozen=True):
    """A snapshot with the results of its run."""

    stage: str
    label: str
    ran: bool
    reason: str
    """Why it did not run; empty where it did."""
    difference: OutputDifference | None = None


class Tolerance(Struct, frozen=True):
    """The largest relative error that is taken for rounding."""

    limit: float
    reason: str


class Departure(Struct, frozen=True):
    """The first snapshot beyond the tolerance."""

    place: int
    """Among the runs."""
    before: int
    """The last one within it that ran."""


def choose_tolerance(dtypes: Sequence[str], of_reference: float | None) -> Tolerance:
    """Return the tolerance for float types of a program, and its error against doubles if known."""
    coarsest = max(dtypes, key=epsilon, default="")
    roundings = _ROUNDINGS.get(coarsest, _ROUNDINGS_OTHERWISE)
    by_type = roundings * epsilon(coarsest)
    if of_reference is not None and _OF_REFERENCE * of_reference > by_type:
        limit = _OF_REFERENCE * of_reference
        reason = f"{_OF_REFERENCE} times the error of the first snapshot against a run in f64"
        return Tolerance(limit, reason)
    if not coarsest:
        return Tolerance(0.0, "the program has no floats")
    return Tolerance(by_type, f"{roundings} roundings of {coarsest}")


def find_departure(runs: Sequence[StageRun], tolerance: Tolerance) -> Departure | None:
    """Return the first run beyond the tolerance; None where none is."""
    return next((step for step, _, after in _steps(runs) if is_beyond(after, tolerance)), None)


def is_beyond(difference: OutputDifference, tolerance: Tolerance) -> bool:
    """Return whether a difference is beyond the tolerance; one that is no number is."""
    error = difference.max_relative_error
    return error is None or error > tolerance.limit


def first_rounding(runs: Sequence[StageRun]) -> Departure | None:
    """Return the first run whose difference is not bitwise equal to that of the previous run."""
    return next((step for step, before, after in _steps(runs) if after != before), None)


def _steps(
    runs: Sequence[StageRun],
) -> Iterator[tuple[Departure, OutputDifference, OutputDifference]]:
    """Yield each run that ran and the previous that did, with the differences before and there."""
    ran = ((place, run.difference) for place, run in enumerate(runs) if run.difference)
    for (earlier, before), (later, after) in pairwise(ran):
        yield Departure(later, earlier), before, after
