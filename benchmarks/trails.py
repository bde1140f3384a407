"""The trails of heavy instructions through a tagged series, and whether they end where tags say."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from heavy import can_become, kind
from tagged import Series, tag

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import Computation, Instruction
from xlareport.knowledge.grades import Grade

_TRANSPARENT = ("transpose", "reshape", "convert", "bitcast", "copy")
"""What passes fold into the instruction that it reads, which takes its op_name then."""
_BRANCHING = (
    Relation.ASYNC,
    Relation.CLONED,
    Relation.COMBINED,
    Relation.MERGED,
    Relation.SPLIT,
)


class Direction(StrEnum):
    """Which way a trail is followed."""

    BACK = "back"
    FORWARD = "forward"


class Result(StrEnum):
    """Where a trail ended."""

    RIGHT = "right"
    WRONG = "wrong"
    LOST = "not known"


@dataclass(frozen=True, slots=True)
class Heavy:
    """A heavy instruction of a tagged snapshot."""

    opcode: str
    kind: str
    tag: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgment of one trail."""

    direction: Direction
    place: Place
    """Where it began."""
    heavy: Heavy
    wanted: frozenset[Place]
    """Where it may end."""
    ended: frozenset[Place]
    """Where it ended; empty where it broke off."""
    broken: str
    """The step at which it left the truth, in words; empty where it did not."""
    grade: Grade
    """Of its weakest step."""

    @property
    def result(self) -> Result:
        """Return whether it ended right."""
        return result(self.ended, self.wanted)


class Trails:
    """The trails through one series."""

    def __init__(self, series: Series) -> None:
        """Take a series; it is matched when trails are judged."""
        self._series = series
        self._chain = SnapshotSequence(series.stripped)
        self._last = len(series.stages) - 1
        self._origins = _Origins(series)
        self._heavy = [_heavy(series, stage) for stage in range(self._last + 1)]

    def verdicts(self) -> Iterator[Verdict]:
        """Judge each heavy instruction of both ends for which a tag says where it belongs."""
        ends = self._heavy[-1].items()
        pairs = {(origin, place) for place, heavy in ends for origin in self._origins.of(heavy)}
        for origin, heavy in self._heavy[0].items():
            wanted = frozenset(place for before, place in pairs if before == origin)
            if wanted:
                yield self._judged(Direction.FORWARD, origin, heavy, wanted)
        for place, heavy in ends:
            wanted = frozenset(before for before, after in pairs if after == place)
            if wanted:
                yield self._judged(Direction.BACK, place, heavy, wanted)

    def apart(self) -> Counter[str]:
        """Count the heavy instructions of the last snapshot that no tag joins to a first one."""
        without = [heavy for heavy in self._heavy[-1].values() if not self._origins.of(heavy)]
        reasons = ("without a tag", "with the tag of another kind")
        return Counter(f"{heavy.opcode} {reasons[heavy.tag is not None]}" for heavy in without)

    def _judged(
        self, direction: Direction, start: Place, heavy: Heavy, wanted: frozenset[Place]
    ) -> Verdict:
        back = direction is Direction.BACK
        origins = wanted if back else frozenset({start})
        here, broken, grades = frozenset({start}), "", [Grade.EXACT]
        for stage, there in way(self._chain, self._last, start, direction):
            if not broken and self._strays(stage - back, there, origins):
                broken = self._step(stage, here, there, direction)
            grades += [pairing.grade for pairing in self._pairings(stage, here, direction)]
            here = there
        return Verdict(direction, start, heavy, wanted, here, broken, max(grades, key=_order))

    def _strays(self, stage: int, places: frozenset[Place], origins: frozenset[Place]) -> bool:
        """Whether a snapshot holds the work of the origins, but at none of the places."""
        every = self._heavy[stage].items()
        holders = {place for place, heavy in every if self._origins.of(heavy) & origins}
        return bool(holders) and not holders & places

    def _step(
        self, stage: int, here: frozenset[Place], there: frozenset[Place], direction: Direction
    ) -> str:
        pairings = self._pairings(stage, here, direction)
        reasons = [f"{pairing.relation}, {pairing.grade}: {pairing.reason}" for pairing in pairings]
        stages = f"{self._series.stages[stage - 1]} -> {self._series.stages[stage]}"
        return f"step {stage} ({stages}): {listed(here)} to {listed(there)}; {'; '.join(reasons)}"

    def _pairings(self, stage: int, here: frozenset[Place], direction: Direction) -> list[Pairing]:
        matching = self._chain.into(stage)
        if matching is None:
            return []
        pairings = (_pairing(matching, place, direction) for place in sorted(here))
        return [pairing for pairing in pairings if pairing is not None]


def _order(grade: Grade) -> int:
    return [*Grade].index(grade)


class _Origins:
    """Which heavy instructions of the first snapshot a tag stands for."""

    def __init__(self, series: Series) -> None:
        self._by_tag: dict[str, dict[Place, str]] = defaultdict(dict)
        stripped = {id(instruction): place for place, instruction in series.paired(0)}
        for computation in series.tagged[0].computations:
            for instruction in computation.instructions:
                heavy = moved(computation, instruction)
                known, name = kind(heavy), tag(instruction)
                if known and name:
                    self._by_tag[name][stripped[id(heavy)]] = known

    def of(self, heavy: Heavy) -> set[Place]:
        """Return the origins of a heavy instruction; empty where its tag tells of none."""
        known = self._by_tag.get(heavy.tag or "", {})
        return {place for place, before in known.items() if can_become(before, heavy.kind)}


def way(
    chain: SnapshotSequence, last: int, start: Place, direction: Direction
) -> Iterator[tuple[int, frozenset[Place]]]:
    """Yield the steps on the way from one end to the other and where the trail is after each."""
    here = frozenset({start})
    stages = range(1, last + 1)
    for stage in stages if direction is Direction.FORWARD else reversed(stages):
        matching = chain.into(stage)
        if matching is not None:
            here = frozenset(new for old in here for new in _next(matching, old, direction))
            yield stage, here


def end(chain: SnapshotSequence, last: int, start: Place, direction: Direction) -> frozenset[Place]:
    """Return where a trail ends; nothing where it breaks off."""
    here = frozenset({start})
    for _, there in way(chain, last, start, direction):
        here = there
    return here


def result(ended: frozenset[Place], wanted: frozenset[Place]) -> Result:
    """Return whether a trail ended where it may."""
    if ended & wanted:
        return Result.RIGHT
    return Result.WRONG if ended else Result.LOST


def listed(places: frozenset[Place]) -> str:
    """Return places as words."""
    return ", ".join(map(str, sorted(places))) or "nothing"


def _heavy(series: Series, stage: int) -> dict[Place, Heavy]:
    every = ((place, instruction, kind(instruction)) for place, instruction in series.paired(stage))
    return {
        place: Heavy(instruction.opcode, known, tag(instruction))
        for place, instruction, known in every
        if known
    }


def moved(computation: Computation, instruction: Instruction) -> Instruction:
    """Return what an instruction only moves, itself where it computes."""
    while (
        instruction.opcode in _TRANSPARENT and instruction.operand_names[0] in computation.by_name
    ):
        instruction = computation.by_name[instruction.operand_names[0]]
    return instruction


def _pairing(matching: Matching, place: Place, direction: Direction) -> Pairing | None:
    back = direction is Direction.BACK
    return matching.pairing_after(place) if back else matching.pairing_before(place)


def _next(matching: Matching, place: Place, direction: Direction) -> Iterator[Place]:
    """Yield where a trail goes on: at the partner; where one became or was several, at all."""
    back = direction is Direction.BACK
    partner = matching.partner_before(place) if back else matching.partner_after(place)
    if partner is None:
        return
    yield partner
    pairing = _pairing(matching, place, direction)
    if pairing is not None and pairing.relation in _BRANCHING:
        yield from pairing.before if back else pairing.after
