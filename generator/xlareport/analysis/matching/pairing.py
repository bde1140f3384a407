"""Pairings: what an instruction of one module is in another, how surely, and why.

One type serves the steps between two snapshots, pictures, retraces and the comparison of dumps.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from xlareport.knowledge.grades import Grade, doubt


class Relation(StrEnum):
    """What a pairing says of its two sides."""

    SAME = "same"
    """One instruction here, the same one there."""
    REPLACED = "replaced"
    """Another instruction does its work now."""
    REWRITTEN = "rewritten"
    """The same work as another operation: a dot as a library call or a convolution."""
    COMBINED = "combined"
    """Several became one that does the work of all: all-reduces as one with several operands."""
    SPLIT = "split"
    """One became several that do its work together; the first after is its partner."""
    EXPANDED = "expanded"
    """One became several smaller ones; the first after gives its result, the rest are new."""
    SWAPPED = "swapped"
    """The same move of data, done after what read its result before, or the reverse."""
    ASYNC = "asynchronous"
    """One became a start and a done; the start is its partner."""
    MERGED = "merged"
    """Several that computed the same became one."""
    CLONED = "cloned"
    """One became several copies."""
    FUSED = "fused"
    """Several went into one fusion (the first after), where their partners are."""
    ABSORBED = "absorbed"
    """A fusion whose instructions another fusion (the first after) holds now."""
    INLINED = "inlined"
    """A call was replaced by what it called."""
    OUTLINED = "outlined"
    """Several went into a called computation."""
    REMOVED = "removed"
    """Gone; the reason says why."""
    ADDED = "added"
    """New; the reason says what for."""


class ChangeCause(StrEnum):
    """Why something is only before or only after, where that decides what kind of change it is.

    The values are words for the reader, those of PARAMETER apart, which need names.
    """

    UNREAD = "it had no users"
    UNUSED = "only dead instructions used it"
    UNCALLED = "its computation had no callers"
    ARGUMENT = "a parameter of an inlined computation"
    PARAMETER = "a parameter of a new fusion or call, or of the module"
    UNTRACED = "no counterpart was found"


class Place(NamedTuple):
    """Where an instruction is in a module: two names, without `%`."""

    computation: str
    instruction: str

    def __str__(self) -> str:
        """Return `computation/%instruction`."""
        return f"{self.computation}/%{self.instruction}"


class Doubt(NamedTuple):
    """What is said of a further copy or duplicate that is less sure than the first pair."""

    grade: Grade
    reason: str


@dataclass(slots=True)
class Pairing:
    """Instructions of one module and what they are in another, n to m; never changed once made."""

    before: tuple[Place, ...]
    """The first one is the primary partner of the first one after."""
    after: tuple[Place, ...]
    grade: Grade
    reason: str
    """Words for the reader: `the same expression`."""
    relation: Relation = Relation.SAME
    cause: ChangeCause | None = None
    taken_in: tuple[Place, ...] = ()
    """What a fusion that goes on holds since then; other fusions before what they held."""
    taken_grade: Grade = Grade.EXACT
    """How sure the least sure of that is."""
    doubts: dict[tuple[Place, Place], Doubt] | None = field(default=None, repr=False)
    """Of pairs of a place before and one after that are less sure than the first."""

    def add_doubt(self, pair: tuple[Place, Place], grade: Grade, reason: str) -> None:
        """Note the grade of a further pair, if it is less sure than the first or moved as well."""
        if doubt(grade) > doubt(self.grade) or self.relation is Relation.SWAPPED:
            self.doubts = {**(self.doubts or {}), pair: Doubt(grade, reason)}

    def known_of(self, before: Place | None, after: Place | None) -> Doubt:
        """Return how sure it is that a place became another, and why."""
        own = Doubt(self.grade, self.reason)
        if self.doubts is None or before is None or after is None:
            return own
        return self.doubts.get((before, after), own)

    @property
    def weakest(self) -> Doubt:
        """Return what is said of the least sure pair."""
        every = (Doubt(self.grade, self.reason), *(self.doubts or {}).values())
        return max(every, key=lambda known: doubt(known.grade))
