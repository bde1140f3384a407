"""The totals of computations: the cost of each instruction by itself, and of all that it calls.

An `OwnCost` depends on nothing but the instruction and the shapes of what it reads, a `Tally` on
nothing but the computation: it is made once for all snapshots that share it. A `Composition` adds
them up to totals, callees first.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct, field

from xlareport.analysis.cost.custom_calls import estimate_custom_cost
from xlareport.analysis.cost.fused import FusedComputations
from xlareport.analysis.cost.instruction_flops import (
    NOTHING,
    Work,
    count_applications,
    count_as_xla,
    count_work,
)
from xlareport.analysis.cost.loops import Loops, TripCount
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost.traffic import (
    DATA,
    MAIN_MEMORY,
    NO_TRAFFIC,
    Sizes,
    Traffic,
    count_data_traffic,
    count_xla_traffic,
)
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import RUNNERS
from xlareport.hlo.shape import Shape

MOST_WORK = 1 << 200
"""Executions beyond this product of calls and loops are implausible."""


class Total(Struct, frozen=True):
    """The cost of one run of a computation, including all computations that it calls."""

    flops: int = 0
    transcendentals: int = 0
    bytes_accessed: int = 0

    def __add__(self, other: "Total") -> "Total":
        """Return the sum of two costs, executed one after the other."""
        return Total(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.bytes_accessed + other.bytes_accessed,
        )

    def __mul__(self, times: int) -> "Total":
        """Multiply by how often it runs."""
        return Total(self.flops * times, self.transcendentals * times, self.bytes_accessed * times)

    def arithmetic(self) -> "Total":
        """Return the cost without bytes: for instructions inside fusions or on scalars."""
        return Total(self.flops, self.transcendentals, 0)


NO_COST = Total()


def weight(total: Total) -> int:
    """Return one number to compare costs: a byte weighs as much as ten FLOPs."""
    return total.flops + total.transcendentals + 10 * total.bytes_accessed


def total_of(totals: Iterable[Total]) -> Total:
    """Add up any number of costs."""
    flops = transcendentals = bytes_accessed = 0
    for total in totals:
        flops += total.flops
        transcendentals += total.transcendentals
        bytes_accessed += total.bytes_accessed
    return Total(flops, transcendentals, bytes_accessed)


_OF_THEIR_OWN = RUNNERS | {"custom-call", "fusion"}
"""Opcodes that run other computations whose instructions access memory individually."""


class OwnCost(Struct):
    """The own cost of one instruction; None for unknown figures."""

    site: Site
    work: Work | None
    traffic: Traffic | None
    """None for a fusion, too: its traffic depends on its computation."""
    xla_work: Work | None
    xla_bytes: int | None
    """None for a fusion, too."""
    applied: dict[str, int]
    """How often each computation is applied to scalars, by its name."""
    grade: str
    note: str
    runs_callees: bool = False
    """It runs its callees once: a call, an asynchronous start, a custom call with computations."""
    whole: Total | None = None
    """Its total cost; None if it calls computations, which cost extra."""

    @property
    def instruction(self) -> Instruction:
        """The instruction that this is about."""
        return self.site.instruction


class Tally(Struct, frozen=True):
    """The costs of a computation's instructions, each by itself."""

    locals: tuple[OwnCost, ...]
    """The costs of the instructions, in order."""
    calling: tuple[OwnCost, ...]
    """The instructions whose cost includes computations that they run or apply."""
    own: Total
    """The sum over all other instructions."""


class Tallies(Struct, frozen=True):
    """Counts computations; equal instructions on equal shapes are counted once."""

    _known: dict[tuple[Instruction, tuple[Shape | None, ...]], OwnCost] = field(
        default_factory=dict
    )

    def of(self, computation: Computation) -> Tally:
        """Count each instruction of a computation by itself."""
        shapes = shapes_of(computation)
        costs = []
        for instruction in computation.instructions:
            key = instruction, tuple(map(shapes.get, instruction.operand_names))
            local = self._known.get(key)
            if local is None:
                local = self._known[key] = _local(Site(instruction, shapes))
                local.whole = (
                    None if _calls(local) else tally_computation(local.work, local.traffic)
                )
            costs.append(local)
        calling = tuple(local for local in costs if local.whole is None)
        plain_total = total_of(local.whole for local in costs if local.whole is not None)
        return Tally(tuple(costs), calling, plain_total)


def _calls(local: OwnCost) -> bool:
    instruction = local.instruction
    return instruction.opcode in _OF_THEIR_OWN or bool(instruction.called) or bool(local.applied)


def tally_computation(work: Work | None, traffic: Traffic | None) -> Total:
    """Return work and traffic as one total; unknown parts count as 0."""
    return Total(
        work.flops if work else 0,
        work.transcendentals if work else 0,
        traffic.total if traffic else 0,
    )


def main_memory_traffic(local: OwnCost) -> Traffic | None:
    """Return the traffic of an instruction through the device memory; None if unknown."""
    is_plain = local.traffic is not None and local.instruction.opcode not in _OF_THEIR_OWN
    try:
        return count_data_traffic(local.site, MAIN_MEMORY) if is_plain else local.traffic
    except UncountableError:
        return None


def _local(site: Site) -> OwnCost:
    opcode = site.instruction.opcode
    if opcode == "custom-call":
        return _custom(site)
    if opcode == "fusion" or opcode in RUNNERS:
        no_traffic = None if opcode == "fusion" else NO_TRAFFIC
        xla_bytes = None if opcode == "fusion" else 0
        runs = opcode in ("call", "async-start")
        return OwnCost(
            site, NOTHING, no_traffic, NOTHING, xla_bytes, {}, "exact", "", runs_callees=runs
        )
    try:
        return _own_cost(site)
    except UncountableError as error:
        return OwnCost(site, None, None, None, None, {}, "guessed", str(error))


def _own_cost(site: Site) -> OwnCost:
    work, called = count_work(site), dict(site.instruction.called)
    applied: dict[str, int] = {}
    for attribute, times in count_applications(site).items():
        name = called.get(attribute, "")
        applied[name] = applied.get(name, 0) + times
    return OwnCost(
        site,
        work,
        count_data_traffic(site),
        count_as_xla(site),
        count_xla_traffic(site).total,
        applied,
        "exact",
        "",
    )


def _custom(site: Site) -> OwnCost:
    cost, minus = estimate_custom_cost(site), Work(flops=-1)
    if cost.work is None and site.instruction.called:
        note = "counted by the computations that it calls"
        return OwnCost(site, NOTHING, NO_TRAFFIC, minus, -1, {}, "matched", note, runs_callees=True)
    return OwnCost(site, cost.work, cost.traffic, minus, -1, {}, cost.grade, cost.note)


class Composition(Struct, frozen=True, dict=True):
    """The totals of one module, computation by computation."""

    module: HloModule
    tallies: Mapping[str, Tally]
    """By the names of the computations."""
    loops: Loops
    own: dict[str, Total] = field(default_factory=dict)
    """Loops times trip counts, custom calls from their shapes."""

    @cached_property
    def _fused(self) -> FusedComputations:
        return FusedComputations(self.module)

    def add(self, computation: Computation) -> None:
        """Add the totals of one computation; those of the computations it calls come first.

        Raises UncountableError where the sum cannot be meant.
        """
        tally = self.tallies[computation.name]
        total = tally.own + total_of(self.cost(computation, local) for local in tally.calling)
        if weight(total) > MOST_WORK:
            raise UncountableError(f"{computation.name[:80]} cannot be as dear as its loops say")
        self.own[computation.name] = total

    def cost(self, computation: Computation, local: OwnCost) -> Total:
        """Return the cost of one execution of an instruction, including its callees."""
        instruction = local.instruction
        cost = self.self_cost(local)
        match instruction.opcode:
            case "while":
                times = self.trip_count(computation, instruction).count
                times = 1 if times is None else times
                tested = self._callee(instruction, "condition") * (times + 1)
                return cost + self._callee(instruction, "body") * times + tested
            case "conditional":
                return cost + max(
                    (self.own.get(name, NO_COST) for _, name in instruction.called),
                    key=weight,
                    default=NO_COST,
                )
        if local.runs_callees:
            return cost + total_of(self.own.get(name, NO_COST) for _, name in instruction.called)
        return cost

    def self_cost(self, local: OwnCost) -> Total:
        """Return the cost of an instruction without the computations that it runs whole.

        A fusion is one with its computation; so is a reduction with the one that it applies.
        """
        if local.whole is not None:
            return local.whole
        total = tally_computation(local.work, self.traffic(local))
        for name, times in local.applied.items():
            total += self.own.get(name, NO_COST).arithmetic() * times
        if local.instruction.opcode == "fusion":
            inside = (self.own.get(name, NO_COST) for _, name in local.instruction.called)
            total += total_of(inside).arithmetic()
        return total

    def trip_count(self, computation: Computation, loop: Instruction) -> TripCount:
        """Return how often a loop runs."""
        return self.loops.trip_count(computation, loop)

    def traffic(self, local: OwnCost) -> Traffic | None:
        """Return the data that an instruction accesses; None if unknown."""
        if local.instruction.opcode != "fusion":
            return local.traffic
        return self.fused_traffic(local, DATA)

    def main_memory_bytes(self, local: OwnCost) -> int | None:
        """Return the bytes that an instruction accesses in the device memory; None if unknown."""
        if not self._has_tiles:
            traffic = self.traffic(local)
        elif local.instruction.opcode == "fusion":
            traffic = self.fused_traffic(local, MAIN_MEMORY)
        else:
            traffic = main_memory_traffic(local)
        return traffic.total if traffic is not None else None

    @cached_property
    def _has_tiles(self) -> bool:
        """Return whether layouts are a TPU's: other backends write no tiles."""
        texts = (local.site.shape.text for tally in self.tallies.values() for local in tally.locals)
        return any(":T(" in text for text in texts)

    def _callee(self, instruction: Instruction, attribute: str) -> Total:
        names = (name for role, name in instruction.called if role == attribute)
        return total_of(self.own.get(name, NO_COST) for name in names)

    def fused_traffic(self, local: OwnCost, sizes: Sizes) -> Traffic | None:
        """Return the bytes that a fusion reads and writes, by these sizes; None if unknown."""
        name = next((name for _, name in local.instruction.called), "")
        fused = self._fused.find(name, sizes)
        if fused is None:
            return None
        try:
            return fused.traffic(local.site)
        except UncountableError:
            return None
