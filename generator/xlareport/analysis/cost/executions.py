"""How often each computation runs in one run of the module."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from xlareport.analysis.cost.loops import TripCount
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.totals import MOST_WORK, NO_COST, Composition, OwnCost, weight
from xlareport.hlo.model import Computation


class Times(Struct, frozen=True):
    """The number of executions of a computation."""

    executions: int | None
    """None where it is not known."""
    counted: int
    """How often the totals count it."""

    def __add__(self, other: "Times") -> "Times":
        """Add the runs from two callers."""
        both_known = self.executions is not None and other.executions is not None
        executions = (self.executions or 0) + (other.executions or 0) if both_known else None
        return Times(executions, self.counted + other.counted)

    def times(self, executions: int | None, counted: int) -> "Times":
        """Return how often a callee runs that runs so often for each run of the caller."""
        both_known = self.executions is not None and executions is not None
        product = (self.executions or 0) * (executions or 0) if both_known else None
        return Times(product, self.counted * counted)


class Runs(Struct, frozen=True):
    """The runs of the computations that the entry reaches."""

    times: Mapping[str, Times]
    fused: frozenset[str]
    """Computations that only fusions run."""
    applied: frozenset[str]
    """Computations that are only applied to scalars: their work is part of their callers'."""
    trip_counts: Mapping[tuple[str, str], TripCount]
    branches: int
    """Conditionals that count as their costliest branch, where another would make a difference."""


class _Call(Struct, frozen=True):
    callee: str
    executions: int | None
    counted: int
    kind: str
    """`run`, `fused` or `applied`."""


def count_executions(order: tuple[Computation, ...], composition: Composition) -> Runs:
    """Follow the calls from the entry, which is the last of the order.

    Raises UncountableError where something would run absurdly often.
    """
    entry = order[-1].name
    executions = _Found({computation.name: Times(0, 0) for computation in order}, {entry: {"run"}})
    executions.times[entry] = Times(1, 1)
    trip_counts: dict[tuple[str, str], TripCount] = {}
    branches = 0
    for computation in reversed(order):
        for local in composition.tallies[computation.name].calling:
            instruction = local.instruction
            if instruction.opcode == "while":
                key = (computation.name, instruction.name)
                trip_counts[key] = composition.trip_count(computation, instruction)
            elif instruction.opcode == "conditional":
                spread = _spread(local, composition) * executions.times[computation.name].counted
                branches += spread * _NOTICED > weight(composition.own[entry])
            for call in _calls(computation, local, composition):
                executions.add(computation.name, call)
    return Runs(
        *(executions.times, executions.never_alone("fused"), executions.never_alone("applied")),
        *(trip_counts, branches),
    )


_NOTICED = 1000
"""Where branches differ by less than this part of the module, it does not matter which runs."""


class _Found(Struct, frozen=True):
    """The executions of computations known so far, callers first."""

    times: dict[str, Times]
    kinds: dict[str, set[str]]
    """The ways in which each computation is run."""

    def add(self, caller: str, call: _Call) -> None:
        """Add the executions of one call. Raises UncountableError if the number is implausible."""
        if self.times[caller].counted > MOST_WORK:
            raise UncountableError(f"{caller[:80]} cannot run as often as its loops say")
        if call.callee not in self.times:
            return
        self.times[call.callee] += self.times[caller].times(call.executions, call.counted)
        around = self.kinds[caller]
        kinds = around if call.kind == "run" or around == {"applied"} else {call.kind}
        self.kinds.setdefault(call.callee, set()).update(kinds)

    def never_alone(self, kind: str) -> frozenset[str]:
        """Return the computations that are `fused`, or else only `applied`, and never run alone."""
        order = ("run", "fused", "applied")
        return frozenset(
            name
            for name, kinds in self.kinds.items()
            if next(text for text in order if text in kinds) == kind
        )


def _calls(computation: Computation, local: OwnCost, composition: Composition) -> Iterator[_Call]:
    instruction = local.instruction
    match instruction.opcode:
        case "while":
            yield from _loop_calls(computation, local, composition)
        case "conditional":
            yield from _branch_calls(local, composition)
        case _ if local.runs_callees:
            yield from (_Call(name, 1, 1, "run") for _, name in instruction.called)
        case "fusion":
            yield from (_Call(name, 1, 1, "fused") for _, name in instruction.called)
        case _:
            yield from (_Call(name, None, 0, "applied") for _, name in instruction.called)


def _loop_calls(
    computation: Computation, local: OwnCost, composition: Composition
) -> Iterator[_Call]:
    count = composition.trip_count(computation, local.instruction).count
    for role, name in local.instruction.called:
        extra = 1 if role == "condition" else 0
        executions = None if count is None else count + extra
        yield _Call(name, executions, (1 if count is None else count) + extra, "run")


def _spread(local: OwnCost, composition: Composition) -> int:
    """Return how much more the costliest branch of a conditional does than the cheapest."""
    costs = [weight(composition.own.get(name, NO_COST)) for _, name in local.instruction.called]
    return max(costs, default=0) - min(costs, default=0)


def _branch_calls(local: OwnCost, composition: Composition) -> Iterator[_Call]:
    """Count the costliest branch; which one runs is not known."""
    branches = [name for _, name in local.instruction.called]
    if not branches:
        return
    costs = [weight(composition.own.get(name, NO_COST)) for name in branches]
    taken = costs.index(max(costs))
    for number, name in enumerate(branches):
        yield _Call(name, None, 1 if number == taken else 0, "run")
