"""The trail of each collective: from the first snapshot that contains it to the final one.

Matchings give the predecessor of an instruction. Where they lose a collective, its channel, op_name
and shape are compared: a pass that rewrites a collective usually keeps one of them.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.collectives.collective_figures import count_body_bytes
from xlareport.analysis.collectives.find import Collective, find_collectives
from xlareport.analysis.collectives.reductions_of_reductions import (
    are_halves,
    find_folded,
    read_reduction,
)
from xlareport.analysis.history.instruction import SnapshotSequence, sources_of
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import REDUCING_COLLECTIVES
from xlareport.hlo.shardings.device_groups import parse_groups
from xlareport.knowledge.grades import Grade, weakest


class Ancestor(Struct, frozen=True):
    """A collective in an earlier snapshot."""

    number: int
    """The index of the snapshot."""
    collective: Collective
    fold: tuple[int, tuple[str, str]] | None = None
    """The number and key of the collective that it was folded into with others; None if it was not.

    The others reduce, over further devices, what this one or another of them has reduced.
    """
    is_inner: bool = False
    """Whether another of its fold reads its result."""


class CollectiveLink(Struct, frozen=True):
    """A collective of one snapshot and its predecessors in the previous snapshot."""

    number: int
    """The index of the snapshot after."""
    before: tuple[Collective, ...]
    """Several if they were merged."""
    after: Collective
    grade: Grade
    siblings: tuple[str, ...]
    """The collectives in the later snapshot that have the same first predecessor, this one too."""
    moved: bool
    """Whether it moved to another computation although its own still exists."""
    folded: tuple[Collective, ...] = ()
    """Those of `before` whose results others of them read: one reduction does the work of all."""


class Trail(Struct, frozen=True):
    """The known history of one collective of the final snapshot."""

    links: tuple[CollectiveLink, ...]
    """Links with changes other than names, the latest first."""
    beginnings: tuple[Ancestor, ...]
    """The first snapshot of each collective that it consists of; several for a combined one."""
    grade: Grade
    """The weakest grade of all links, including unchanged ones."""


class CollectiveTrails:
    """The collectives of all snapshots up to the final one, linked between adjacent snapshots."""

    def __init__(self, snapshots: SnapshotSequence, final: int) -> None:
        """Link them; `final` is the index of the final snapshot."""
        self.modules: Sequence[HloModule] = snapshots.modules[: final + 1]
        self._links: dict[int, Mapping[tuple[str, str], CollectiveLink]] = {}
        self._by_number: dict[int, tuple[Collective, ...]] = {}
        later: tuple[Collective, ...] = self._find(final)
        for number in range(final, 0, -1):
            if not later:
                break
            earlier = self._find(number - 1)
            matching = snapshots.into(number)
            if matching is None:
                continue
            if earlier:
                self._links[number] = _linked(number, matching, earlier, later)
            else:
                self._links[number] = {}
            later = earlier
        self._final = final

    def at(self, number: int) -> tuple[Collective, ...]:
        """Return the collectives of a snapshot."""
        return self._find(number)

    def trail(self, collective: Collective) -> Trail:
        """Return the trail of a collective of the final snapshot back to its beginnings."""
        links: dict[tuple[int, tuple[str, str]], CollectiveLink] = {}
        beginnings: dict[tuple[int, tuple[str, str]], Ancestor] = {}
        grades = {Grade.EXACT}
        waiting = [Ancestor(self._final, collective)]
        seen: set[tuple[int, tuple[str, str]]] = set()
        while waiting:
            current = waiting.pop()
            number, key = current.number, current.collective.key
            if (number, key) in seen:
                continue
            seen.add((number, key))
            while number > 0 and number not in self._links:
                number -= 1
            link = self._links[number].get(key) if number > 0 else None
            if link is None:
                beginnings[number, key] = replace(current, number=number)
                continue
            grades.add(link.grade)
            if _has_changed(link):
                links[number, key] = link
            waiting.extend(_earlier(current, link))
        return Trail(
            links=tuple(sorted(links.values(), key=lambda link: -link.number)),
            beginnings=tuple(
                sorted(beginnings.values(), key=lambda beginning: beginning.collective.key)
            ),
            grade=weakest(grades),
        )

    def _find(self, number: int) -> tuple[Collective, ...]:
        if number not in self._by_number:
            same = (
                number + 1 in self._by_number and self.modules[number] is self.modules[number + 1]
            )
            self._by_number[number] = (
                self._by_number[number + 1] if same else find_collectives(self.modules[number])
            )
        return self._by_number[number]


def _earlier(current: Ancestor, link: CollectiveLink) -> Iterator[Ancestor]:
    """Yield the predecessors of a collective; what becomes of them later holds for them too."""
    fold = current.fold or ((link.number, link.after.key) if link.folded else None)
    for before in link.before:
        is_inner = current.is_inner or before in link.folded
        yield Ancestor(link.number - 1, before, fold, is_inner)


def _has_changed(link: CollectiveLink) -> bool:
    """Return whether anything changed but names."""
    first = link.before[0]
    return (
        len(link.before) > 1
        or len(link.siblings) > 1
        or link.moved
        or first.kind != link.after.kind
        or first.form != link.after.form
        or bool(first.is_sync) is not bool(link.after.is_sync)
    )


def _linked(
    number: int,
    matching: Matching,
    earlier: Sequence[Collective],
    later: Sequence[Collective],
) -> Mapping[tuple[str, str], CollectiveLink]:
    """Return links between two snapshots; collectives without one were added in between."""
    search = _Search(matching, earlier, later)
    search.same_lines()
    search.by_matching()
    search.split()
    for key, grade in (
        (_by_channel, Grade.MATCHED),
        (_by_op_name, Grade.MATCHED),
        (_by_shape, Grade.GUESSED),
    ):
        search.by_key(key, grade)
    search.combine()
    return search.links(number)


class _Search:
    """Which collectives before each collective after comes from."""

    def __init__(
        self, matching: Matching, earlier: Sequence[Collective], later: Sequence[Collective]
    ) -> None:
        self._matching = matching
        self._earlier = earlier
        self._later = later
        self._sources: dict[tuple[str, str], list[Collective]] = {}
        self._grades: dict[tuple[str, str], Grade] = {}
        self._used: set[tuple[str, str]] = set()

    def same_lines(self) -> None:
        """Link collectives whose line is equal in both snapshots."""
        before = {
            (_body(self._matching.before, former), former.computation): former
            for former in self._earlier
        }
        for after in self._later:
            same = before.get((_body(self._matching.after, after), after.computation))
            if same is not None and same.key not in self._used:
                self._link(after, [same], Grade.EXACT)

    def by_matching(self) -> None:
        """Link collectives that the matching of the snapshots pairs."""
        at = {place: former for former in self._earlier for place in _collective_places(former)}
        for after in self._open_after():
            sources: dict[tuple[str, str], Collective] = {}
            grades = {Grade.EXACT}
            for place in _collective_places(after):
                pairing = self._matching.pairing_after(place)
                for source in sources_of(self._matching, place):
                    if source in at:
                        sources.setdefault(at[source].key, at[source])
                        grades.add(pairing.weakest.grade if pairing else Grade.EXACT)
            if sources:
                grade = self._confirmed(after, list(sources.values()), weakest(grades))
                self._link(after, list(sources.values()), grade)

    def _confirmed(self, after: Collective, sources: list[Collective], grade: Grade) -> Grade:
        """Return MATCHED instead of GUESSED if a unique channel id confirms the link."""
        if grade is not Grade.GUESSED or len(sources) > 1:
            return grade
        channel = _by_channel(self._matching.after, after)
        before = [_by_channel(self._matching.before, former) for former in self._earlier]
        same = _by_channel(self._matching.before, sources[0]) == channel
        return Grade.MATCHED if channel and same and before.count(channel) == 1 else grade

    def by_key(self, key: Callable[[HloModule, Collective], Hashable], grade: Grade) -> None:
        """Link the unlinked collectives with the same key on both sides, in order."""
        waiting: dict[Hashable, list[Collective]] = defaultdict(list)
        for before in self._open_before():
            waiting[key(self._matching.before, before)].append(before)
        ambiguous = {wanted for wanted, every in waiting.items() if len(every) > 1}
        for after in self._open_after():
            wanted = key(self._matching.after, after)
            if wanted is not None and waiting.get(wanted):
                sure = Grade.GUESSED if wanted in ambiguous else grade
                self._link(after, [waiting[wanted].pop(0)], sure)

    def split(self) -> None:
        """Link each new reduction to the collective that it was one with, by its other half."""
        at = {after.body: after for after in self._later}
        for after in self._open_after():
            read = read_reduction(self._matching.after, after)
            half = at.get(read) if read else None
            sources = self._sources.get(half.key, []) if half is not None else []
            if half is not None and len(sources) == 1:
                whole = self._matching.before, sources[0]
                if are_halves(whole, [(self._matching.after, half), (self._matching.after, after)]):
                    self._link(after, sources, Grade.MATCHED)

    def combine(self) -> None:
        """Link each larger collective to the removed collectives that it combines."""
        for after in self._later:
            sources = self._sources.get(after.key)
            if not sources:
                continue
            room = _bytes(self._matching.after, after) - sum(
                _bytes(self._matching.before, source) for source in sources
            )
            gone = [
                former
                for former in self._open_before()
                if _family(former) == _family(after) and _alike(self._matching, former, after)
            ]
            taken = _fitting(gone, [_bytes(self._matching.before, former) for former in gone], room)
            if taken:
                self._link(after, [*sources, *taken], Grade.MATCHED)

    def links(self, number: int) -> Mapping[tuple[str, str], CollectiveLink]:
        """Return the links by the key of the later collective."""
        siblings: dict[tuple[str, str], list[str]] = defaultdict(list)
        for after in self._later:
            for source in self._sources.get(after.key, [])[:1]:
                siblings[source.key].append(after.instruction)
        links_of = {}
        for after in self._later:
            sources = self._sources.get(after.key, [])
            if sources:
                first = sources[0]
                links_of[after.key] = CollectiveLink(
                    number=number,
                    before=tuple(sources),
                    after=after,
                    grade=self._grades[after.key],
                    siblings=tuple(siblings[first.key]),
                    moved=self._is_moved(first, after),
                    folded=find_folded(self._matching.before, sources),
                )
        return links_of

    def _is_moved(self, before: Collective, after: Collective) -> bool:
        home = self._matching.computations.get(before.computation, before.computation)
        return home != after.computation and home in self._matching.after.by_name

    def _link(self, after: Collective, sources: list[Collective], grade: Grade) -> None:
        self._sources[after.key] = sources
        former = self._grades.get(after.key, grade)
        self._grades[after.key] = weakest({former, grade})
        self._used.update(source.key for source in sources)

    def _open_after(self) -> list[Collective]:
        return [later for later in self._later if later.key not in self._sources]

    def _open_before(self) -> list[Collective]:
        return [former for former in self._earlier if former.key not in self._used]


def _collective_places(collective: Collective) -> list[Place]:
    outer = [Place(collective.computation, name) for name in collective.parts]
    outer += [Place(*inner) for inner in collective.inner]
    return list(dict.fromkeys([Place(*collective.body), *outer]))


def _body(module: HloModule, collective: Collective) -> Instruction | None:
    return module.find(*collective.body)


def _family(collective: Collective) -> str:
    return "reducing" if collective.kind in REDUCING_COLLECTIVES else collective.kind


def _attribute(module: HloModule, collective: Collective, name: str) -> str:
    body = _body(module, collective)
    return body.attributes.get(name, "") if body else ""


def _by_channel(module: HloModule, collective: Collective) -> Hashable:
    channel = _attribute(module, collective, "channel_id")
    return (_family(collective), channel) if channel else None


def _by_op_name(module: HloModule, collective: Collective) -> Hashable:
    body = _body(module, collective)
    name = body.metadata.op_name if body else ""
    pairs = _attribute(module, collective, "source_target_pairs")
    return (_family(collective), name, _bytes(module, collective), pairs) if name else None


def _by_shape(module: HloModule, collective: Collective) -> Hashable:
    groups = _attribute(module, collective, "replica_groups")
    pairs = _attribute(module, collective, "source_target_pairs")
    return _family(collective), _bytes(module, collective), groups, pairs


def _alike(matching: Matching, before: Collective, after: Collective) -> bool:
    modules = ((matching.before, before), (matching.after, after))
    pairs, other_pairs = (_attribute(*place, "source_target_pairs") for place in modules)
    if pairs != other_pairs:
        return False
    groups = parse_groups(_attribute(matching.before, before, "replica_groups"))
    others = parse_groups(_attribute(matching.after, after, "replica_groups"))
    if groups is None or others is None or groups.groups is None or others.groups is None:
        return groups == others
    return set(map(frozenset, groups.groups)) == set(map(frozenset, others.groups))


def _bytes(module: HloModule, collective: Collective) -> int:
    return count_body_bytes(module, collective) or 0


def _fitting(gone: Sequence[Collective], sizes: Iterable[int], room: int) -> list[Collective]:
    """Return the first collectives whose sizes add up to `room` exactly; empty if none do."""
    taken: list[Collective] = []
    for former, size in zip(gone, sizes, strict=True):
        if room <= 0:
            break
        if 0 < size <= room:
            taken.append(former)
            room -= size
    return taken if room == 0 else []
