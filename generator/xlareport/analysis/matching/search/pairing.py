"""Pairings: which instructions of two modules correspond, with grade and reason.

One type serves the steps between two snapshots, pictures, recompilations and the comparison of
dumps.
"""

from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from xlareport.analysis.matching.search.reasons import Reason
from xlareport.knowledge.grades import Grade, doubt, weakest


class Relation(StrEnum):
    """The kind of correspondence of a pairing."""

    SAME = "same"
    """One old instruction and one new instruction are the same."""
    REPLACED = "replaced"
    """Another instruction does its work now."""
    REWRITTEN = "rewritten"
    """The same work as another operation: a dot as a library call or a convolution."""
    COMBINED = "combined"
    """Several became one that does the work of all, such as a combined all-reduce."""
    SPLIT = "split"
    """One became several that do its work together; the first new one is its partner."""
    EXPANDED = "expanded"
    """One was expanded to several smaller ones; the first new one gives its result."""
    SWAPPED = "swapped"
    """The same data movement before and after an instruction that it changed places with."""
    ASYNC = "asynchronous"
    """One became a start and a done; the start is its partner."""
    MERGED = "merged"
    """Several with equal values became one."""
    CLONED = "cloned"
    """One became several copies."""
    FUSED = "fused"
    """Several were fused into one fusion (the first new one), which contains their partners."""
    ABSORBED = "absorbed"
    """A fusion whose instructions are in another fusion (the first new one) now."""
    INLINED = "inlined"
    """A call was replaced with the instructions of its computation."""
    OUTLINED = "outlined"
    """Several went into a called computation."""
    REMOVED = "removed"
    """Removed; the reason says why."""
    ADDED = "added"
    """Added; the reason says what for."""


class ChangeCause(StrEnum):
    """Why an instruction was removed or added, where that determines the kind of change.

    The values are shown to users, except PARAMETER, whose sentence needs names.
    """

    UNREAD = "it had no users"
    UNUSED = "only dead instructions used it"
    UNCALLED = "its computation had no live callers"
    ARGUMENT = "a parameter of a computation that was inlined, merged into another or removed"
    OPERAND = "a parameter for an operand that its fusion or call no longer has"
    UNMATCHED = "a parameter of a fusion or call without a counterpart"
    PARAMETER = "a parameter of a new fusion or call, or of the module"
    UNTRACED = "no counterpart was found"


class Place(NamedTuple):
    """Where an instruction is in a module: two names, without `%`."""

    computation: str
    instruction: str

    def __str__(self) -> str:
        """Return `computation/%instruction`."""
        return f"{self.computation}/%{self.instruction}"


class PairEvidence(NamedTuple):
    """How sure it is that an old place became a new one, and why."""

    grade: Grade
    reason: Reason


class Pairing(Struct):
    """Old and new instructions that correspond, n to m; not changed once the search is finished."""

    before: tuple[Place, ...]
    """Old instructions; the first is the primary partner of the first new one."""
    after: tuple[Place, ...]
    grade: Grade
    reason: Reason
    """Words for the reader: `the same expression`."""
    relation: Relation = Relation.SAME
    cause: ChangeCause | None = None
    taken_in: tuple[Place, ...] = ()
    """Old instructions that were fused into a fusion that continues; fusions come first."""
    taken_grade: Grade = Grade.EXACT
    """The weakest grade among these."""
    further: dict[tuple[Place, Place], PairEvidence] | None = None
    """Of further pairs of an old and a new place, where it is not that of the first pair."""

    def add_evidence(self, pair: tuple[Place, Place], grade: Grade, reason: Reason) -> None:
        """Note the evidence of a further pair, which is no surer than the first."""
        grade = weakest((grade, self.grade))
        if (grade, reason) != (self.grade, self.reason):
            self.further = {} if self.further is None else self.further
            self.further[pair] = PairEvidence(grade, reason)

    def known_of(self, before: Place | None, after: Place | None) -> PairEvidence:
        """Return how sure it is that a place became another, and why."""
        own = PairEvidence(self.grade, self.reason)
        if self.further is None or before is None or after is None:
            return own
        return self.further.get((before, after), own)

    @property
    def weakest(self) -> PairEvidence:
        """Return the evidence of the least certain pair, the first where several are."""
        least = PairEvidence(self.grade, self.reason)
        for known in (self.further or {}).values():
            if least.grade is Grade.GUESSED:
                break
            if doubt(known.grade) > doubt(least.grade):
                least = known
        return least
