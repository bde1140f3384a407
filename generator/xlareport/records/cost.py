"""What a module costs in report.json: plain records, the largest of each list.

Figures are of one run on one device; one that is not known is None.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeavyView:
    """One of the heaviest instructions, over all its runs."""

    computation: str
    instruction: str
    seconds: float
    """The least time by estimate."""
    share: float
    """Of the least time of the module, 0 to 1."""
    limit: str
    """`arithmetic` or `memory`."""
    flops: int | None
    bytes_read: int | None
    bytes_written: int | None
    executions: int | None
    source: str


@dataclass(frozen=True, slots=True)
class LoopView:
    """One loop."""

    computation: str
    instruction: str
    rounds: int | None
    """None where it is not known: the figures count one round."""
    grade: str
    reason: str


@dataclass(frozen=True, slots=True)
class CollectiveView:
    """One collective, per device and run."""

    computation: str
    instruction: str
    kind: str
    data_bytes: int | None
    wire_bytes: int | None
    """The least that one device must send."""
    executions: int | None
    group_size: int | None
    groups: str
    overlaps: tuple[str, ...] | None
    """What runs between start and end; None where it is not asynchronous."""
    by_partitioner: bool
    sharding: str
    """Which sharding made it, with the grade; empty where the dump does not tell."""


@dataclass(frozen=True, slots=True)
class SpaceView:
    """One memory space."""

    number: int
    name: str
    allocated_bytes: int
    temp_bytes: int | None
    reported_bytes: int | None
    """What the memory usage report says."""


@dataclass(frozen=True, slots=True)
class LivingView:
    """A value in memory."""

    value: str
    bytes: int
    first: int | None
    """The position in the schedule from which it lives; None where the dump does not tell."""
    last: int | None
    why: str
    """What ends its life."""
    scope: str
    source: str


@dataclass(frozen=True, slots=True)
class PartView:
    """A part of the peak that belongs to one scope or line."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class SavingView:
    """What would have to shrink to save a fifth of the peak."""

    wanted_bytes: int
    reached_bytes: int
    values: tuple[LivingView, ...]


@dataclass(frozen=True, slots=True)
class MemoryView:
    """The memory of a module; the three figures themselves stand in `final`."""

    spaces: tuple[SpaceView, ...]
    estimated_peak_bytes: int | None
    """Guessed from the schedule, where the dump has no file on memory."""
    peak_position: int | None
    peak_instruction: str
    at_peak: tuple[LivingView, ...]
    peak_by_scope: tuple[PartView, ...]
    peak_by_line: tuple[PartView, ...]
    saving: SavingView | None
    lost_bytes: int | None
    """In shared allocations at their fullest, at most; None where it cannot be told."""
    donated: tuple[int, ...]
    """Numbers of arguments that may be written over."""
    could_be_donated: tuple[int, ...]
    rematerialised: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineCostView:
    """One line of the user's program."""

    file: str
    line: int | None
    function: str
    seconds: float
    flops: int
    bytes_accessed: int
    peak_bytes: int | None
    instructions: int
    became: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExpenseView:
    """What a module costs."""

    device: str
    device_grade: str
    """`exact`, `matched` by its architecture, `chosen` by the user, or `guessed`."""
    devices: int
    """How many run the module together; figures are those of one."""
    seconds: float | None
    """The least time by estimate."""
    flops_of_all_devices: int | None
    bytes_of_all_devices: int | None
    at_least: bool
    """Whether something could not be counted, so that the figures are at least so much."""
    unknown_loops: int
    heaviest: tuple[HeavyView, ...]
    loops: tuple[LoopView, ...]
    collectives: tuple[CollectiveView, ...]
    memory: MemoryView
    lines: tuple[LineCostView, ...]
