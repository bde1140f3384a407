"""The sources of new fusions and calls: where their instructions were in the old module."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial

from msgspec import Struct

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import GROUPS
from xlareport.analysis.matching.sides.facts import TRANSPARENT, called_by
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade, weakest
from xlareport.runtime import english, units
from xlareport.runtime.graphs import reachable

ALONE = "the only one of its opcode in what gives its result"
"""Why an instruction goes on beside converts that a pass put around it."""
_UNMATCHED = Pairing((), (), Grade.GUESSED, "no pairing", Relation.ADDED)


class FusionSource(Struct, frozen=True):
    """The sources of a new fusion or call."""

    places: tuple[Place, ...]
    """The old places of its contents, and the old fusions that contained these."""
    sources: int
    """Number of these that are neither fusions nor calls."""
    holders: Mapping[str, int]
    """Numbers of the others by opcode."""
    held: int
    """Number of instructions inside, without nested fusions and calls; 0 if it was not read."""
    new: int
    """Number of those that have no source in the old module."""
    grade: Grade
    """EXACT only if each of those has an exact source."""
    expands: bool = False
    """Whether several of those were expanded from one."""

    @property
    def words(self) -> str:
        """Return the counts: `17 instructions, 3 fusions and 2 new`."""
        counts = [units.plural(self.sources, "instruction")]
        counts += [units.plural(count, opcode) for opcode, count in self.holders.items()]
        counts += [f"{self.new:,} new"] if self.new else []
        text = english.listing(counts)
        difference = self.held - self.new - self.sources
        if self.held and difference:
            more = "expanded" if self.expands else "copies"
            held = units.plural(self.held - self.new, "instruction")
            count = held if self.holders else f"{self.held - self.new:,}"
            text += f", as {count} ({more if difference > 0 else 'duplicates'})"
        return text


class FusionSources:
    """Finds the sources of new fusions and calls from the pairings of their instructions."""

    def __init__(
        self,
        modules: tuple[HloModule, HloModule],
        same_before: Callable[[Place], tuple[Place, ...] | None],
        pairings: Iterable[Pairing],
        budget: int,
    ) -> None:
        """Keep the places of unchanged instructions, and the pairings of all others.

        `budget` limits the lines read, because a computation can have many callers.
        """
        self._before, self._after = modules
        self._same_before = same_before
        self._budget = budget
        self._pairings: dict[Place, Pairing] = {}
        for pairing in pairings:
            if pairing.relation not in GROUPS:
                for place in pairing.after:
                    self._pairings.setdefault(place, pairing)

    def of(self, holder: Place, known: tuple[Place, ...]) -> FusionSource:
        """Return the sources of a new fusion or call; `known` are those of its body."""
        line = self._after.find(*holder)
        held = None if line is None else self._instructions_inside(line)
        former = (
            known if held is None else [place for place in known if self._opcode_of_holder(place)]
        )
        places = dict.fromkeys(former)
        new, grades = 0, []
        for place, is_holder in held or ():
            sources, grade = self._sources(place)
            places |= dict.fromkeys(sources)
            if not is_holder:
                new += not sources
                grades.append(grade if sources else Grade.MATCHED)
        opcodes = Counter(map(self._opcode_of_holder, places))
        return FusionSource(
            places=tuple(places),
            sources=opcodes[""],
            holders={opcode: count for opcode, count in opcodes.items() if opcode},
            held=len(grades),
            new=new,
            grade=weakest(grades) if grades else Grade.MATCHED,
            expands=any(self.is_expanded(place) for place, _ in held or ()),
        )

    def is_expanded(self, place: Place) -> bool:
        """Return whether a new place is one of several that an instruction was expanded into."""
        pairing = self._pairings.get(place, _UNMATCHED)
        return pairing.relation is Relation.EXPANDED

    def holds_expanded(self, holder: Instruction) -> bool:
        """Return whether a new fusion holds a part of what was expanded, or what goes on alone."""
        called = (name for _, name in holder.called if name in self._after.by_name)
        inside = reachable(called, partial(called_by, self._after))
        return not self._homes_of_expanded.isdisjoint(inside)

    @cached_property
    def _homes_of_expanded(self) -> set[str]:
        """The new computations that hold a part of what was expanded, or what goes on alone."""
        return {
            place.computation
            for place, pairing in self._pairings.items()
            if pairing.relation is Relation.EXPANDED or pairing.reason == ALONE
        }

    def taken_in(
        self, holder: Place, former: Place, absorbed: tuple[Place, ...]
    ) -> tuple[tuple[Place, ...], Grade]:
        """Return what was fused into a fusion since the old module, and the weakest grade.

        `absorbed` are the fusions that were merged into it; they come first. Constants are left
        out.
        """
        new, old = self._after.find(*holder), self._before.find(*former)
        held = None if new is None else self._instructions_inside(new)
        inside = {former.computation} if old is None else self._called_computations(old)
        places, grades = dict.fromkeys(absorbed), [Grade.EXACT]
        for place, _ in held or ():
            sources, grade = self._sources(place)
            others = [source for source in sources if self._is_taken(source, former, inside)]
            places |= dict.fromkeys(others)
            grades += [grade] * bool(others)
        return tuple(places), weakest(grades)

    def _is_taken(self, source: Place, former: Place, inside: Collection[str]) -> bool:
        """Return whether an old place is work that some computations did not contain."""
        line = self._before.find(*source)
        literal = line is None or not line.operands
        return not literal and source != former and source.computation not in inside

    def _called_computations(self, holder: Instruction) -> Collection[str]:
        """Return the computations that a line before calls, at all depths."""
        called = (name for _, name in holder.called if name in self._before.by_name)
        return {*reachable(called, partial(called_by, self._before))}

    def _sources(self, place: Place) -> tuple[tuple[Place, ...], Grade]:
        same = self._same_before(place)
        if same is not None:
            return same, Grade.EXACT
        pairing = self._pairings.get(place, _UNMATCHED)
        if place in pairing.after[1:]:
            grade = pairing.known_of(pairing.before[0], place).grade
            return self._originals(pairing, place), grade
        grades = (pairing.known_of(source, place).grade for source in pairing.before)
        return pairing.before, weakest(grades, pairing.grade)

    def _originals(self, pairing: Pairing, copy: Place) -> tuple[Place, ...]:
        """Return of which merged instructions there is a copy: those that its readers read."""
        home = self._after.by_name[copy.computation]
        readers = home.users.get(copy.instruction, ()) if len(pairing.before) > 1 else ()
        read = {
            Place(place.computation, name)
            for reader in readers
            for place in self._places_before(Place(home.name, reader.name))
            if (line := self._before.find(*place)) is not None
            for name in line.operand_names
        }
        return tuple(place for place in pairing.before if place in read) or pairing.before

    def _places_before(self, place: Place) -> tuple[Place, ...]:
        same = self._same_before(place)
        return self._pairings.get(place, _UNMATCHED).before if same is None else same

    def _instructions_inside(self, holder: Instruction) -> list[tuple[Place, bool]] | None:
        """Return all instructions inside a fusion or call, and whether each is itself one.

        None if there are more than the budget allows.
        """
        held: list[tuple[Place, bool]] = []
        names = dict.fromkeys(name for _, name in holder.called)
        waiting = [*names]
        while waiting:
            computation = self._after.by_name.get(waiting.pop())
            lines = () if computation is None else computation.instructions
            self._budget -= len(lines)
            if computation is None or self._budget < 0:
                return None
            for line in lines:
                is_holder = line.opcode in TRANSPARENT
                if line.opcode not in BOUNDARIES:
                    held.append((Place(computation.name, line.name), is_holder))
                if is_holder:
                    inner = [name for _, name in line.called if name not in names]
                    names |= dict.fromkeys(inner)
                    waiting += inner
        return held

    def _opcode_of_holder(self, place: Place) -> str:
        """Return the opcode of a place before that is a fusion or call; empty of any other."""
        line = self._before.find(*place)
        return line.opcode if line is not None and line.opcode in TRANSPARENT else ""


def outermost(module: HloModule, places: Sequence[Place]) -> tuple[Place, ...]:
    """Return the places that are not inside a fusion that is itself among them."""
    lines = (module.find(*place) for place in places)
    inside = {name for line in lines if line and line.opcode == "fusion" for _, name in line.called}
    return tuple(place for place in places if place.computation not in inside)
