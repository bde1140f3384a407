"""Changes of one kind in a step, as a phrase: `removed 3 copies and 1 tuple`."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from xlareport.analysis.matching.account.empty_calls import RETURNS_ARGUMENT
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import FirstIteration
from xlareport.analysis.steps import attribute_phrases, computation_phrases, detail_phrases, wording
from xlareport.analysis.steps.group_counts import (
    AFTER,
    BEFORE,
    count_by_opcode,
    count_on_side,
    counted,
    counted_apart,
)
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.analysis.steps.kinds import Kind, words_of_kinds
from xlareport.analysis.steps.replacements import (
    ASYNC_FUSION_END,
    is_product_by_reciprocal,
    is_summed_product,
)
from xlareport.runtime import english, units

_PAIRS_NAMED = 2


def phrase(kind: Kind, every: Mapping[Kind, Sequence[ChangeGroup]]) -> str:
    """Return a phrase for all changes of one kind; `every` has the groups of each kind."""
    groups = every[kind]
    if kind is Kind.ABSORBED:
        return _absorbed(groups, every.get(Kind.FUSED, ()))
    if kind is Kind.CLONED:
        return _cloned(groups, every.get(Kind.FUSED, ()))
    if kind in _WITH_RESULT:
        return _WITH_RESULT[kind](groups)
    words = words_of_kinds()[kind]
    verb, side = words.verb, AFTER if words.counts == "after" else BEFORE
    if kind is Kind.REMOVED and any(group.guesses for group in groups):
        verb = "removed or rewrote"
    adjective = "dead" if kind is Kind.DEAD else ""
    message = f"{verb} {wording.counted(count_by_opcode(groups, side), adjective)}"
    if kind in _TOGETHER:
        return message + _with_members(_TOGETHER[kind], groups, every.get(Kind.CLONED, ()))
    return message


_TOGETHER = {Kind.EXPANDED: "into", Kind.FUSED: "from", Kind.OUTLINED: "from"}
_CALL, _LOOP = "call", "while"


def _with_members(
    preposition: str, groups: Sequence[ChangeGroup], cloned: Sequence[ChangeGroup]
) -> str:
    """Return how many instructions new fusions or calls were made from, or came of former ones.

    A fusion may hold a copy of what another one holds, too; that counts once. What stays outside
    is counted apart, and not where it is told as cloned.
    """
    outside = frozenset[Place]().union(*(group.copied for group in groups))
    originals = {change.before for group in cloned for change in group.changes}
    copied, members = len(outside - originals), _count_involved(groups) - len(outside)
    counted = units.plural(copied, "other" if members else "instruction")
    parts = [
        units.plural(members, "instruction") if members else "",
        f"{'a copy' if copied == 1 else 'copies'} of {counted}" if copied else "",
    ]
    words = english.listing([part for part in parts if part])
    return f" {preposition} {words}" if words else ""


def _count_involved(groups: Sequence[ChangeGroup]) -> int:
    """Return the number of instructions, where those within others are not counted again."""
    return len(set().union(*(group.involved for group in groups)))


def _absorbed(groups: Sequence[ChangeGroup], new: Sequence[ChangeGroup]) -> str:
    """Return how many fusions were merged into others, and how many calls were inlined."""
    calls = [group for group in groups if group.opcodes[BEFORE] == _CALL]
    fusions = [group for group in groups if group.opcodes[BEFORE] != _CALL]
    others = _into_fusions(fusions, new)
    inside = " into fusions" if sum(group.count for group in calls) > 1 else " into a fusion"
    return english.listing(
        [
            f"{verb} {counted(part, BEFORE)}{where}"
            for verb, part, where in (("merged", fusions, others), ("inlined", calls, inside))
            if part
        ]
    )


def _into_fusions(merged: Sequence[ChangeGroup], new: Sequence[ChangeGroup]) -> str:
    """Return into what fusions were merged; new ones are named as such."""
    created = frozenset[Place]().union(*(place for group in new for place in group.into))
    holders = [places for group in merged for places in group.into]
    inside = [places & created for places in holders if places & created]
    count = len(frozenset().union(*inside))
    if not inside:
        return " into others"
    those = _new_fusions(count, len(created))
    if len(inside) == len(holders):
        return f" into {those}"
    return f" into others ({len(inside):,} of them into {those})"


def _new_fusions(count: int, created: int) -> str:
    """Return words for some of the new fusions of a step, which are counted beside these."""
    if count < created:
        return f"{count:,} of the new fusions"
    return "the new fusion" if count == 1 else f"the {count:,} new fusions"


def _inlined(groups: Sequence[ChangeGroup]) -> str:
    """Return how many loops were unrolled, how many calls were inlined, and into how many lines.

    The lines are left out where those of some are not known.
    """
    loops = [group for group in groups if group.opcodes[BEFORE] == _LOOP]
    calls = [group for group in groups if group.opcodes[BEFORE] != _LOOP]
    return english.listing(
        [
            f"{verb} {counted(part, BEFORE)}"
            f"{_into(part) if all(map(_are_lines_known, part)) else ''}"
            for verb, part in (("unrolled", loops), ("inlined", calls))
            if part
        ]
    )


def _are_lines_known(group: ChangeGroup) -> bool:
    """Return whether it is known what calls were inlined into, which may be nothing."""
    known = (change.members or change.reason == RETURNS_ARGUMENT for change in group.changes)
    return group.members > 0 or all(known)


def _into(groups: Sequence[ChangeGroup]) -> str:
    """Return into how many instructions calls were inlined; those of calls within calls once."""
    return f" into {units.plural(_count_involved(groups), 'instruction')}"


def _combined(groups: Sequence[ChangeGroup]) -> str:
    """Return how many were combined into how many; of one, the copies that its calls give."""
    counts: Counter[str] = Counter()
    for group in groups:
        before, after = group.opcodes
        counts[wording.noun(before) if before == after else "instruction"] += group.members
    wholes = sum(group.count for group in groups)
    of_calls = "copies of " if counts.total() <= wholes else ""
    return f"combined {of_calls}{wording.counted(list(counts.items()))} into {wholes:,}"


def _cloned(groups: Sequence[ChangeGroup], new: Sequence[ChangeGroup]) -> str:
    """Return how many instructions were cloned, into how many clones if more, and how many fused.

    What a new fusion holds is counted with it: a producer is fused into each of its consumers.
    """
    counts = count_by_opcode(groups, BEFORE)
    clones = sum(group.count for group in groups)
    held = frozenset[Place]().union(*(group.involved - group.copied for group in new))
    fused = len({change.before for group in groups for change in group.changes} & held)
    parts = [f"{clones:,} clones"] * (clones > sum(count for _, count in counts))
    parts += [f"{fused:,} of the originals {'was' if fused == 1 else 'were'} fused"] * bool(fused)
    more = f" ({'; '.join(parts)})" if parts else ""
    return f"{_peeled(groups)}cloned {wording.counted(counts)}{_into_loops(groups)}{more}"


def _into_loops(groups: Sequence[ChangeGroup]) -> str:
    """Return that all clones are in loops, of what is outside; empty where some are not."""
    if not all(group.is_in_loop for group in groups):
        return ""
    homes = frozenset[str]().union(*(group.homes_after for group in groups))
    return " into loops" if len(homes) > 1 else " into a loop"


def _peeled(groups: Sequence[ChangeGroup]) -> str:
    """Return which loops were peeled or rotated for clones; empty where there are none."""
    reasons = {example.reason for group in groups for example in group.examples}
    firsts = [reason for reason in reasons if isinstance(reason, FirstIteration)]
    words = ""
    for is_rotated, done in ((False, "peeled the first iteration of"), (True, "rotated")):
        loops = sorted(first.loop for first in firsts if first.is_rotated is is_rotated)
        names = [wording.code(f"%{loop}") for loop in loops]
        words += f"{done} {english.listing(names)} and " if names else ""
    return words


def _replaced(groups: Sequence[ChangeGroup]) -> str:
    joined = [group for group in groups if wording.is_joined(group.opcodes)]
    waiting = [group for group in joined if not group.target]
    fused = [group for group in joined if group.target]
    ended = [group for group in groups if fused and group.target == ASYNC_FUSION_END]
    others = [group for group in groups if group not in joined and group not in ended]
    parts = (
        f"made {counted(waiting, AFTER)} synchronous" if waiting else "",
        f"divided {counted(fused, AFTER)} among async collective fusions" if fused else "",
        f"replaced {_replacements(others, 'with')}" if others else "",
    )
    return english.listing([part for part in parts if part])


def _rewritten(groups: Sequence[ChangeGroup]) -> str:
    return f"rewrote {_replacements(groups, 'as')}"


def _replacements(groups: Sequence[ChangeGroup], by: str) -> str:
    counts: Counter[tuple[str, str]] = Counter()
    results: Counter[tuple[str, str]] = Counter()
    for group in groups:
        new = wording.called(group.opcodes[AFTER], group.target)
        key = wording.noun(group.opcodes[BEFORE]), new
        counts[key] += count_on_side(group, BEFORE)
        results[key] += count_on_side(group, AFTER)
    ranked = counts.most_common()
    result = [
        f"{units.plural(count, old)} {by} {_result_words(new, count, results[old, new])}"
        for (old, new), count in ranked[:_PAIRS_NAMED]
    ]
    rest = sum(count for _, count in ranked[_PAIRS_NAMED:])
    return english.listing([*result, *([units.plural(rest, "other")] if rest else [])])


def _result_words(opcode: str, before: int, after: int) -> str:
    """Return what some instructions became: `a multiply`, `multiplies`, `6 multiplies`."""
    if before != after:
        return units.plural(after, opcode)
    return english.pluralize(opcode) if after > 1 else english.with_article(opcode)


def _folded(groups: Sequence[ChangeGroup]) -> str:
    into = (
        "constants" if sum(group.results or group.count for group in groups) > 1 else "a constant"
    )
    return f"folded {counted(groups, BEFORE)} into {into}"


def _hoisted(groups: Sequence[ChangeGroup]) -> str:
    return f"moved {counted(groups, BEFORE)} out of loops"


def _sunk(groups: Sequence[ChangeGroup]) -> str:
    return f"moved {counted(groups, BEFORE)} into loops"


def _swapped(groups: Sequence[ChangeGroup]) -> str:
    """Return how many moves passed others, and how many stand for them now if more."""
    counts: Counter[str] = Counter()
    for group in groups:
        counts[wording.noun(group.opcodes[BEFORE])] += count_on_side(group, BEFORE)
    results = sum(count_on_side(group, AFTER) for group in groups)
    more = f" ({results:,} results)" if results > counts.total() else ""
    return f"moved {wording.counted([*counts.items()])} past other instructions{more}"


def _moved_words(groups: Sequence[ChangeGroup]) -> str:
    """Return how many went into fusions that were there before, into branches, and out of some."""
    taken = [group for group in groups if group.is_taken_in]
    inside = [group for group in groups if group.is_in_branch]
    out = [group for group in groups if group.is_out_of_fusion]
    fusions = "fusions" if sum(group.count for group in out) > 1 else "a fusion"
    others = [group for group in groups if group not in (*taken, *inside, *out)]
    several = sum(group.count for group in inside) > 1
    branches = "branches of conditionals" if several else "a branch of a conditional"
    holders = (
        "existing fusions" if sum(group.count for group in taken) > 1 else "an existing fusion"
    )
    parts = [
        f"fused {counted(taken, BEFORE)} into {holders}" if taken else "",
        f"moved {counted(inside, BEFORE)} into {branches}" if inside else "",
        f"moved {counted(out, BEFORE)} out of {fusions}" if out else "",
        f"moved {counted(others, BEFORE)}" if others else "",
    ]
    return english.listing([part for part in parts if part])


def _shared(groups: Sequence[ChangeGroup]) -> str:
    counts = counted(groups, BEFORE)
    return f"redirected operands of {counts} to equal instructions"


def _asynchronous(groups: Sequence[ChangeGroup]) -> str:
    """Return how many became asynchronous, and how many only got starts and dones."""
    words = "made {} asynchronous", "gave {} a start and a done that run synchronously"
    return counted_apart(groups, lambda group: group.is_synchronous, *words)


def _left(groups: Sequence[ChangeGroup]) -> str:
    """Return how many lost their users because these read the operand now, and how many else."""
    words = "bypassed {}", "left {} without live users"
    return counted_apart(groups, lambda group: not group.is_bypassed, *words)


def _split(groups: Sequence[ChangeGroup]) -> str:
    """Return how many were split: dots as products and sums, quotients as products, and others."""
    summed = [group for group in groups if is_summed_product(group.opcodes)]
    quotients = [group for group in groups if is_product_by_reciprocal(group.opcodes)]
    several = sum(count_on_side(group, BEFORE) for group in summed) > 1
    result = "multiplies and reduces" if several else "a multiply and a reduce"
    divided = sum(count_on_side(group, BEFORE) for group in quotients) > 1
    product = "multiplies by reciprocals" if divided else "a multiply by a reciprocal"
    others = [group for group in groups if group not in (*summed, *quotients)]
    sorts = (
        (summed, f"rewrote {{}} as {result}"),
        (quotients, f"rewrote {{}} as {product}"),
        (others, "split {}"),
    )
    return english.listing([words.format(counted(part, BEFORE)) for part, words in sorts if part])


def _untraced(groups: Sequence[ChangeGroup]) -> str:
    """Return a phrase for removed and added instructions whose relation is not known."""
    gone = [group for group in groups if group.opcodes[BEFORE]]
    new = [group for group in groups if not group.opcodes[BEFORE]]
    return english.listing(
        [
            f"{verb} or rewrote {wording.counted(count_by_opcode(part, side))}"
            for verb, part, side in (("removed", gone, BEFORE), ("added", new, AFTER))
            if part
        ]
    )


def _unused(groups: Sequence[ChangeGroup]) -> str:
    return f"added {counted(groups, AFTER)} without live users"


_WITH_RESULT: Mapping[Kind, Callable[[Sequence[ChangeGroup]], str]] = {
    Kind.ASYNC: _asynchronous,
    Kind.CARRIED: detail_phrases.carried,
    Kind.COMBINED: _combined,
    Kind.CONFIG: attribute_phrases.configured,
    Kind.COPIED: computation_phrases.copied,
    Kind.DEFINED: computation_phrases.defined,
    Kind.FOLDED: _folded,
    Kind.HOISTED: _hoisted,
    Kind.INLINED: _inlined,
    Kind.LAYOUT: attribute_phrases.laid_out,
    Kind.LEFT: _left,
    Kind.SHARDING: attribute_phrases.sharded,
    Kind.LEFTOVER: computation_phrases.leftovers,
    Kind.MOVED: _moved_words,
    Kind.REPLACED: _replaced,
    Kind.REWRITTEN: _rewritten,
    Kind.SHARED: _shared,
    Kind.SUMMED: attribute_phrases.summed,
    Kind.SUNK: _sunk,
    Kind.SPLIT: _split,
    Kind.SWAPPED: _swapped,
    Kind.TAKEN: detail_phrases.taken,
    Kind.UNAPPLIED: computation_phrases.unapplied,
    Kind.UNCALLED: computation_phrases.uncalled,
    Kind.UNUSED: _unused,
    Kind.UNIFIED: computation_phrases.unified,
    Kind.UNTRACED: _untraced,
}
"""Phrases that say what became of the instructions."""
