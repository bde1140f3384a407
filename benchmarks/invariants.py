"""What must hold of every account of a step and of every history, whatever the dump."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from crossing import crossing_failures
from crossing_alike import alike_failures, element_failures
from crossing_sources import source_failures
from crossing_values import value_failures
from dead_code import is_dead
from equal_readers import equal_failures
from fingerprints import fingerprint
from heavy import kind
from holding import holding_failures
from inlined_calls import inlined_failures
from op_names import resolved
from reasons import reason_failures
from sum_lengths import length_failures

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import HloModule

_CROSSING = (
    crossing_failures,
    alike_failures,
    element_failures,
    source_failures,
    value_failures,
)
_NOTHING = re.compile(r"\b(?:changed nothing|only gave other (?:names|numbers) to)\b")


@dataclass(frozen=True, slots=True)
class Failure:
    """A broken invariant."""

    invariant: str
    words: str


def step_failures(before: HloModule, after: HloModule, step: StepChange) -> Iterator[Failure]:
    """Yield what the account of a step breaks.

    The change of the count of instructions is what was added less what was removed; "changed
    nothing" is said only where both modules are the same but for names, metadata and free order;
    the uses that reasons name are in the texts; what a new fusion is exactly made of is what its
    computations hold; no more calls are inlined than are gone; what the partitioner divides has the
    shape of its share; no pair has the attributes or the start value of another; of equal
    instructions, what readers read is merged or cloned; and no float sum has a new length where no
    numerics are named.
    """
    difference = after.instruction_count - before.instruction_count
    balance = len(step.added) - len(step.removed)
    if difference != balance:
        counts = f"{len(step.added)} added, {len(step.removed)} removed"
        yield Failure("count", f"{difference:+} instructions, balance {balance:+}: {counts}")
    if _NOTHING.search(step.headline) and fingerprint(before) != fingerprint(after):
        yield Failure("nothing", step.headline)
    yield from (Failure("reasons", words) for words in reason_failures(before, after, step))
    if step.matching is not None:
        yield from (Failure("holds", words) for words in holding_failures(step.matching))
        yield from (Failure("inlined", words) for words in inlined_failures(step.matching))
        for failures in _CROSSING:
            yield from (Failure("crosses", words) for words in failures(step.matching))
    yield from (Failure("equals", words) for words in equal_failures(before, after, step))
    yield from (Failure("lengths", words) for words in length_failures(before, after, step))


def history_failures(snapshots: SnapshotSequence, last: int) -> Iterator[Failure]:
    """Yield what the histories of heavy instructions break, up to the optimized snapshot.

    Whatever is gone has left no heavy instruction of its op_name, or the reason names it, unless
    nothing needed it in the snapshot before; and whatever is said to be in the input stands in the
    first snapshot.
    """
    first, final = snapshots.modules[0], snapshots.modules[last]
    left = _by_op_name(final)
    for place, op_names in _heavy(first):
        event = history(snapshots, 0, place)[-1]
        gone = event.event is Event.REMOVED and event.number <= last
        still = [heavy for name in op_names for heavy in left[name]] if gone else []
        named = any(f"%{heavy.instruction}" in event.reason for heavy in still)
        if (
            still
            and not named
            and not is_dead(snapshots.modules[event.number - 1], event.instruction)
        ):
            names = ", ".join(map(str, still[:3]))
            words = f"{place} {min(op_names)} at {event.number} ({event.reason}): {names}"
            yield Failure("gone", words)
    for place, _ in _heavy(final):
        event = history(snapshots, last, place)[0]
        if event.event is Event.FIRST and first.find(*event.instruction) is None:
            yield Failure("made", f"{place} is said to come from {event.instruction}")


def _by_op_name(module: HloModule) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = defaultdict(list)
    for place, op_names in _heavy(module):
        for name in op_names:
            places[name].append(place)
    return places


def _heavy(module: HloModule) -> Iterator[tuple[Place, frozenset[str]]]:
    for place, op_names in resolved(module):
        instruction = module.find(*place)
        if instruction is not None and kind(instruction) is not None:
            yield place, op_names
