"""Runs the scalar operations that decide a program's branches, and counts runs of each bundle.

The interpreter stops at a branch on a value that the program alone does not determine: then the
result is unknown. Stalls on memory and DMA are not counted, because no file states them.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from xlareport.analysis.tpu.control import SELECT, SELECT_NOT, Action, Argument
from xlareport.analysis.tpu.scalar_operations import Value, compute

_MOST_STEPS = 300_000
"""Limit on scalar operations run for one program: half a second."""


class Execution(Struct, frozen=True):
    """How often each bundle runs."""

    counts: tuple[int, ...]
    """By address."""

    @property
    def cycles(self) -> int:
        """Number of executed bundles, one cycle each, without stalls."""
        return sum(self.counts)


class Unknown(Struct, frozen=True):
    """Why it is not known what runs."""

    reason: str
    address: int | None = None
    """Of the branch where it ends; None where it is no branch."""


def run_program(
    actions: Mapping[int, Sequence[Action]], bundles: int, delay_slots: int
) -> Execution | Unknown:
    """Run a program from its first bundle to its last; `delay_slots` run after a branch as well."""
    return _Interpreter(actions, bundles, delay_slots).run()


class _Interpreter:
    """The state of one run."""

    def __init__(
        self, actions: Mapping[int, Sequence[Action]], bundles: int, delay_slots: int
    ) -> None:
        self._actions = actions
        self._addresses = sorted(actions)
        self._bundles = bundles
        self._delay_slots = delay_slots
        self._registers: dict[str, Value] = {}
        self._changes = [0] * (bundles + 1)
        """Difference between the runs of each bundle and those of the previous one."""
        self._steps = 0

    def run(self) -> Execution | Unknown:
        """Return how often each bundle runs."""
        begin: int | None = 0
        while begin is not None and begin < self._bundles:
            target = self._run_block(begin)
            if isinstance(target, Unknown):
                return target
            begin = target
        return Execution(tuple(accumulate(self._changes[:-1])))

    def _run_block(self, begin: int) -> int | Unknown | None:
        """Run up to the next branch that is taken; return where it goes, None at the end."""
        target, end = None, self._bundles
        place = bisect_left(self._addresses, begin)
        while place < len(self._addresses) and self._addresses[place] < end:
            address = self._addresses[place]
            taken = self._step(address)
            if isinstance(taken, Unknown):
                return taken
            if taken is not None and target is not None:
                return Unknown("a branch is in the delay slots of another", address)
            if taken is not None:
                target, end = taken, min(self._bundles, address + 1 + self._delay_slots)
            place += 1
        self._changes[begin] += 1
        self._changes[end] -= 1
        return target

    def _step(self, address: int) -> int | Unknown | None:
        """Run a bundle: everything is read before anything is written."""
        self._steps += len(self._actions[address])
        if self._steps > _MOST_STEPS:
            return Unknown("it runs more scalar operations than are followed")
        target: int | None = None
        written: list[tuple[str, Value]] = []
        for action in self._actions[address]:
            runs = self._runs(action)
            if action.branch is None:
                if runs is not False:
                    written.append((action.target, self._result(action) if runs else None))
            elif runs is None:
                return Unknown("a branch depends on a value that is not known", address)
            elif runs:
                target = action.branch
        self._registers.update(written)
        is_inside = target is None or 0 <= target < self._bundles
        return target if is_inside else Unknown("the target of a branch is not known", address)

    def _runs(self, action: Action) -> bool | None:
        if not action.predicate:
            return True
        value = self._registers.get(action.predicate)
        return None if value is None else bool(value) is not action.negated

    def _result(self, action: Action) -> Value:
        values = [self._argument_value(argument) for argument in action.arguments]
        if action.opcode in {SELECT, SELECT_NOT}:
            return _select(values, negated=action.opcode == SELECT_NOT)
        if len(values) == 1:
            return _unary_result(action.opcode, values[0])
        return compute(action.opcode, values)

    def _argument_value(self, argument: Argument) -> Value:
        return self._registers.get(argument) if isinstance(argument, str) else argument


def _select(values: Sequence[Value], *, negated: bool) -> Value:
    if len(values) != 3:
        return None
    chooser, first, second = values
    if chooser is None:
        return first if first == second else None
    return first if bool(chooser) is not negated else second


def _unary_result(opcode: str, value: Value) -> Value:
    """Return the result of an operation on one operand."""
    if opcode in {"smov", "pmov"}:
        return value
    return not value if opcode == "pneg" and value is not None else None
