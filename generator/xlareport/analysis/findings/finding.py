"""The input of a rule, and the finding that it returns."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.code.decisions import LinkedDecisions
from xlareport.analysis.collectives.collective_figures import (
    CollectiveFigures,
    hideable_by_computation,
    measure_collectives,
)
from xlareport.analysis.collectives.collective_rows import CollectiveOrigin
from xlareport.analysis.collectives.schedule import Schedule
from xlareport.analysis.cost.memory import MemoryFigures
from xlareport.analysis.cost.occupancy import BufferKey, Occupancy, occupancy_of
from xlareport.analysis.cost.time_basis import TimeBasis, choose_basis
from xlareport.analysis.cost.work import InstructionCost, ModuleCost
from xlareport.analysis.findings.combined_chains import Combiner
from xlareport.analysis.findings.sunk import WorkKey
from xlareport.analysis.shardings.rematerializations import Rematerialization
from xlareport.analysis.shardings.replicated_products import ReplicatedProduct
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.knowledge.devices import Device
from xlareport.program import MemoryFiles
from xlareport.runtime import units
from xlareport.runtime.english import first_few
from xlareport.snapshots import PassStep

MEBIBYTE = 1 << 20
SHORTEST = 2e-6
"""Seconds: what takes less, by the estimate, is lost in the cost of a launch."""
LEAST_OF_SMALL = 0.05
"""Share of a module's time or memory from which smaller savings are candidates."""
MOST_PLACES = 10
"""Places that a finding names."""


class Finding(Struct, frozen=True):
    """One thing to look at, with where it is, why it is said, and what could be tried."""

    title: str
    """The heading of the finding."""
    places: tuple[InstructionKey, ...]
    """The first where to look first."""
    evidence: str
    """The figures of the finding, in one or two sentences; names are in backticks."""
    suggestion: str
    """The remedy, in one sentence."""
    grade: str
    """`exact`: read off the module; `matched`: by a pattern; `guessed`: by an estimate."""
    weight: float
    """For ordering: the least seconds on the device that are at stake; an estimate."""
    rule: str = ""
    """The key of the rule, as in the documentation."""
    seconds: float | None = None
    """Of the estimated time of one execution, what a remedy saves at most; None where not known."""
    bytes: int | None = None
    """Of the device's memory, what a remedy saves at most; None where not known."""
    occurrences: int = 0
    """How often there is such a thing: `places` has the first few, or users of it as well. A rule
    leaves it 0 where it is the number of places, of which `find_findings` keeps the first few."""
    seconds_together: float | None = None
    """Exposed time of all collectives of the same kind; None for other findings. Severity and order
    depend on the saving of this finding alone."""
    latency_seconds: float | None = None
    """Latency that a remedy saves in one execution, at an assumed 2 µs per collective, 1 µs per
    launch, or 2 µs (0.2 µs on a CPU) per iteration of a serial loop: no part of the roofline time.
    None for findings on other things."""
    cycle_seconds: float | None = None
    """Time of one execution that a remedy saves at most, by the compiler's estimated cycles: the
    roofline time has less than a tenth of it. None for other findings."""
    padding_seconds: float | None = None
    """Time of one execution for padding of matmuls to the MXU at its peak rate: no bound of what a
    remedy saves, and no part of the roofline time. None for other findings."""
    beside_loops: tuple[str, ...] = ()
    """Loops of unknown trip count, each counted once, that run beside it: where they run more
    often, its share of the time is smaller. Empty where no such loop takes much of the time."""
    in_loops: tuple[str, ...] = ()
    """Loops of unknown trip count, each counted once, that run it: its times are those of one
    iteration, no bounds. Empty where no such loop takes much of the time."""
    seconds_in_loops: float | None = None
    """The part of its time that runs in these loops; None where none of it does."""
    is_partial: bool = False
    """Whether its time leaves out parts of what a remedy saves: it is no upper bound then."""
    subject: str = ""
    """What the heading names in place of the first place: `all of m`; empty otherwise."""
    severity: str = "low"
    """`high` from a tenth of the roofline time or of the memory, `medium` from 3%, else `low`.
    A rule states the least one if its gain is no part of them."""

    @property
    def any_seconds(self) -> float:
        """The time of one execution at stake, of whichever kind it is; 0 where it is none."""
        times = (self.seconds, self.cycle_seconds, self.padding_seconds, self.latency_seconds)
        return next(filter(None, times), 0.0)

    @property
    def count(self) -> int:
        """How often there is such a thing: the places may be the first few, or name its users."""
        return self.occurrences or len(self.places)


_DONE = frozenset({"all-gather-done", "async-done", "collective-permute-done", "copy-done"})
"""Opcodes whose result is an element of what the start holds."""


class Case(Struct, frozen=True, dict=True):
    """A module as the rules see it."""

    module: HloModule
    """The optimized snapshot."""
    cost: ModuleCost
    device: Device
    before: HloModule | None = None
    """The snapshot before optimization."""
    decisions: Mapping[InstructionKey, LinkedDecisions] = field(default_factory=dict)
    """The decisions of the GPU fusion pass."""
    later: frozenset[InstructionKey] = frozenset()
    """Instructions that were made after that pass."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Options that are not at their default."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Values of all flags that the dump states."""
    stages: frozenset[str] = frozenset()
    """Labels of the snapshots in the module's file names: `oom_intermediate_module`, ..."""
    memory: MemoryFigures | None = None
    memory_files: MemoryFiles | None = None
    """Buffer assignment and live ranges, of which the use of memory at the peak is worked out."""
    rematerializations: Sequence[Rematerialization] = ()
    """Values that the SPMD partitioner gathers whole and cuts in another way."""
    replicated: Sequence[ReplicatedProduct] = ()
    """Products of which several devices compute the same."""
    origins: Mapping[InstructionKey, CollectiveOrigin] = field(default_factory=dict)
    """Why the collectives are there, as far as it is known."""
    scheduler_step: str | None = None
    """The number of the latency-hiding scheduler's step: see `find_scheduler_step`."""
    sync_step: str = ""
    """The number of the step that made collectives synchronous: see `find_sync_step`."""
    emptying_step: PassStep | None = None
    """The step that made a collective-permute without pairs; None if none did."""
    combiners: Sequence[Combiner] = ()
    """The steps that combined collectives."""
    sunk: Mapping[WorkKey, PassStep] = field(default_factory=dict)
    """Work that a pass moved into the body of a loop, by what is the same in later snapshots."""
    recorded: frozenset[str] | None = None
    """Names of kernels and instructions in command buffers; None without a thunk sequence."""
    is_untuned: bool = False
    """Whether the dump has results of autotuning, and none in them."""
    with_candidates: bool = False
    """Whether smaller savings are returned too if they are a large share of a small module's."""
    is_optimized: bool = True
    """Whether the compiler had finished; else only what is true of any snapshot is said."""

    @cached_property
    def fusions(self) -> Mapping[str, tuple[Computation, Instruction]]:
        """The only fusion that calls a computation, by its name, with where it is."""
        return self.module.sole_calls(lambda call: call.instruction.opcode == "fusion")

    @cached_property
    def collectives(self) -> tuple[CollectiveFigures, ...]:
        """The collectives of the optimized snapshot in figures."""
        return measure_collectives(self._schedule)

    @cached_property
    def sent_bytes(self) -> int:
        """What all collectives send per device in one run."""
        return sum(figures.sent_bytes for figures in self.collectives)

    @cached_property
    def collective_keys(self) -> frozenset[InstructionKey]:
        """The places of the collectives of the optimized snapshot."""
        return frozenset(figures.collective.key for figures in self.collectives)

    def sum_hideable(self, collectives: Iterable[CollectiveFigures]) -> float:
        """Return the seconds of all executions that more overlap hides at most.

        Some hide no more than all of their computation: work that hides another one now exposes
        that one where it is taken from it.
        """
        parts = hideable_by_computation(self._schedule, collectives)
        return sum(min(part, self._hideable.get(home, part)) for home, part in parts.items())

    @cached_property
    def _hideable(self) -> Mapping[str, float]:
        return hideable_by_computation(self._schedule, self.collectives)

    @cached_property
    def _schedule(self) -> Schedule:
        return Schedule(self.module, self.cost, self.device)

    @cached_property
    def occupancy(self) -> Occupancy | None:
        """The use of the device memory over the schedule; None where it is not known."""
        files = self.memory_files
        return occupancy_of(files) if files else None

    def place_at_peak(self, name: str, index: tuple[int, ...]) -> Hashable | None:
        """Return the place that a value uses at the peak of device memory, None if it uses none.

        Where that is not known, each value has a place of its own.
        """
        occupancy = self.occupancy
        if name in self._starts:
            name, index = self._starts[name]
        known = [key for key in occupancy.ranges if key[0] == name] if occupancy else []
        if occupancy is None or not known:
            return name, index
        keys = [key for key in known if key[1][: len(index)] == index]
        moment = occupancy.position
        for slot in occupancy.living(moment):
            shared = not slot.is_held and any(
                occupancy.share_place(key, slot.key, moment) for key in keys
            )
            if shared or slot.key in keys:
                return slot.allocation.index, slot.offset
        return next((place for key in keys if (place := self._held_places.get(key))), None)

    @cached_property
    def _held_places(self) -> Mapping[BufferKey, tuple[int, int]]:
        """The allocation and offset of each value in memory that is held throughout.

        An output can be in the memory of the argument that is donated for it.
        """
        slots = self.occupancy.slots if self.occupancy else ()
        allocations = {slot.allocation.index: slot.allocation for slot in slots if slot.is_held}
        return {
            (value.instruction, value.index): (allocation.index, value.offset)
            for allocation in allocations.values()
            for value in allocation.values
        }

    @cached_property
    def _starts(self) -> Mapping[str, tuple[str, tuple[int, ...]]]:
        """The value of the start that each done returns: its buffer is listed with the start."""
        return {
            line.name: (line.operand_names[0], (0,) if line.opcode == "copy-done" else (1,))
            for line in self.module.instructions
            if line.opcode in _DONE and line.operand_names
        }

    @property
    def backend(self) -> str:
        """The backend of the device: `cpu`, `gpu` or `tpu`."""
        family = self.device.nominal_for or self.device.key.partition("-")[0]
        return family if family in ("cpu", "tpu") else "gpu"

    @property
    def has_order(self) -> bool:
        """Whether the order of instructions is that in time: scheduled, and not for a CPU."""
        is_scheduled = self.module.is_scheduled
        return is_scheduled and self.device.nominal_for != "cpu"

    @cached_property
    def basis(self) -> TimeBasis:
        """What times are estimated by."""
        return choose_basis(self.cost, self.device)

    @cached_property
    def seconds(self) -> float:
        """The estimated time of one run; 0 where nothing could be counted."""
        return self.basis.total(self.cost) or 0.0

    @cached_property
    def _findings(self) -> dict["Rule", tuple[Finding, ...]]:
        return {}

    def findings_of(self, rule: "Rule") -> tuple[Finding, ...]:
        """Return what a rule reports, with its id; other rules may ask for it too."""
        if rule not in self._findings:
            name = rule_id(rule)
            self._findings[rule] = tuple(replace(finding, rule=name) for finding in rule(self))
        return self._findings[rule]

    def places_of(self, rules: Iterable["Rule"]) -> frozenset[InstructionKey]:
        """Return all places that the findings of some rules name."""
        findings = (finding for rule in rules for finding in self.findings_of(rule))
        return frozenset(place for finding in findings for place in finding.places)

    @cached_property
    def scheduled(self) -> tuple[tuple[Computation, Instruction, InstructionCost], ...]:
        """What runs by itself: no instruction inside a fusion or applied to scalars."""
        return tuple(item for item in self.cost.placed(self.module) if not item[2].fused)

    def least(self, cost: InstructionCost) -> float:
        """Return the estimated time of all runs of an instruction; 0 where it is not known."""
        return self.basis.seconds_of_runs(cost)

    def is_noticeable(self, seconds: float, share: float) -> bool:
        """Return whether a time is this share of the module's, and long enough to be reported."""
        if self.with_candidates and self.share(seconds) >= LEAST_OF_SMALL:
            share = max(share, LEAST_OF_SMALL)
        elif seconds < SHORTEST:
            return False
        return self.share(seconds) >= share

    def is_large(self, size: int) -> bool:
        """Return whether so many bytes of device memory are enough to be reported."""
        least = LEAST_OF_SMALL * self.held_bytes
        return size >= MEBIBYTE or (self.with_candidates and 0 < least <= size)

    @property
    def is_small(self) -> bool:
        """Whether a large share of its time or memory is too little to be reported."""
        is_short = self.seconds * LEAST_OF_SMALL < SHORTEST
        return is_short or 0 < self.held_bytes * LEAST_OF_SMALL < MEBIBYTE

    @property
    def held_bytes(self) -> int:
        """The device memory that the module uses; 0 where it is not known."""
        held = self.memory.held if self.memory else None
        return held.total_bytes if held else 0

    def share(self, seconds: float) -> float:
        """Return the part of the module's estimated time, 0 to 1."""
        return seconds / self.seconds if self.seconds else 0.0

    def time_words(self, seconds: float) -> str:
        """Return a time and its share of the module's; on a default model only the share counts."""
        share = self.share_words(seconds)
        return share if self.device.nominal_for else f"{units.seconds(seconds)}, {share}"

    def share_words(self, seconds: float) -> str:
        """Return the share of a time: `12% of the module's roofline time`."""
        return f"{units.share(self.share(seconds))} of the module's {self.basis.name}"

    def time_or_share(self, seconds: float) -> str:
        """Return a time; on a default model its share of the module's."""
        is_nominal = bool(self.device.nominal_for)
        return units.share(self.share(seconds)) if is_nominal else units.seconds(seconds)

    def time_of_bytes(self, size: float) -> float:
        """Return the roofline time to move so many bytes through the device memory."""
        return size / self.device.bandwidth


Rule = Callable[[Case], Iterable[Finding]]


def rule_id(rule: Callable[..., object]) -> str:
    """Return the id of a rule in its findings, the name of its module: `large-constants`."""
    return rule.__module__.rpartition(".")[2].replace("_", "-")


def describe_executions(counted: int) -> str:
    """Return words for how often: nothing for once."""
    return f" in each of its {counted:,} executions" if counted > 1 else ""


def join_names(names: Iterable[str], most: int = 3) -> str:
    """Return names as code, the first few: `a`, `b` and 4 more."""
    return first_few([f"`{name}`" for name in names], most)
