"""Sums of local costs over computations, each with what it calls, callees first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from xlareport.analysis.cost.fused import FusedComputations
from xlareport.analysis.cost.loops import Loops, TripCount
from xlareport.analysis.cost.sizes import UncountableError
from xlareport.analysis.cost.tally import (
    NO_COST,
    OwnCost,
    Tally,
    Total,
    main_memory_traffic,
    tally_computation,
    total_of,
    weight,
)
from xlareport.analysis.cost.traffic import DATA, MAIN_MEMORY, XLA, Sizes, Traffic
from xlareport.hlo.model import Computation, HloModule, Instruction

MOST_WORK = 1 << 200
"""Executions beyond this product of calls and loops are implausible."""


@dataclass
class Composition:
    """The two counts of one module, computation by computation."""

    module: HloModule
    tallies: Mapping[str, Tally]
    """By the names of the computations."""
    loops: Loops
    own: dict[str, Total] = field(default_factory=dict)
    """The report's count: loops times trip counts, custom calls from their shapes."""
    xla: dict[str, Total | None] = field(default_factory=dict)
    """XLA's count: loop bodies once, -1 for a custom call; None if XLA could not count."""
    _fused: FusedComputations = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Begin with no fused computation."""
        self._fused = FusedComputations(self.module)

    def add(self, computation: Computation) -> None:
        """Add the totals of one computation; those of the computations it calls come first.

        Raises UncountableError where the sum cannot be meant.
        """
        tally = self.tallies[computation.name]
        own = tally.own + total_of(self.cost(computation, local) for local in tally.calling)
        if weight(own) > MOST_WORK:
            raise UncountableError(f"{computation.name[:80]} cannot be as dear as its loops say")
        self.own[computation.name] = own

    def add_as_xla(self, computation: Computation) -> None:
        """Sum up one computation as XLA does; those that it calls were added so before."""
        counted = [self._xla_cost(local) for local in self.tallies[computation.name].locals]
        known = [total for total in counted if total is not None]
        self.xla[computation.name] = total_of(known) if len(known) == len(counted) else None

    def cost(self, computation: Computation, local: OwnCost) -> Total:
        """Return the cost of one execution of an instruction, including its callees."""
        instruction = local.instruction
        own = self.self_cost(local)
        match instruction.opcode:
            case "while":
                times = self.trip_count(computation, instruction).count
                times = 1 if times is None else times
                tested = self._callee(instruction, "condition") * (times + 1)
                return own + self._callee(instruction, "body") * times + tested
            case "conditional":
                return own + max(
                    (self.own.get(name, NO_COST) for _, name in instruction.called),
                    key=weight,
                    default=NO_COST,
                )
        if local.runs_callees:
            return own + total_of(self.own.get(name, NO_COST) for _, name in instruction.called)
        return own

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
        return self._fused_traffic(local, DATA)

    def main_memory_bytes(self, local: OwnCost) -> int | None:
        """Return the bytes that an instruction accesses in the device memory; None if unknown."""
        if not self._has_tiles:
            traffic = self.traffic(local)
        elif local.instruction.opcode == "fusion":
            traffic = self._fused_traffic(local, MAIN_MEMORY)
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

    def _fused_traffic(self, local: OwnCost, sizes: Sizes) -> Traffic | None:
        name = next((name for _, name in local.instruction.called), "")
        fused = self._fused.find(name, sizes)
        if fused is None:
            return None
        try:
            return fused.traffic(local.site)
        except UncountableError:
            return None

    def _xla_cost(self, local: OwnCost) -> Total | None:
        instruction = local.instruction
        if instruction.opcode == "fusion":
            return self._xla_fusion(local)
        if local.xla_work is None or local.xla_bytes is None:
            return None
        work = local.xla_work
        total = Total(work.flops, work.transcendentals, local.xla_bytes)
        return self._with_called(instruction, self._with_applied(local, total))

    def _with_called(self, instruction: Instruction, total: Total | None) -> Total | None:
        called = [self.xla.get(name) for _, name in instruction.called]
        match instruction.opcode:
            case "while" | "call" | "async-start":
                return _known_sum([total, *called])
            case "conditional":
                return _highest([total for total in called if total is not None], len(called))
        return total

    def _with_applied(self, local: OwnCost, total: Total) -> Total | None:
        parts: list[Total | None] = [total]
        for name, times in local.applied.items():
            applied = self.xla.get(name)
            parts.append(applied.arithmetic() * times if applied is not None else None)
        return _known_sum(parts)

    def _xla_fusion(self, local: OwnCost) -> Total | None:
        indexed = self._indexed_access(local.instruction)
        if indexed is not None:
            return self._xla_cost(indexed)
        traffic = self._fused_traffic(local, XLA)
        inside = [self.xla.get(name) for _, name in local.instruction.called]
        total = _known_sum(inside)
        if traffic is None or total is None:
            return None
        return Total(total.flops, total.transcendentals, traffic.total)

    def _indexed_access(self, fusion: Instruction) -> OwnCost | None:
        """Return the gather or scatter that XLA takes a custom fusion for."""
        if fusion.attributes.get("kind") != "kCustom":
            return None
        tallies = (self.tallies.get(name) for _, name in fusion.called)
        inside = (local for tally in tallies if tally is not None for local in tally.locals)
        wanted = (local for local in inside if local.instruction.opcode in ("gather", "scatter"))
        return next(wanted, None)


def _known_sum(parts: list[Total | None]) -> Total | None:
    known = [part for part in parts if part is not None]
    return total_of(known) if len(known) == len(parts) else None


def _highest(branches: list[Total], expected: int) -> Total | None:
    """Return the maximum of each figure over the branches, as XLA does."""
    if len(branches) != expected or not branches:
        return None
    return Total(
        max(branch.flops for branch in branches),
        max(branch.transcendentals for branch in branches),
        max(branch.bytes_accessed for branch in branches),
    )
