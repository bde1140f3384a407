"""The result of a matching: all pairings but identity, and the partner of any instruction."""

from collections.abc import Collection, Mapping

from msgspec import Struct, field

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.reasons import DoneBy
from xlareport.hlo.model import HloModule

LooseMatching = tuple[Mapping[str, str], tuple[Pairing, ...]]
"""The computations and pairings of a matching, without the modules that it is about."""
LooseMatchings = Mapping[tuple[str, str], LooseMatching]
"""By the paths of the files that the two modules were read from."""


class Matching(Struct):
    """The pairings between two modules; equal parts correspond to themselves without one."""

    before: HloModule
    after: HloModule
    computations: Mapping[str, str]
    """Names of computations that differ and continue each other, by old name."""
    pairings: tuple[Pairing, ...]
    """In the order of the old module; additions come last."""
    same_program: bool = True
    """Both are of one compilation, or of two of one program."""
    _by_before: dict[tuple[str, str], Pairing] = field(default_factory=dict)
    _by_after: dict[tuple[str, str], Pairing] = field(default_factory=dict)

    _taken_over: dict[tuple[str, str], list[Place]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index the pairings by their places; pairings that name a partner take precedence."""
        for pairing in self.pairings:
            if isinstance(pairing.reason, DoneBy):
                whole = pairing.reason.computation, pairing.reason.instruction
                self._taken_over.setdefault(whole, []).append(pairing.before[0])
            for place in pairing.before:
                _prefer(self._by_before, place, pairing)
            for place in pairing.after if pairing.relation is not Relation.ABSORBED else ():
                _prefer(self._by_after, place, pairing)
        self._continued = {new: old for old, new in self.computations.items()}

    _continued: dict[str, str] = field(default_factory=dict)

    def pairing_before(self, place: Place) -> Pairing | None:
        """Return the pairing of an instruction of the old module; None if it is unchanged."""
        return self._by_before.get(place)

    def pairing_after(self, place: Place) -> Pairing | None:
        """Return the pairing of an instruction of the new module; None if it is unchanged."""
        return self._by_after.get(place)

    def taken_over(self, place: Place) -> Collection[Place]:
        """Return the removed old instructions whose work a new one does beside its own."""
        return self._taken_over.get(place, ())

    @property
    def spoken_of_before(self) -> Collection[tuple[str, str]]:
        """Old places that a pairing covers."""
        return self._by_before.keys()

    @property
    def spoken_of_after(self) -> Collection[tuple[str, str]]:
        """New places that a pairing covers."""
        return self._by_after.keys()

    def partner_after(self, place: Place) -> Place | None:
        """Return the primary partner of an old instruction; None if it was removed."""
        pairing = self._by_before.get(place)
        if pairing is not None:
            return pairing.after[0] if pairing.after and pairing.relation not in _HOLDERS else None
        name = self.computations.get(place.computation, place.computation)
        return _existing(self.after, name, place) or _existing(self.after, place.computation, place)

    def name_after(self, before: str, name: str, after: str) -> str | None:
        """Return the name of an old instruction's partner; None if `after` does not contain it.

        `before` and `after` are computations. No place is made, as whole computations are asked.
        """
        pairing = self._by_before.get((before, name))
        if pairing is not None:
            if not pairing.after or pairing.relation in _HOLDERS:
                return None
            partner = pairing.after[0]
            return partner.instruction if partner.computation == after else None
        if self.computations.get(before, before) != after:
            return None
        home = self.after.by_name.get(after)
        return name if home is not None and name in home.by_name else None

    def partner_before(self, place: Place) -> Place | None:
        """Return the primary partner of a place after, None where it is new."""
        pairing = self._by_after.get(place)
        if pairing is not None:
            known = pairing.before and pairing.relation not in _HOLDERS
            return pairing.before[0] if known else None
        name = self.computation_before(place.computation)
        return _existing(self.before, name, place)

    def computation_before(self, name: str) -> str:
        """Return the old name of a new computation; the same name if it has no other."""
        return self._continued.get(name, name)

    @property
    def removed(self) -> tuple[Place, ...]:
        """Places that are only before."""
        return tuple(pairing.before[0] for pairing in self.pairings if not pairing.after)

    @property
    def added(self) -> tuple[Place, ...]:
        """Places that are only after."""
        return tuple(pairing.after[0] for pairing in self.pairings if not pairing.before)


_HOLDERS = frozenset({Relation.FUSED, Relation.INLINED, Relation.OUTLINED})
GROUPS = _HOLDERS | {Relation.ABSORBED}
"""Relations that describe the contents of a fusion or call rather than a partner."""
_PARTNERS = frozenset(Relation) - GROUPS - {Relation.ADDED, Relation.REMOVED}


def _prefer(index: dict[tuple[str, str], Pairing], place: Place, pairing: Pairing) -> None:
    """Index a pairing, preferring one that names a partner over one that describes contents."""
    known = index.get(place)
    if known is None or (known.relation not in _PARTNERS and pairing.relation in _PARTNERS):
        index[place] = pairing


def _existing(module: HloModule, name: str, place: Place) -> Place | None:
    """Return the place of the same instruction in the computation of a name, if it is there."""
    computation = module.by_name.get(name)
    if computation is None or place.instruction not in computation.by_name:
        return None
    return place if name == place.computation else Place(name, place.instruction)
