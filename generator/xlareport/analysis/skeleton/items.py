"""The items of a skeleton: kernels, collectives, copies, loops, in the order in which they run."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from xlareport.analysis.cost.phases import BACKWARD, FORWARD, UPDATE
from xlareport.analysis.cost.time_basis import ROOFLINE
from xlareport.runtime.graphs import descend

PHASES = (FORWARD, BACKWARD, UPDATE)
"""The phases that come before scopes."""
ItemKind = Literal[
    "kernel",
    "collective",
    "copy",
    "host",
    "async",
    "done",
    "loop",
    "conditional",
    "branch",
    "call",
    "command buffer",
]
Lane = Literal["compute", "collectives", "copies"]
"""The resource that runs an item: the device's cores, its links, or data movement."""


class SkeletonItem(Struct, frozen=True):
    """A kernel, collective, copy, loop or other part of a run, with the parts inside it."""

    kind: ItemKind
    lane: Lane
    name: str
    """Of the instruction; of a command buffer its own."""
    opcode: str
    """The opcode, the target of a custom call, or the collective that a fusion or a start is."""
    computation: str
    scope: str = ""
    """The framework's scopes, with the phase of training before them; empty where none is known."""
    shape: str = ""
    """Of the result, without layouts."""
    seconds: float | None = None
    """Estimated seconds of one execution, including all iterations of a loop; None if unknown.

    Of a `done` the time that its item takes longer than what runs meanwhile."""
    children: tuple["SkeletonItem", ...] = ()
    trip_count: int | None = None
    """Of a loop; None where it is not known, and of what is no loop."""
    done: str = ""
    """The `done` of an asynchronous item; for a `done`, its start."""
    beside: dict[ItemKind, int] = {}
    """How many of each kind are in progress between the start and the end of an asynchronous one.

    Other asynchronous copies and calls do not count.
    """
    beside_seconds: float = 0.0
    """The estimated time from the start to the end, without the wait for it."""
    thread: str = ""
    """The execution thread of an asynchronous one that has its own, such as `sparsecore`."""
    note: str = ""
    """Further information: why a time is unknown, how command buffers are known."""

    @property
    def is_async(self) -> bool:
        """Whether something else runs until `done`."""
        return bool(self.done) and self.kind != "done"


class Skeleton(Struct, frozen=True):
    """The skeleton of one module."""

    module: str
    """Its key."""
    name: str
    snapshot: str
    """The label of the snapshot."""
    is_scheduled: bool
    """Whether the order is XLA's schedule; else it is an order that respects dependences."""
    backend: str
    device: str
    """For which times are estimated."""
    device_grade: str
    items: tuple[SkeletonItem, ...]
    left_out: int = 0
    """Instructions that run nothing, in all computations: parameters, tuples, bitcasts."""
    time_name: str = ROOFLINE
    """What the times are: roofline time, or time by the compiler's estimated cycles."""
    whole_seconds: float | None = None
    """The time of all instructions, as the cost report has it; None where not known."""
    unknown: int = 0
    """Number of items with unknown time."""
    problems: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """The estimated time of all items one after the other; of asynchronous ones the waits."""
        return total_seconds(self.items)

    @property
    def links(self) -> str:
        """The name of the lane of collectives."""
        return {"gpu": "NCCL", "tpu": "ICI"}.get(self.backend, "collectives")


def total_seconds(items: tuple[SkeletonItem, ...]) -> float:
    """Return the estimated time of items run one after the other; unknown ones count nothing.

    Of an asynchronous one only the wait for its end counts.
    """
    return sum(item.seconds or 0.0 for item in items if not item.is_async)


def every_item(items: tuple[SkeletonItem, ...]) -> Iterator[tuple[int, SkeletonItem]]:
    """Return each item with its depth, those inside after what holds them."""
    roots = [(0, item) for item in items]
    return descend(roots, lambda pair: [(pair[0] + 1, child) for child in pair[1].children])
