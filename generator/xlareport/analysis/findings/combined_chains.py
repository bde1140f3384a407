"""Chains of collectives that a combiner made longer.

A combined collective waits for the operands of all that are in it, and what needs a single result
waits for all of them.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from xlareport.analysis.collectives.find import Collective, find_collectives
from xlareport.hlo.model import Computation, HloModule
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES
from xlareport.snapshots import ParsedSnapshot, PassStep, list_pass_steps


class Combiner(PassStep, frozen=True):
    """A step of a pass that combines collectives of one kind."""

    kind: str
    """Of the collectives."""
    before: HloModule
    after: HloModule


class LongerChain(Struct, frozen=True):
    """The longest chain of a computation before and after a combiner."""

    combiner: Combiner
    before: int
    after: int


def find_combiners(snapshots: Sequence[ParsedSnapshot]) -> tuple[Combiner, ...]:
    """Return the steps of combiner passes that left fewer collectives."""
    combiners = []
    for step, before, after in list_pass_steps(snapshots):
        kind = _combined_kind(step.name)
        if kind is not None and _count(after, kind) < _count(before, kind):
            combiners.append(Combiner(step.name, step.number, kind, before, after))
    return tuple(combiners)


def _combined_kind(name: str) -> str | None:
    """Return the kind that a pass combines: `gpu-all-reduce-combiner` combines all-reduces."""
    kinds = (kind for kind in COMBINED_COLLECTIVES if name.endswith(f"{kind}-combiner"))
    return next(kinds, None)


def _count(module: HloModule, kind: str) -> int:
    return sum(line.opcode in (kind, f"{kind}-start") for line in module.instructions)


def find_combiner(
    combiners: Iterable[Combiner], module: HloModule, collective: Collective
) -> Combiner | None:
    """Return the last step that combined a collective of a later snapshot; None if none is known.

    The collective is that with its channel: after the step it has more operands than before.
    """
    channel, kind = channel_of(module, collective), collective.kind
    if not channel:
        return None
    grown = (
        combiner
        for combiner in reversed([*combiners])
        if combiner.kind == kind
        and _operands_of(combiner.after, kind, channel)
        > max(1, _operands_of(combiner.before, kind, channel))
    )
    return next(grown, None)


def count_combined(combiner: Combiner, module: HloModule, collective: Collective) -> int:
    """Return how many operands a collective of a later snapshot had after its combiner.

    A later pass may give it a single one, as all-reduce-contiguous does.
    """
    return _operands_of(combiner.after, combiner.kind, channel_of(module, collective))


def _operands_of(module: HloModule, kind: str, channel: str) -> int:
    """Return how many operands the collective of a channel has; 0 where there is none."""
    lines = (
        line
        for line in module.instructions
        if line.opcode in (kind, f"{kind}-start") and line.attributes.get("channel_id") == channel
    )
    return max((len(line.operand_names) for line in lines), default=0)


def find_longer_chain(
    combiners: Iterable[Combiner], kinds: frozenset[str], channels: frozenset[str], length: int
) -> LongerChain | None:
    """Return the combiner that made most of a chain of collectives; None if none did.

    The chain is that of a later snapshot, by the kinds and the channels of its collectives: they
    remain the same. Its `length` is at least twice what the computation had before.
    """
    longer = [
        grown
        for combiner in combiners
        if combiner.kind in kinds and (grown := _growth(combiner, kinds, channels)) is not None
    ]
    longest = max(longer, key=lambda grown: grown.after - grown.before, default=None)
    return longest if longest is not None and 2 * longest.before <= length else None


def _growth(
    combiner: Combiner, kinds: frozenset[str], channels: frozenset[str]
) -> LongerChain | None:
    """Return the lengths in the computation with these channels; None if the step adds nothing."""
    after = [
        collective for collective in find_collectives(combiner.after) if collective.kind in kinds
    ]
    homes = {channel_of(combiner.after, collective): collective.computation for collective in after}
    names = {homes.get(channel) for channel in channels}
    name = names.pop() if len(names) == 1 else None
    if name is None or name not in combiner.before.by_name:
        return None
    before = [
        collective for collective in find_collectives(combiner.before) if collective.kind in kinds
    ]
    shorter, longer = (
        len(longest_chain(module.by_name[name], _names_in(name, collectives)))
        for module, collectives in ((combiner.before, before), (combiner.after, after))
    )
    return LongerChain(combiner, shorter, longer) if longer > shorter else None


def channel_of(module: HloModule, collective: Collective) -> str:
    """Return the channel of a collective; empty if it has none."""
    instruction = module.find(*collective.body)
    return instruction.attributes.get("channel_id", "") if instruction else ""


def _names_in(computation: str, collectives: Iterable[Collective]) -> frozenset[str]:
    return frozenset(
        collective.instruction
        for collective in collectives
        if collective.computation == computation
    )


def longest_chain(computation: Computation, names: frozenset[str]) -> tuple[str, ...]:
    """Return the longest sequence of these instructions in which each needs the one before."""
    ends: dict[str, tuple[int, str]] = {}
    """The length and the last one of the longest chain that each instruction needs."""
    earlier: dict[str, str] = {}
    for instruction in computation.instructions:
        needed = (ends.get(name, (0, "")) for name in instruction.operand_names)
        length, last = max(needed, default=(0, ""))
        if instruction.name in names:
            earlier[instruction.name] = last
            length, last = length + 1, instruction.name
        ends[instruction.name] = length, last
    _, name = max(ends.values(), default=(0, ""))
    chain = []
    while name:
        chain.append(name)
        name = earlier[name]
    return tuple(reversed(chain))
