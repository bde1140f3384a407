"""What a collective waits for besides its own operands: others in flight, and combined members."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.collectives.find import Collective
from xlareport.hlo.model import Computation
from xlareport.runtime.graphs import reachable

_RENAMES = frozenset({"bitcast", "get-tuple-element", "tuple"})
_READY = frozenset({"constant", "parameter"})
"""Opcodes of values that are there from the beginning."""
_LEAST_EARLY = 0.1
"""Part of the bytes of a combined collective: a scalar that waits costs nothing."""


def find_queued(
    home: Computation,
    places: Mapping[str, int],
    collective: Collective,
    others: Sequence[Collective],
) -> tuple[str, ...]:
    """Return the other collectives without which this one could begin earlier or end later.

    Each is in flight only after the operands are ready and before the start, or only after the
    done and before the first user. A limit of collectives in flight can be why. `places` are the
    positions of the instructions.
    """
    if collective.instruction not in places:
        return ()
    start = places[collective.first_sending(home)]
    end = places.get(collective.done or "", start)
    ready = _last_operand(home, collective, places)
    used = _first_user(home, home.instructions[end].name, places)
    return tuple(
        other.instruction
        for other in others
        if other.computation == home.name
        and other.instruction != collective.instruction
        and other.done is not None
        and other.done in places
        and not other.is_sync
        and (ready < places[other.done] < start or end < places[other.instruction] < used)
    )


def _last_operand(home: Computation, collective: Collective, places: Mapping[str, int]) -> int:
    """Return the place of the last instruction that computes what a collective sends."""

    def renamed(name: str) -> Sequence[str]:
        line = home.by_name.get(name)
        return [*line.operand_names] if line and line.opcode in _RENAMES else ()

    sent = collective.data_operands(home, collective.first_sending(home))
    lines = map(home.by_name.get, reachable(sent, renamed))
    computing = (line for line in lines if line and line.opcode not in _READY | _RENAMES)
    return max((places[line.name] for line in computing), default=-1)


def _first_user(home: Computation, name: str, places: Mapping[str, int]) -> int:
    """Return the place of the first instruction that reads a value, by whatever name."""

    def renames(name: str) -> Sequence[str]:
        return [user.name for user in home.users.get(name, ()) if user.opcode in _RENAMES]

    users = (user for renamed in reachable([name], renames) for user in home.users.get(renamed, ()))
    readers = (places[user.name] for user in users if user.opcode not in _RENAMES)
    return min(readers, default=len(places))


class EarlyOperands(Struct, frozen=True):
    """Operands of a combined collective that could be sent long before the last."""

    count: int = 0
    last: str = ""
    """What computes the last operand; empty if nothing is combined."""
    share: float = 0.0
    """Part, 0 to 1, of the bytes of all operands."""
    seconds: float = 0.0
    """Time of the work between the first of them and the last."""


def find_early(
    home: Computation, collective: Collective, ready: Mapping[str, float], least: float
) -> EarlyOperands:
    """Return the operands that could be sent long before the last; none if they have few bytes.

    `ready` has the time at which each instruction can end at the earliest; `least` is long.
    """
    sent = collective.data_operands(home, collective.first_sending(home))
    names = [name for name in sent if name in ready]
    if len(names) < 2:  # nothing is combined
        return EarlyOperands()
    last = max(names, key=lambda name: ready[name])
    early = [name for name in names if ready[last] - ready[name] >= least]
    whole = _bytes_of(home, names)
    share = _bytes_of(home, early) / whole if whole else 0.0
    if early and share < _LEAST_EARLY:
        return EarlyOperands()
    seconds = max((ready[last] - ready[name] for name in early), default=0.0)
    return EarlyOperands(len(early), _renamed(home, last), share, seconds)


def _bytes_of(home: Computation, names: Sequence[str]) -> int:
    return sum(home.by_name[name].shape.byte_size or 0 for name in names)


def _renamed(home: Computation, name: str) -> str:
    """Return the instruction that computes what a value renames."""
    while (line := home.by_name.get(name)) and line.opcode in _RENAMES and line.operand_names:
        name = line.operand_names[0]
    return name
