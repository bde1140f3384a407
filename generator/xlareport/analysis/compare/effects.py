"""Effect of each cause on time, memory and bytes accessed, with links to the evidence."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

from xlareport.analysis.compare.comparison import Comparison, Quantity, Sketched
from xlareport.analysis.compare.loop_changes import find_time_in_trips, find_trip_changes
from xlareport.analysis.compare.module_facts import ESTIMATE, MEMORY, ComparedOpcode
from xlareport.analysis.compare.moved_work import align_facts
from xlareport.analysis.compare.operations import COPY_OF, OperationChange
from xlareport.analysis.compare.program_changes import ProgramChange
from xlareport.analysis.source.scopes import Phase

_Number = TypeVar("_Number", int, float)
_LEAST = 0.0005
"""Share of the memory; a smaller change of it is no effect."""


class Effect(Struct, frozen=True):
    """Changes of the figures of one run of the main program; None if unknown."""

    seconds: float | None = None
    """Of the estimated time."""
    accessed_bytes: int | None = None
    memory_bytes: int | None = None
    """Change of the peak memory, or of the allocated memory if the peak is unknown."""
    kernels: int | None = None
    opcode: str = ""
    """The opcode to which these figures are limited; empty for all."""
    sent_bytes: int | None = None
    """Of the bytes that a device sends to others."""
    is_rest: bool = False
    """Whether it is what other causes leave of the whole change."""


UNKNOWN = Effect()


def whole_effect(comparison: Comparison) -> Effect:
    """Return the change of the whole module, which an only cause has to itself."""
    changes = {
        quantity.name: 0 if _is_small(quantity) else quantity.head - quantity.base
        for quantity in comparison.quantities
        if quantity.base is not None and quantity.head is not None
    }
    nanoseconds = changes.get(ESTIMATE)
    return Effect(
        seconds=None if nanoseconds is None else nanoseconds / 1e9,
        accessed_bytes=changes.get("bytes_accessed"),
        memory_bytes=next((changes[name] for name in MEMORY if name in changes), None),
        kernels=changes.get("kernels"),
        sent_bytes=changes.get("wire_bytes"),
    )


def _is_small(quantity: Quantity) -> bool:
    return quantity.name in MEMORY and abs(quantity.change or 0) < _LEAST and bool(quantity.base)


def rest_effect(whole: Effect, known: Sequence[Effect]) -> Effect:
    """Return what known effects leave of the whole change, in figures that all of them have."""
    return Effect(
        seconds=_left(whole.seconds, [effect.seconds for effect in known]),
        accessed_bytes=_left(whole.accessed_bytes, [effect.accessed_bytes for effect in known]),
        memory_bytes=_left(whole.memory_bytes, [effect.memory_bytes for effect in known]),
        is_rest=True,
    )


def _left(whole: _Number | None, known: Sequence[_Number | None]) -> _Number | None:
    numbers = [number for number in known if number is not None]
    if whole is None or len(numbers) < len(known):
        return None
    return whole - sum(numbers)


def rank_effect(effect: Effect, main: Comparison | None) -> tuple[int, float, float]:
    """Return the sort key of an effect, the largest share of the main program first.

    That is the share of its time or memory, of equal ones the share of the bytes accessed. Figures
    of one opcode follow those of the whole module, whose part they are; effects without figures
    come last.
    """
    base = {quantity.name: quantity.base for quantity in main.quantities} if main else {}
    memory = next((base[name] for name in MEMORY if base.get(name)), None)
    time = _share((effect.seconds or 0.0) * 1e9, base.get(ESTIMATE))
    share = max(time, _share(effect.memory_bytes, memory))
    accessed = _share(effect.accessed_bytes, base.get("bytes_accessed"))
    has_figures = share or accessed or effect.sent_bytes or effect.kernels
    tier = (1 if effect.opcode else 0) if has_figures else 2
    return tier, -share, -accessed


def _share(change: float | None, whole: int | None) -> float:
    return abs(change or 0) / (whole or 1)


def recomputed_effect(comparison: Comparison) -> Effect:
    """Return the change of the ops that jax.checkpoint recomputes."""
    return _sum_changes(comparison, lambda change: change.key.phase is Phase.RECOMPUTED)


def trips_effect(comparison: Comparison, change: ProgramChange) -> Effect:
    """Return the change of the loops whose trip count changed, if the final loops show it."""
    base, head = (side.facts for side in comparison.sides)
    for effect in find_trip_changes(base.program.loops, head.program.loops):
        if (str(effect.base), str(effect.head)) == (change.base, change.head):
            time = find_time_in_trips(base.loops, head.loops, effect)
            return Effect(*time) if time else UNKNOWN
    return UNKNOWN


def one_sided_effect(comparison: Comparison) -> Effect:
    """Return the change by ops that only one side has."""
    return _sum_changes(comparison, lambda change: not change.in_both)


def _sum_changes(comparison: Comparison, is_meant: Callable[[OperationChange], bool]) -> Effect:
    changes = align_facts(*(side.facts for side in comparison.sides))
    meant = [change for change in changes if is_meant(change)]
    return Effect(sum(change.seconds for change in meant), sum(change.bytes for change in meant))


def copied_seconds(comparison: Comparison) -> float:
    """Return the change of copies of arguments that only one side donates.

    What a program writes into an argument that it may not overwrite, it writes into a copy.
    """
    sides = [side.facts for side in comparison.sides]
    ours, theirs = (
        {given.label: given.donated for given in side.program.arguments} for side in sides
    )
    names = {f"{COPY_OF}{label}" for label in ours if ours[label] != theirs.get(label, ours[label])}
    changes = align_facts(*sides)
    return sum(change.seconds for change in changes if change.key.op in names)


def opcode_effect(comparison: Comparison, opcode: str) -> Effect:
    """Return the change by the instructions of one opcode in the final module."""
    ours, theirs = (_work_of(side, opcode) for side in comparison.sides)
    return Effect(
        seconds=theirs.seconds - ours.seconds,
        accessed_bytes=theirs.bytes - ours.bytes,
        kernels=theirs.kernels - ours.kernels,
        opcode=opcode,
    )


def _work_of(side: Sketched, opcode: str) -> ComparedOpcode:
    nothing = ComparedOpcode(opcode, 0.0, 0, 0)
    return next((work for work in side.facts.opcode_work if work.opcode == opcode), nothing)
