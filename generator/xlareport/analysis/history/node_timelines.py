"""The lives of instructions: from which snapshot to which each one lasts, and in which forms.

An instruction lives on as long as matchings pair it, under whatever name. Only computations that
differ between two snapshots are looked at.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.matching.pairing import Place, Relation
from xlareport.analysis.matching.result import Matching
from xlareport.hlo.graph import control_predecessors
from xlareport.hlo.model import Computation, HloModule, Instruction

Lives = Mapping[str, int]
"""The number of the life of each instruction of a computation, by name."""

NOBODY = -1
"""Stands for a life where an operand names nothing."""

_SAME = frozenset({Relation.SAME, Relation.REPLACED, Relation.REWRITTEN})


@dataclass(slots=True)
class NodeVersion:
    """What a life is over some neighbouring snapshots."""

    life: int
    instruction: Instruction
    operands: tuple[int, ...]
    """The lives that it uses, NOBODY for a name that does not exist."""
    first: int
    """The index of the first snapshot with it."""
    end: int
    """The index of the first snapshot without it, or how many snapshots there are."""
    controls: tuple[int, ...] = ()
    """The lives that have to run before it, NOBODY for a name that does not exist."""
    called: tuple[tuple[str, int], ...] = ()
    """Attributes that name computations, with the numbers of their timelines."""


@dataclass(slots=True)
class ComputationTimeline:
    """One computation over all snapshots."""

    number: int
    """Its place in the list of all."""
    names: list[tuple[int, str]] = field(default_factory=list)
    """The names that it had, each with the index of the first snapshot in which it did."""
    forms: list[NodeVersion] = field(default_factory=list)
    """In the order in which they begin."""
    frames: list[int] = field(default_factory=list)
    """The indices of the snapshots in which it is new or differs from the one before."""
    end: int = 0
    """The index of the first snapshot without it, or how many snapshots there are."""

    @property
    def name(self) -> str:
        """The last name that it had."""
        return self.names[-1][1]


def build_timelines(snapshots: SnapshotSequence) -> list[ComputationTimeline]:
    """Return the timelines of all computations, in the order in which they come up."""
    camera = _Camera(len(snapshots.modules))
    for number, module in enumerate(snapshots.modules):
        matching = snapshots.into(number) if number else None
        if matching is not None or number == 0:
            camera.take(number, module, matching)
    return camera.timelines


class _Camera:
    """Follows the computations from one snapshot to the next."""

    def __init__(self, count: int) -> None:
        self.timelines: list[ComputationTimeline] = []
        self._count = count
        self._lives: dict[str, Lives] = {}
        self._rolls: dict[str, ComputationTimeline] = {}
        self._open: dict[int, dict[int, NodeVersion]] = {}
        self._next = 0

    def take(self, number: int, module: HloModule, matching: Matching | None) -> None:
        """Take in a snapshot that differs from the one before."""
        lives: dict[str, Lives] = {}
        touched = _touched(matching)
        former = {
            computation.name: touched.names.get(computation.name, computation.name)
            for computation in module.computations
        }
        rolls = {name: self._roll(number, name, old) for name, old in former.items()}
        for computation in module.computations:
            kept = self._lives.get(former[computation.name], {})
            if touched.leaves(computation, matching):
                lives[computation.name] = kept
            else:
                named = lives[computation.name] = self._named(
                    computation, kept, touched.origins.get(computation.name, {})
                )
                old = matching.before.by_name.get(former[computation.name]) if matching else None
                steady = _Steady(old.by_name if old else {}, _moved(kept, named))
                self._record_versions(number, rolls, (computation, named), steady)
        gone = {id(roll) for roll in self._rolls.values()} - {id(roll) for roll in rolls.values()}
        self._end(number, gone)
        self._lives, self._rolls = lives, rolls

    def _roll(self, number: int, name: str, former: str) -> ComputationTimeline:
        """Return the timeline of a computation by the name that it had; a new one if none did."""
        roll = self._rolls.pop(former, None)
        if roll is None:
            roll = ComputationTimeline(len(self.timelines), end=self._count)
            self.timelines.append(roll)
            self._open[id(roll)] = {}
        if not roll.names or roll.name != name:
            roll.names.append((number, name))
        return roll

    def _named(
        self, computation: Computation, kept: Lives, origins: Mapping[str, Place | None]
    ) -> Lives:
        """Give each instruction the life of what it was, or a new one."""
        taken: set[int] = set()
        named: dict[str, int] = {}
        for instruction in computation.instructions:
            name = instruction.name
            life = self._life_at(origins[name]) if name in origins else kept.get(name)
            if life is None or life in taken:
                life, self._next = self._next, self._next + 1
            taken.add(life)
            named[name] = life
        return named

    def _life_at(self, place: Place | None) -> int | None:
        return self._lives.get(place.computation, {}).get(place.instruction) if place else None

    def _record_versions(
        self,
        number: int,
        rolls: Mapping[str, ComputationTimeline],
        named: tuple[Computation, Lives],
        steady: "_Steady",
    ) -> None:
        """Begin and end the forms of a computation that differs."""
        computation, lives = named
        roll = rolls[computation.name]
        before = self._open[id(roll)]
        now: dict[int, NodeVersion] = {}
        for instruction in computation.instructions:
            life = lives[instruction.name]
            former = before.get(life)
            if former is None or not steady.reads_alike(instruction):
                form = _form(number, instruction, lives, rolls)
                if former is None or not _alike(former, form):
                    former = form
                    form.end = self._count
                    roll.forms.append(form)
            now[life] = former
        for life, form in before.items():
            if now.get(life) is not form:
                form.end = number
        self._open[id(roll)] = now
        roll.frames.append(number)

    def _end(self, number: int, gone: set[int]) -> None:
        """End the timelines of computations that are no longer there."""
        for roll in self._rolls.values():
            if id(roll) in gone:
                roll.end = number
                for form in self._open[id(roll)].values():
                    form.end = number


def _moved(kept: Lives, named: Lives) -> frozenset[str]:
    """Return the names in a computation that have another life than before, or only one of both."""
    return frozenset(name for name, _ in kept.items() ^ named.items())


@dataclass(frozen=True, slots=True)
class _Steady:
    """What in a computation that differs is as it was in the snapshot before."""

    before: Mapping[str, Instruction]
    """The instructions that it had, by name."""
    moved: frozenset[str]
    """Names of another life than before."""

    def reads_alike(self, instruction: Instruction) -> bool:
        """Whether a line is the same, with operands of the same lives, and refers to no more."""
        return (
            self.before.get(instruction.name) is instruction
            and instruction.name not in self.moved
            and self.moved.isdisjoint(instruction.operand_names)
            and not instruction.called
            and "control-predecessors" not in instruction.attributes_text
        )


@dataclass(frozen=True, slots=True)
class _Touched:
    """What a matching says of the snapshot after it."""

    names: Mapping[str, str]
    """Names that computations had before, by the new ones."""
    origins: Mapping[str, Mapping[str, Place | None]]
    """What the instructions of which pairings speak were, by computation and name."""

    def leaves(self, computation: Computation, matching: Matching | None) -> bool:
        """Return whether a computation is the one before, with nothing to tell of it."""
        if matching is None or computation.name in self.origins:
            return False
        return matching.before.by_name.get(computation.name) is computation


def _touched(matching: Matching | None) -> _Touched:
    if matching is None:
        return _Touched({}, {})
    origins: dict[str, dict[str, Place | None]] = {}
    for place, origin in _origins(matching):
        origins.setdefault(place.computation, {})[place.instruction] = origin
    return _Touched({new: old for old, new in matching.computations.items()}, origins)


def _origins(matching: Matching) -> Iterator[tuple[Place, Place | None]]:
    """Yield what each place was of which a pairing speaks: its primary partner, if it is its."""
    for pairing in matching.pairings:
        for place in pairing.after:
            result = matching.pairing_after(place)
            same = (
                result and result.relation in _SAME and result.before and result.after[0] == place
            )
            yield place, result.before[0] if result and same else None


def _form(
    number: int, instruction: Instruction, lives: Lives, rolls: Mapping[str, ComputationTimeline]
) -> NodeVersion:
    """Return what an instruction is from a snapshot on; how long, is not known yet."""
    controls: tuple[str, ...] = ()
    if "control-predecessors" in instruction.attributes_text:
        controls = control_predecessors(instruction)
    return NodeVersion(
        lives[instruction.name],
        instruction,
        tuple(lives.get(name, NOBODY) for name in instruction.operand_names),
        number,
        number,
        tuple(lives.get(name, NOBODY) for name in controls),
        tuple(
            (attribute, rolls[name].number)
            for attribute, name in instruction.called
            if name in rolls
        ),
    )


def _alike(node_version: NodeVersion, other: NodeVersion) -> bool:
    """Return whether two forms of a life read the same in a picture."""
    if (node_version.operands, node_version.controls, node_version.called) != (
        other.operands,
        other.controls,
        other.called,
    ):
        return False
    was, now = node_version.instruction, other.instruction
    return was is now or (
        was.name == now.name and was.opcode == now.opcode and was.shape is now.shape
    )


def most_at_once(timeline: ComputationTimeline) -> int:
    """Return how many instructions the computation has at most."""
    change: dict[int, int] = {}
    for form in timeline.forms:
        change[form.first] = change.get(form.first, 0) + 1
        change[form.end] = change.get(form.end, 0) - 1
    return max(accumulate(change[number] for number in sorted(change)), default=0)
