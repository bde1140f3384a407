"""The effect of a step on the program, in the figures by which steps are labeled and ranked."""

from collections.abc import Iterable

from msgspec import Struct

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.groups import is_mark
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.numbers_changed import PRECISION, TYPE, NumbersChanged
from xlareport.analysis.steps.step import StepChange, is_partitioned
from xlareport.hlo.model import HloModule
from xlareport.knowledge.opcodes import begins_collective

_LAYOUT = frozenset({Kind.LAYOUT, Kind.SPACE})
_QUIET = frozenset(
    {
        Kind.METADATA,
        Kind.PART,
        Kind.REDIRECTED,
        Kind.RENAMED,
        Kind.REORDERED,
        Kind.REWIRED,
        Kind.SHARDING,
        Kind.SHARED,
    }
)
"""Kinds that do nothing to what a collective does."""


class StepEffect(Struct, frozen=True):
    """Figures of one step."""

    fusions: int = 0
    """Fusions gained, negative where they are fewer."""
    collectives: int = 0
    """Collectives added, removed or changed; an asynchronous one counts where it starts."""
    precision: int = 0
    """Changes of an element type, precision or algorithm that affect numerics."""
    layout: int = 0
    """Instructions with another layout or memory space."""
    order: int = 0
    """Instructions at another position of the schedule."""
    partitioned: bool = False
    """Whether the SPMD partitioner ran."""


NO_EFFECT = StepEffect()


def effect_of(change: StepChange, numbers: Iterable[NumbersChanged]) -> StepEffect:
    """Count what a step did, with the changes that affect numerics."""
    changes = change.changes
    return StepEffect(
        fusions=change.after.fusions - change.before.fusions,
        collectives=sum(_does_collective(change.matching, row) for row in changes),
        precision=sum(row.count for row in numbers if row.what in (TYPE, PRECISION)),
        layout=_count(changes, _LAYOUT),
        order=_count(changes, frozenset({Kind.REORDERED})),
        partitioned=change.matching is not None and is_partitioned(change.matching),
    )


def _count(changes: Iterable[Change], kinds: frozenset[Kind]) -> int:
    return sum(not kinds.isdisjoint(change.kinds) for change in changes)


def _does_collective(matching: Matching | None, change: Change) -> bool:
    """Return whether a collective was changed, or is a part of what another opcode became."""
    opcodes = change.opcodes
    if "async-start" in opcodes and matching is not None:
        opcodes = _run(matching.before, change.before), _run(matching.after, change.after)
    was, is_now = (begins_collective(opcode) for opcode in opcodes)
    is_part = change.kind is Kind.PART and not was
    quiet = change.kind in _QUIET or is_mark(change)
    return (was or is_now) and (is_part or not quiet)


def _run(module: HloModule, place: Place | None) -> str:
    """Return the opcode of an instruction; of an `async-start` that of what it starts."""
    line = None if place is None else module.find(*place)
    if line is None or line.opcode != "async-start" or not line.called:
        return "" if line is None else line.opcode
    computation = module.callee(line)
    root = None if computation is None else computation.root
    return "" if root is None else root.opcode
