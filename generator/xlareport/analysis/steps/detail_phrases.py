"""Phrases for changes that are counted by their details: what loops carry, what is folded."""

from collections import Counter
from collections.abc import Sequence

from xlareport.analysis.steps import wording
from xlareport.analysis.steps.details import ElementsChange, TakenIn
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.runtime import english, units


def carried(groups: Sequence[ChangeGroup]) -> str:
    """Return how many elements loops no longer carry, and how many they carry in addition."""
    details = [change.details[0] for group in groups for change in group.changes]
    carried_now = [detail for detail in details if isinstance(detail, ElementsChange)]
    counts = [elements.after - elements.before for elements in carried_now]
    fewer = [-n for n in counts if n < 0] + [loop.dropped for loop in carried_now if loop.dropped]
    more = [
        loop.after - loop.before + loop.dropped for loop in carried_now if loop.after > loop.before
    ]
    parts = [
        f"{verb} {units.plural(sum(part), 'element')} {of} {units.plural(len(part), 'loop')}"
        for verb, part, of in (("dropped", fewer, "of"), ("added", more, "to"))
        if part
    ]
    return english.listing(parts)


def taken(groups: Sequence[ChangeGroup]) -> str:
    """Return how many moves of data were folded, and into what."""
    details = [change.details[0] for group in groups for change in group.changes]
    readers = {detail.reader: detail.opcode for detail in details if isinstance(detail, TakenIn)}
    opcodes = dict.fromkeys(readers.values())
    several = english.listing([english.pluralize(opcode) for opcode in opcodes])
    single = english.with_article(next(iter(opcodes), "dot"))
    counts: Counter[str] = Counter()
    for group in groups:
        counts[wording.noun(group.opcodes[0])] += group.count
    moves = wording.counted([*counts.items()])
    return f"folded {moves} into {several if len(readers) > 1 else single}"
