"""What a profiler saw of a module in report.json: plain records; times in microseconds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MeasuredOpView:
    """One of the slowest instructions."""

    computation: str
    instruction: str
    count: int
    total: float
    """What ran inside of it included."""
    own: float
    mean: float
    spread: float
    """The standard deviation."""
    share: float
    """Of the time of all runs, 0 to 1; those of all can come to more than 1, as threads overlap."""
    least: float | None
    """What it takes at least in one run of the module, by estimate."""


@dataclass(frozen=True, slots=True)
class MeasuredView:
    """What a profiler saw of a module."""

    runs: int | None
    """None where the profiler does not tell one from another."""
    length: float
    """From the first event to the last of each run, summed."""
    busy: float | None
    """Time in which at least one instruction ran; None where that is not known."""
    events: int
    joined: int
    """Events of instructions that the module has."""
    twins: tuple[str, ...]
    """Keys of other modules of the name that it may have been as well."""
    others: tuple[str, ...]
    """Keys of others of the name that have some of the instructions: they may have run too."""
    slowest: tuple[MeasuredOpView, ...]
