"""The account of a step in sentences: what was done, how often, and one instruction by name."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.matching.account.untraced import ANNOTATIONS
from xlareport.analysis.matching.search.reasons import (
    ComputedElement,
    Past,
    Resharded,
    WithUser,
)
from xlareport.analysis.steps import wording
from xlareport.analysis.steps.clauses import example_of
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.analysis.steps.heaviness import heaviness, heaviness_of_change
from xlareport.analysis.steps.kinds import Kind, words_of_kinds
from xlareport.analysis.steps.light_changes import OpcodeCounts, count_light, without_light
from xlareport.analysis.steps.phrases import phrase
from xlareport.analysis.steps.refinements import UncalledComputations
from xlareport.analysis.steps.regrouped_phrases import headline_phrase
from xlareport.runtime import english, units

_PHRASES_IN_HEADLINE = 3
_FURTHER = 3
_KINDS = 9
_REWRITES = 0.5
"""Share of changed instructions beyond which a step rewrites the module."""
_FEW = 20
_SCOPES = 3
"""Scopes of one side alone that are named."""


class StepFacts(Struct, frozen=True):
    """Input of the summary of a step."""

    groups: tuple[ChangeGroup, ...]
    actor: str
    """Who did it: `algsimp`, `Before dce, the compiler`."""
    header: tuple[str, ...] = ()
    """Changes of the module's header, as phrases: `scheduled the module`."""
    renumbered: ChangeGroup | None = None
    """Instructions of which only the number in the name changed."""
    computations: int = 0
    """Computations that got another name, or only another number in it."""
    uncalled: UncalledComputations = UncalledComputations()
    renamed: tuple[tuple[str, str], ...] = ()
    """The names before and after, if some did not only get another number; those come first."""
    instructions: int = 0
    """Of the module before."""
    touched: int = 0
    """Number of them that changed."""
    reordered: str = ""
    """What only changed its order, without effect: `computations`; '' if nothing did."""
    scopes: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Of two programs, the named scopes that only the one before has, and only the one after."""
    prefetches: tuple[str, ...] = ()
    """Sentences on values that are copied to another memory space while other work runs."""
    opcodes: OpcodeCounts = ()
    """Opcodes whose counts differ, where it is not known which passes ran; else empty."""

    @property
    def counts_light(self) -> bool:
        """Whether changes of light instructions are only counted by opcode."""
        return bool(self.opcodes) and self.is_module_wide

    @property
    def is_module_wide(self) -> bool:
        """Whether it changed most instructions of the module."""
        return self.touched > _FEW and self.touched > _REWRITES * self.instructions


def describe_step(step: StepFacts) -> tuple[str, ...]:
    """Return the headline and further sentences, one for each kind of change."""
    kinds = _by_kind(without_light(step.groups) if step.counts_light else step.groups)
    if not kinds:
        return (_quiet(step),)
    every = dict(kinds)
    phrases = [headline_phrase(kind, every) for kind, _ in kinds if _is_news(kind, every)]
    first = [*filter(None, phrases)][:_PHRASES_IN_HEADLINE]
    message = english.listing([*first, *step.header])
    headline = f"{step.actor} {_other_scopes(step)}{message}; {example_of(kinds[0][1][0])}."
    return (headline, *_sentences(kinds), *_in_all(step))


def _other_scopes(step: StepFacts) -> str:
    """Return which named scopes one of two programs has alone, before what else it did."""
    lost, gained = (
        english.listing([wording.code(scope) for scope in scopes[:_SCOPES]])
        + (f" and {len(scopes) - _SCOPES} more" if len(scopes) > _SCOPES else "")
        for scopes in step.scopes
    )
    parts = [
        f"has scope {gained}, which the base lacks" if gained else "",
        f"lacks scope {lost} of the base" if lost else "",
    ]
    words = english.listing([part for part in parts if part])
    return f"{words}: it " if words else ""


def _quiet(step: StepFacts) -> str:
    """Return the headline of a step that changes no computed value."""
    only = _only(step)
    if step.header:
        rest = f"; apart from that, it only {only}" if only else ""
        return f"{step.actor} {english.listing(step.header)}{rest}."
    if only:
        return f"{step.actor} only {only}."
    return f"{step.actor} did not change the module."


def _only(step: StepFacts) -> str:
    """Return changes without effect: of names or of order; '' if there are none."""
    if step.renumbered is not None:
        count = units.plural(step.renumbered.count, "instruction")
        return f"changed the numbers in the names of {count}; {example_of(step.renumbered)}"
    if step.computations:
        return f"renamed {units.plural(step.computations, 'computation')}"
    return f"listed {step.reordered} in another order" if step.reordered else ""


def _by_kind(groups: Iterable[ChangeGroup]) -> list[tuple[Kind, list[ChangeGroup]]]:
    """Return the groups by kind, the most important kinds first."""
    change_groups: dict[Kind, list[ChangeGroup]] = {}
    for group in groups:
        change_groups.setdefault(group.kind, []).append(group)
    if Kind.CARRIED in change_groups:
        loops = [group for group in change_groups[Kind.CARRIED] if group.opcodes[0] == _LOOP]
        change_groups[Kind.CARRIED] = loops or change_groups[Kind.CARRIED]
    if change_groups.keys() & _CAUSES and Kind.MOVED in change_groups:
        taken = [group for group in change_groups[Kind.MOVED] if _moves(group, change_groups)]
        change_groups[Kind.MOVED] = taken or change_groups[Kind.MOVED]
    for members in change_groups.values():
        members.sort(
            key=lambda group: (
                not group.is_tiling,
                _weight_within(group),
                heaviness_of_change(group.opcodes),
            ),
            reverse=True,
        )
        members.insert(0, members.pop(_place_of_example(members)))
    weights = _weights_of_kinds(change_groups)
    return sorted(
        change_groups.items(),
        key=lambda pair: (weights[pair[0]], pair[0] in _FIRST),
        reverse=True,
    )


_INTO_AND_OUT = (Kind.HOISTED, Kind.SUNK)
_FIRST = frozenset({Kind.FUSED, Kind.SWAPPED, *_INTO_AND_OUT})
"""Kinds that come before others that follow from them and weigh as much."""
_OF_PASSED = (Kind.SHAPE, Kind.TYPE)
"""Kinds of what a reshape or a convert was moved past."""


def _weights_of_kinds(every: Mapping[Kind, Sequence[ChangeGroup]]) -> dict[Kind, float]:
    """Return how much each kind of change counts; one that others follow from as much as these."""
    weights = {kind: sum(map(_group_weight, members)) for kind, members in every.items()}
    if Kind.FUSED in weights and Kind.ABSORBED in weights:  # the new fusions before what they hold
        weights[Kind.FUSED] = max(weights[Kind.FUSED], weights[Kind.ABSORBED])
    for kind in _INTO_AND_OUT:  # what moved before the elements that loops carry for it
        if kind in weights:
            weights[kind] = max(weights[kind], weights.get(Kind.CARRIED, 0.0))
    passed = _passed(every.get(Kind.SWAPPED, ()))
    for kind in _OF_PASSED if passed else ():
        if kind in weights and _are_passed(every[kind], passed):
            weights[Kind.SWAPPED] = max(weights[Kind.SWAPPED], weights[kind])
    return weights


def _passed(moves: Iterable[ChangeGroup]) -> frozenset[str]:
    """Return the names of the instructions that others were moved past."""
    reasons = (change.reason for group in moves for change in group.changes)
    return frozenset(reason.instruction for reason in reasons if isinstance(reason, Past))


def _are_passed(groups: Iterable[ChangeGroup], passed: frozenset[str]) -> bool:
    """Return whether moves passed most of the instructions, which are as the moved ones now.

    What stands between two that a move passed is passed too, and not named.
    """
    places = [(change.before, change.after) for group in groups for change in group.changes]
    named = [any(place and place.instruction in passed for place in pair) for pair in places]
    return 2 * sum(named) > len(named)


_LOOP = "while"
_PRODUCT = "dot"
"""What takes in moves of its operands counts as much: of a convolution, too."""
_TAKEN_IN = 100.0
"""Importance of work that went into a fusion that was there before, into a branch, or out."""
_COMPUTED = 100.0
"""Importance of an element of a loop that is computed from another one: the loop counts less."""
_RESHARDING = "all-to-all"
"""What a copy to another sharding counts as: the partitioner makes a collective of it."""
_FOLLOWING = 0.2
"""Share that a removal counts that follows from another one."""
_NOTES = 0.001
"""Importance of a backend config in which only defaults were set, and of frontend attributes."""
_FILLS = frozenset({"broadcast", "constant", "iota"})
"""Opcodes of what every fusion has of its own."""


def weight(groups: Iterable[ChangeGroup]) -> float:
    """Return how much a step did, by what is heavy; for ranking, without a unit."""
    return sum((_group_weight(group) for group in groups if group.kind not in _NO_EFFECT), 0.0)


_NO_EFFECT = frozenset({Kind.LEFTOVER, Kind.METADATA, Kind.RENAMED, Kind.UNUSED})
"""Kinds that count for nothing, however many lines they touch."""


def _group_weight(group: ChangeGroup) -> float:
    is_placed = group.is_taken_in or group.is_in_branch or group.is_out_of_fusion
    if group.kind is Kind.MOVED and is_placed and _FILLS.isdisjoint(group.opcodes):
        return _TAKEN_IN * group.count
    if group.sets_defaults or group.is_mark:
        return _NOTES * group.count
    if isinstance(group.changes[0].reason, ComputedElement):
        return _COMPUTED * group.count
    if group.kind is Kind.CARRIED and group.opcodes[0] != _LOOP:
        return 0.0  # told with the loop
    if group.is_in_loop and group.opcodes[0] != "constant":
        return words_of_kinds()[Kind.SUNK].importance * heaviness_of_change(group.opcodes)
    return words_of_kinds()[group.kind].importance * _heaviness(group) * group.count


def _place_of_example(groups: Sequence[ChangeGroup]) -> int:
    """Return which group gives the example, of groups by weight: the first one, as a rule.

    Of a heavier opcode that weighs more in all, in several scopes, the first group. The phrase
    names that opcode first.
    """
    totals = defaultdict[tuple[str, str], float](float)
    for group in groups:
        totals[group.opcodes] += 0.0 if group.kind in _LIGHT else _group_weight(group)
    lightest = heaviness_of_change(groups[0].opcodes)
    heavier = [
        place
        for place, group in enumerate(groups)
        if group.is_tiling == groups[0].is_tiling and heaviness_of_change(group.opcodes) > lightest
    ]
    return max([0, *heavier], key=lambda place: totals[groups[place].opcodes])


def _weight_within(group: ChangeGroup) -> float:
    """Return how much a group matters among those of its kind.

    Of what was reordered, collectives are named first, then what can hide them, however many.
    """
    ordered = group.kind is Kind.REORDERED
    return heaviness_of_change(group.opcodes) if ordered else _group_weight(group)


def _heaviness(group: ChangeGroup) -> float:
    """Return how heavy the work is that each change of a group is about."""
    if group.kind is Kind.TAKEN:
        return heaviness(_PRODUCT)
    heavy = 1.0 if group.kind in _LIGHT else heaviness_of_change(group.opcodes)
    if group.target.startswith(ANNOTATIONS):  # it says how an array is sharded, and does nothing
        heavy = heaviness("copy")
    if isinstance(group.changes[0].reason, Resharded):
        heavy = heaviness(_RESHARDING)
    return heavy * _FOLLOWING if _follows(group) else heavy


def _follows(group: ChangeGroup) -> bool:
    """Return whether instructions were only removed because what read them was."""
    reason = group.changes[0].reason
    return isinstance(reason, WithUser) and not reason.more


_LIGHT = frozenset(
    {
        Kind.CONFIG,
        Kind.FUSED,
        Kind.INLINED,
        Kind.METADATA,
        Kind.MOVED,
        Kind.OPERANDS,
        Kind.OUTLINED,
        Kind.RENAMED,
        Kind.REORDERED,
        Kind.SHARDING,
        Kind.SHARED,
    }
)
"""Kinds whose weight does not depend on the instruction."""


_CONSEQUENCES = frozenset({Kind.ARGUMENT, Kind.PARAMETER, Kind.PART, Kind.REDIRECTED, Kind.REWIRED})
"""Kinds that follow from others in the same step."""
_CAUSES = frozenset(
    {
        Kind.ABSORBED,
        Kind.ASYNC,
        Kind.COMBINED,
        Kind.EXPANDED,
        Kind.FUSED,
        Kind.INLINED,
        Kind.OUTLINED,
        Kind.SPLIT,
    }
)
"""Kinds from which it follows that instructions moved."""


def _is_news(kind: Kind, every: dict[Kind, list[ChangeGroup]]) -> bool:
    """Return whether a kind is more than what follows from the others."""
    if kind in _CONSEQUENCES:
        return every.keys() <= _CONSEQUENCES | _NO_EFFECT
    if kind is not Kind.MOVED or not every.keys() & _CAUSES:
        return True
    return _moves(every[kind][0], every)


def _moves(group: ChangeGroup, every: Mapping[Kind, Sequence[ChangeGroup]]) -> bool:
    """Return whether instructions moved by themselves, not with what was fused or inlined.

    Those that left a fusion which continues did not come out of an inlined one.
    """
    inlined = every.keys() & _CAUSES == {Kind.INLINED}
    return group.is_taken_in or (inlined and group.is_out_of_standing)


def _sentences(kinds: list[tuple[Kind, list[ChangeGroup]]]) -> Iterator[str]:
    """Yield details after the headline: more of the first kind, then the other kinds."""
    (_, first), *others = kinds
    for group in first[1 : 1 + _FURTHER]:
        yield _sentence(example_of(group))
    every = dict(kinds)
    news = [(kind, groups) for kind, groups in others if _is_news(kind, every)]
    for kind, groups in news[:_KINDS]:
        yield _sentence(f"{phrase(kind, every)}: {example_of(groups[0])}")
    if len(news) > _KINDS:
        yield f"Also {english.listing([phrase(kind, every) for kind, _ in news[_KINDS:]])}."


def _in_all(step: StepFacts) -> Iterator[str]:
    """Yield sentences about the module as a whole."""
    yield from step.prefetches
    if step.counts_light and (counts := count_light(step.opcodes)):
        yield counts
    if step.is_module_wide:
        yield (
            f"Module-wide change: {step.touched:,} of "
            f"{units.plural(step.instructions, 'instruction')}."
        )
    if step.renumbered is not None:
        count = units.plural(step.renumbered.count, "instruction")
        yield f"Of {count}, only the number in the name changed."
    if step.uncalled.computations:
        yield _uncalled(step.uncalled)
    if step.renamed:
        count = units.plural(len(step.renamed), "computation")
        were = "was" if len(step.renamed) == 1 else "were"
        old, new = step.renamed[0]
        example = f"{wording.name(old)} → {wording.name(new)}"
        among = f" (one of {len(step.renamed):,})" if len(step.renamed) > 1 else ""
        yield f"{count} {were} renamed: {example}{among}."


def _uncalled(uncalled: UncalledComputations) -> str:
    """Return a sentence about the computations that have no callers after the step."""
    several = uncalled.computations > 1
    count = units.plural(uncalled.computations, "computation")
    instructions = units.plural(uncalled.instructions, "instruction")
    has = "have" if several else "has"
    new = f", {uncalled.leftovers:,} of them new," if uncalled.leftovers else ""
    return f"{count} of {instructions}{new} {has} no live callers after the step."


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
