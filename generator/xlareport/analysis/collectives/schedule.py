"""The work that runs while a collective is in progress, the time it hides, and why not more.

The order of a scheduled module is taken as the order in time: instructions between a start and its
done run at the same time. The hidden time is at most the roofline time of that work; two
collectives in progress at the same time are each compared with all of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from math import fsum

from msgspec import Struct, field

from xlareport.analysis.collectives.find import ASYNC_FUSIONS, Collective
from xlareport.analysis.collectives.waiting import EarlyOperands, find_early, find_queued
from xlareport.analysis.cost.time_basis import TimeBasis, choose_basis
from xlareport.analysis.cost.wire import KINDS
from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import CONTROL_FLOW
from xlareport.knowledge.devices import Device
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable

MOST_BETWEEN = 5_000
"""Instructions looked at between a start and its done."""
ENOUGH = 0.1
"""Of the time of a collective: work of so much is worth overlapping."""
_LEAST_SECONDS = 1e-9
"""Shorter instructions count loop iterations or compute addresses."""
_BYTES_PER_FLOP = 64
"""Instructions that access more bytes per FLOP than this count as data movement."""
_IDLE = frozenset(
    {"after-all", "bitcast", "constant", "get-tuple-element", "parameter", "partition-id", "tuple"}
)


class WaitReason(StrEnum):
    """Why a collective is not hidden behind other work."""

    DEPENDENCE = "dependence"
    """The collective depends on all compute, or all compute on it, except for less than
    `ENOUGH`."""
    IS_SYNC = "is_sync"
    """It is synchronous although there is independent work."""
    SCHEDULER = "scheduler limit"
    """It is asynchronous and there is independent work, but it is scheduled elsewhere."""
    NO_WORK = "no independent work"
    """The computation has no other compute worth overlapping, or all of it overlaps already."""


_COULD = frozenset({WaitReason.IS_SYNC, WaitReason.SCHEDULER})


class Overlap(Struct, frozen=True):
    """The work that runs while a collective is in progress, per execution."""

    between: tuple[str, ...] | None
    """Instructions in between, without collectives; None if it is synchronous."""
    together: tuple[str, ...]
    """Other collectives in progress at the same time."""
    work_seconds: float
    """The estimated time of the instructions in between; 0 without any."""
    exposed_seconds: float | None
    """Modeled seconds minus those of the work, at least 0.

    None if the time is not modeled or the module is not scheduled.
    """
    hideable_seconds: float | None
    """Upper bound of the time that more overlap could hide: the exposed seconds, or the estimated
    time of `apart` where that is less. None where `exposed_seconds` is."""
    reason: WaitReason | None
    """Why no more is hidden; None if enough is hidden or the order means nothing."""
    reason_detail: str
    independent: tuple[str, ...]
    """Work of its computation that is independent of it, the longest first."""
    apart: tuple[str, ...]
    """The part of `independent` that does not run meanwhile."""
    queued: tuple[str, ...] = ()
    """Other collectives in flight where it could already be, or still be."""
    early: int = 0
    """Operands of a combined collective that could be sent long before the last."""
    last: str = ""
    """That last operand; empty if there are no such."""
    early_seconds: float = 0.0
    """Upper bound of the time that sending them by themselves could hide."""
    operands: int = 1
    """Several of a combined collective."""


class Schedule(Struct, frozen=True, dict=True):
    """The order of a module's instructions with the estimated time of each."""

    module: HloModule
    cost: ModuleCost
    device: Device
    _ready: dict[str, Mapping[str, float]] = field(default_factory=dict)
    _places: dict[str, Mapping[str, int]] = field(default_factory=dict)

    @cached_property
    def basis(self) -> TimeBasis:
        """What the times are estimated by."""
        return choose_basis(self.cost, self.device)

    def overlap(
        self, collective: Collective, seconds: float | None, others: Sequence[Collective] = ()
    ) -> Overlap:
        """Return the overlap of a collective; `others` are the other collectives of the module."""
        home = self.module.by_name[collective.computation]
        between = self._between(home, collective)
        feeding = names_before(home, collective) if between else set()
        beside = [other for other in others if other.computation == home.name]
        starts = {other.instruction for other in beside}
        names = {name for other in beside for name in _waiting_parts(other)}
        apart_from = names | feeding
        working = tuple(
            line.name for line in between or () if line.name not in apart_from and _works(line)
        )
        pieces = [name for name in collective.parts[1:-1] if collective.form == ASYNC_FUSIONS]
        is_sync = collective.is_sync or between is None
        hidden = 0.0 if is_sync else self._sum_seconds(home, (*working, *pieces))
        is_modeled = self.module.is_scheduled and seconds is not None
        exposed = max(0.0, (seconds or 0.0) - hidden) if is_modeled else None
        independent = self._independent(home, collective, names)
        apart = _apart(independent, between if hidden else None)
        apart_seconds = self._sum_seconds(home, apart)
        work = _Work(hidden, apart, apart_seconds, is_async=between is not None)
        reason, detail = self._reason(home, collective, seconds, work)
        early = EarlyOperands()
        body = self.module.find(*collective.body)
        if reason in (*_COULD, WaitReason.DEPENDENCE) and seconds:
            early = find_early(home, collective, self._ready_times(home), ENOUGH * seconds)
        return Overlap(
            between=None if between is None or collective.is_sync else (*pieces, *working),
            together=tuple(line.name for line in between or () if line.name in starts),
            work_seconds=hidden,
            exposed_seconds=exposed,
            hideable_seconds=None if exposed is None else min(exposed, apart_seconds),
            reason=reason,
            reason_detail=detail,
            independent=independent,
            apart=apart,
            queued=find_queued(home, self._positions(home), collective, others)
            if reason in _COULD
            else (),
            early=early.count,
            last=early.last if early.count else "",
            early_seconds=min(early.share * (seconds or 0.0), early.seconds),
            operands=len(body.operand_names) if body else 1,
        )

    def _positions(self, home: Computation) -> Mapping[str, int]:
        """Return the position of each instruction in the schedule of its computation."""
        if home.name not in self._places:
            lines = enumerate(home.instructions)
            self._places[home.name] = {line.name: number for number, line in lines}
        return self._places[home.name]

    def _ready_times(self, home: Computation) -> Mapping[str, float]:
        """Return when each instruction can end at the earliest, by the work that it needs."""
        if home.name not in self._ready:
            ready: dict[str, float] = {}
            for line in home.instructions:
                before = max((ready.get(name, 0.0) for name in line.operand_names), default=0.0)
                ready[line.name] = before + self.seconds(home, line.name)
            self._ready[home.name] = ready
        return self._ready[home.name]

    def _between(self, home: Computation, collective: Collective) -> list[Instruction] | None:
        if collective.done is None:
            return None
        places = self._positions(home)
        begin = places.get(collective.first_sending(home), 0)
        end = places.get(collective.done, begin)
        between = home.instructions[begin + 1 : min(end, begin + 1 + MOST_BETWEEN)]
        return [line for line in between if line.name not in collective.parts]

    def seconds(self, home: Computation, name: str) -> float:
        """Return the estimated time of one execution, of a loop with its body; 0 of collectives."""
        cost = self.cost.instructions.get((home.name, name))
        counts = cost is not None and not cost.fused and not cost.wire_bytes
        time = self.basis.seconds(cost) if cost and counts else 0.0
        instruction = home.by_name.get(name)
        if instruction is not None and instruction.opcode in CONTROL_FLOW:
            time += self._called_seconds(home, instruction)
        return time

    def _sum_seconds(self, home: Computation, names: Iterable[str]) -> float:
        return sum((self.seconds(home, name) for name in names), 0.0)

    def _called_seconds(self, home: Computation, instruction: Instruction) -> float:
        """Return the time of all that a loop or call runs when it is executed once.

        The exact sum: the computations are in no order, and equal loops take equal times.
        """
        instruction_cost = self.cost.instructions.get((home.name, instruction.name))
        costs = (
            self.cost.instructions.get((name, line.name))
            for name in called_computations(self.module, (instruction,))
            for line in self.module.by_name[name].instructions
        )
        counted = (cost for cost in costs if cost and not cost.fused and not cost.wire_bytes)
        total = fsum(map(self.basis.seconds_of_runs, counted))
        return total / max(1, instruction_cost.counted if instruction_cost else 1)

    def _independent(
        self, home: Computation, collective: Collective, names: set[str]
    ) -> tuple[str, ...]:
        """Return work that neither feeds a collective nor needs it, the longest first.

        Loop counters, keys of random numbers and other scalars take no time and are none.
        """
        bound = _bound(home, collective)
        times = {
            instruction.name: seconds
            for instruction in home.instructions
            if instruction.name not in bound
            and instruction.name not in names
            and _works(instruction)
            and instruction.opcode not in KINDS
            and not _is_scalar(home, instruction)
            and (seconds := self.seconds(home, instruction.name)) >= _LEAST_SECONDS
        }
        return tuple(sorted(times, key=lambda name: (-times[name], name)))

    def _reason(
        self,
        home: Computation,
        collective: Collective,
        seconds: float | None,
        work: "_Work",
    ) -> tuple[WaitReason | None, str]:
        """Return why not more is hidden, with a sentence."""
        if not self.module.is_scheduled or seconds is None:
            return None, ""
        if work.hidden >= seconds:
            return None, ""
        if work.apart_seconds < ENOUGH * seconds:
            return self._without_work(home, collective, seconds, work)
        names = ", ".join(f"`{name}`" for name in work.apart[:3])
        if collective.is_sync or not work.is_async:
            how = (
                "its backend_config has is_sync"
                if collective.is_sync
                else "it is one synchronous instruction"
            )
            detail = f"It runs synchronously ({how}); independent of it: {names}."
            return WaitReason.IS_SYNC, detail
        where = "partly " if work.hidden else ""
        detail = (
            f"It is asynchronous and {where}exposed; the schedule has independent work elsewhere: "
            f"{names}."
        )
        return WaitReason.SCHEDULER, detail

    def _without_work(
        self, home: Computation, collective: Collective, seconds: float, work: "_Work"
    ) -> tuple[WaitReason, str]:
        """Distinguish work that depends on the collective from no work at all."""
        bound = _bound(home, collective) - set(collective.parts)
        times = {
            name: self.seconds(home, name)
            for name in sorted(bound)
            if name in home.by_name and self._computes(home, home.by_name[name])
        }
        apart = work.apart_seconds
        already = ""
        if work.hidden:
            already = "Independent work already runs meanwhile, but is too short. "
            already = already if not apart else "What runs meanwhile is shorter. "
        if sum(times.values()) < ENOUGH * seconds:
            total = sum(times.values()) + apart
            return WaitReason.NO_WORK, already + _little(total, "further" if already else "other")
        heaviest = max(times, key=lambda name: (times[name], name))
        direction = "feeds it" if heaviest in names_before(home, collective) else "needs its result"
        if apart:
            left = units.seconds(apart)
            detail = (
                f"{already}Compute that neither feeds it nor needs its result "
                f"{'and does not run meanwhile ' if already else ''}takes {left} in one "
                f"execution, under {units.share(ENOUGH)} of its time; the longest other, "
                f"`{heaviest}`, {direction}."
            )
            return WaitReason.DEPENDENCE, detail
        what = "All other compute" if already else "All compute"
        detail = (
            f"{already}{what} of its computation feeds it or needs its result; the longest, "
            f"`{heaviest}`, {direction}."
        )
        return WaitReason.DEPENDENCE, detail

    def _computes(self, home: Computation, instruction: Instruction) -> bool:
        """Return whether an instruction computes; a copy, or a slice and its offset, moves data."""
        if instruction.opcode in CONTROL_FLOW:
            return True
        cost = self.cost.instructions.get((home.name, instruction.name))
        if cost is None or not _works(instruction):
            return False
        work = (cost.flops or 0) + (cost.transcendentals or 0)
        return work * _BYTES_PER_FLOP > (cost.bytes_accessed or 0)


class _Work(Struct, frozen=True):
    """The work that could hide a collective."""

    hidden: float
    apart: tuple[str, ...]
    """Independent work that does not run meanwhile, the longest first."""
    apart_seconds: float
    is_async: bool
    """Whether different instructions begin and end it."""


def _little(seconds: float, which: str) -> str:
    """Return a sentence that there is too little work to hide a collective."""
    if not seconds:
        return f"Its computation has no {which} compute."
    took = f"{units.seconds(seconds)}, under {units.share(ENOUGH)} of its time"
    return f"The {which} compute of its computation takes {took}."


def _apart(independent: Sequence[str], between: Sequence[Instruction] | None) -> tuple[str, ...]:
    """Return independent work that does not overlap with a collective, the longest first."""
    meanwhile = {line.name for line in between or ()}
    return tuple(name for name in independent if name not in meanwhile)


def _is_scalar(home: Computation, instruction: Instruction) -> bool:
    """Return whether an instruction computes a scalar from scalars, which needs little time."""
    operands = home.operands(instruction)
    values = [instruction, *(operand for operand in operands if operand is not None)]
    return all(value.shape.element_count == 1 for value in values)


def _works(instruction: Instruction) -> bool:
    """Return whether an instruction keeps the device busy, unlike starts and dones."""
    waits = instruction.opcode.endswith(("-start", "-update", "-done"))
    return not waits and instruction.opcode not in _IDLE


def _waiting_parts(collective: Collective) -> Sequence[str]:
    """Return the parts of a collective that do no work beside it."""
    parts = collective.parts
    return (parts[0], parts[-1]) if collective.form == ASYNC_FUSIONS else parts


def names_before(home: Computation, collective: Collective) -> set[str]:
    """Return the names of a collective's start and of all that its chain needs."""
    return {
        *reachable(
            collective.chain,
            lambda name: home.by_name[name].operand_names if name in home.by_name else (),
        )
    }


def names_after(home: Computation, collective: Collective) -> set[str]:
    """Return the names of a collective's parts and of all that needs them."""
    return {
        *reachable(collective.parts, lambda name: [user.name for user in home.users.get(name, ())])
    }


def _bound(home: Computation, collective: Collective) -> set[str]:
    """Return the names of a collective's parts and of all its transitive operands and users."""
    return names_before(home, collective) | names_after(home, collective)
