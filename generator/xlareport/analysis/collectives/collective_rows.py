"""All facts about each collective of the final snapshot: the rows of its page."""

from msgspec import Struct

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.counted_once import LoopCountedOnce
from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.collectives.partitioning import ShardedValue
from xlareport.analysis.collectives.sharding_pair import ShardingPair
from xlareport.analysis.cost.time_basis import ROOFLINE
from xlareport.analysis.cost.wire import SentBytes


class CollectiveOrigin(Struct, frozen=True):
    """Where a collective comes from. A value that is None has a reason in the field after it."""

    stage: str | None
    """The label of the first snapshot that has it."""
    stage_reason: str | None
    after: str | None
    """The pass that made it."""
    after_reason: str | None
    cause: CauseKind | None
    cause_reason: str | None
    detail: str
    """One or two sentences; names are in backticks."""
    operands: tuple[ShardedValue, ...]
    """Operands of the op that needs it, with their shardings before partitioning."""
    grade: str | None
    grade_reason: str | None
    merging_reshape: str = ""
    """The reshape of the value that merges a sharded dimension; empty if there is none."""

    @property
    def cause_name(self) -> str | None:
        """The cause in a few words; None where it is not known."""
        return self.cause.value if self.cause else None


class CollectiveMember(Struct, frozen=True):
    """One of the collectives that a combiner pass merged into this one."""

    instruction: str
    """In the snapshot where it first is; the operand where that is all there is."""
    stage: str | None
    kind: str
    shape: str
    data_bytes: int | None
    op_name: str
    source: str
    origin: CollectiveOrigin
    sharding: ShardingPair | None
    sharding_reason: str
    folded: tuple[str, ...] = ()
    """The collectives whose results it read, which a pass folded into it."""


class TrailEvent(Struct, frozen=True):
    """A change that a pass made to a collective."""

    event: str
    """`merged`, `folded`, `split`, `moved`, `offloaded`, `rewritten`, `asynchronous`,
    `synchronous` or `fused`."""
    by: str | None
    """The pass; None where the dump does not say."""
    by_reason: str | None
    stage: str
    """The label of the snapshot that shows it."""
    detail: str
    grade: str


class CollectiveRow(Struct, frozen=True):
    """One collective of the final snapshot. Figures are for one execution on one device."""

    figures: CollectiveFigures
    shape: str
    groups_text: str
    """As written; pairs for a collective-permute."""
    origin: CollectiveOrigin
    sharding: ShardingPair | None
    sharding_reason: str
    trail: tuple[TrailEvent, ...]
    trail_reason: str
    """Why nothing is known about passes; empty if there are snapshots of passes."""
    members: tuple[CollectiveMember, ...]
    """The collectives that a combined one was made of; else empty."""
    op_name: str
    source: str
    remedy: str
    """A suggestion; empty if nothing can be gained."""
    updates: tuple[str, ...] = ()
    """The arguments that are updated with what it reduces, such as the weights of a gradient."""

    @property
    def collective(self) -> Collective:
        """Return the collective in the snapshot."""
        return self.figures.collective

    @property
    def exposed_seconds(self) -> float | None:
        """Exposed seconds in one execution of the module; None if unknown."""
        exposed, executions = self.figures.overlap.exposed_seconds, self.figures.executions
        return None if exposed is None or executions is None else exposed * executions


class CollectivesReport(Struct, frozen=True):
    """The collectives of the final snapshot of a module."""

    rows: tuple[CollectiveRow, ...]
    """In the order of the schedule, computation by computation."""
    devices: int
    """Number of devices that run the module together."""
    is_scheduled: bool
    device_name: str
    bound: str
    """Whether the sums over all executions are exact or bounds: see `name_bound`."""
    hideable_seconds: float
    """Upper bound of what more overlap hides in one execution of the module."""
    interconnect_source: str
    """Where the bandwidth of the model is from; empty where there is none."""
    sent: SentBytes
    interconnect_domain: int | None = None
    """Number of devices that the model takes for connected at full speed; None without limit."""
    counted_once: tuple[LoopCountedOnce, ...] = ()
    """Loops of unknown trip count of which all figures are those of one iteration."""
    time_name: str = ROOFLINE
    """What the time of other work is estimated by."""
