"""Judges a matching by the instruction ids of protos, where those are identities.

A name that survives keeps its id, except where another instruction took the name over.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from program import program_of
from proto_ids import instruction_ids
from real_steps import Step
from rewrites import rename

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.grades import Grade

Ids = Mapping[Place, int]
_GOES_ON = frozenset({Relation.SAME, Relation.MERGED, Relation.CLONED})


@dataclass
class Truth:
    """Claims about steps, judged by ids."""

    right: Counter[Grade] = field(default_factory=Counter)
    wrong: Counter[Grade] = field(default_factory=Counter)
    unjudged: int = 0
    """Both ids are fresh: renamed and made anew look the same."""
    to_find: int = 0
    found: int = 0
    taken_over: int = 0
    """Names that survive with another id, and of which something is said."""
    told_apart: int = 0
    """Of these, how many are said to be another instruction."""

    def add(self, other: "Truth") -> None:
        """Add another's counts."""
        self.right += other.right
        self.wrong += other.wrong
        self.unjudged += other.unjudged
        self.to_find += other.to_find
        self.found += other.found
        self.taken_over += other.taken_over
        self.told_apart += other.told_apart


@dataclass
class Kept:
    """How far ids are identities: surviving names, and how many of them keep their id."""

    names: int = 0
    ids: int = 0

    @property
    def share(self) -> float:
        """Return the share that keeps its id."""
        return self.ids / self.names if self.names else 0.0

    def count(self, before: Ids, after: Ids) -> None:
        """Count the names of one step."""
        common = before.keys() & after.keys()
        self.names += len(common)
        self.ids += sum(before[place] == after[place] for place in common)


def ids_of(step: Step) -> tuple[Ids, Ids] | None:
    """Return the ids on both sides, where both snapshots were written as protos."""
    protos = step.protos()
    if protos is None:
        return None
    before, after = (
        {Place(*names): number for names, number in instruction_ids(proto).items()}
        for proto in protos
    )
    return before, after


def judge(step: Step, matching: Matching, ids: tuple[Ids, Ids]) -> Truth:
    """Compare the claims about a step with the ids."""
    return _judged(step.before, matching, ids, lambda place: place)


def judge_nameless(step: Step, ids: tuple[Ids, Ids]) -> Truth:
    """Do the same for the step with all names of the snapshot after replaced or exchanged."""
    reader = TextReader()
    original, renamed = program_of(step.after), program_of(step.after)
    rename(renamed, random.Random(step.after.name))  # noqa: S311 - repeatable on purpose
    places = zip(renamed.places(), original.places(), strict=True)
    real = {
        Place(renamed.renamed.get(body.name, body.name), line.name): Place(old.name, named.name)
        for (body, line), (old, named) in places
    }
    before = program_of(step.before).read(reader)
    matching = match(before, renamed.read(reader))
    return _judged(before, matching, ids, lambda place: real.get(place, place))


def _judged(
    module: HloModule, matching: Matching, ids: tuple[Ids, Ids], real: Callable[[Place], Place]
) -> Truth:
    before, after = ids
    now = {number: place for place, number in after.items()}
    score = Truth()
    known = set(before.values())
    for grade, here, there in _claims(matching, real):
        true = now.get(before.get(here, -1))
        if true is None and after.get(there) not in known and here != there:
            score.unjudged += 1
        else:
            (score.right if true == there else score.wrong)[grade] += 1
    for here, number in before.items():
        true = now.get(number)
        if true is not None and not _unchanged(module, matching, here, true, real):
            partner = matching.partner_after(here)
            score.to_find += 1
            score.found += partner is not None and real(partner) == true
        elif true is None and here in after:
            said = matching.pairing_before(here)
            score.taken_over += 1
            score.told_apart += said is not None and said.relation is not Relation.SAME
    return score


def _claims(
    matching: Matching, real: Callable[[Place], Place]
) -> Iterator[tuple[Grade, Place, Place]]:
    for pairing in matching.pairings:
        if pairing.relation in _GOES_ON and pairing.before and pairing.after:
            yield pairing.grade, pairing.before[0], real(pairing.after[0])


def _unchanged(
    module: HloModule,
    matching: Matching,
    here: Place,
    there: Place,
    real: Callable[[Place], Place],
) -> bool:
    """Whether a line stands on both sides, so that there is nothing to find."""
    if real(there) != there:
        return False
    home = matching.computations.get(here.computation, here.computation)
    old, new = module.find(*here), matching.after.find(*there)
    return old is None or (old is new and home == there.computation)
