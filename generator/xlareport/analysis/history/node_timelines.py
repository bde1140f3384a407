"""Lifetimes of instructions over the snapshots, by matching.

A node is one instruction over all snapshots, under any name, as long as matchings pair it. Only
computations that differ between two snapshots are read.
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate

from msgspec import Struct, field

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.graph import control_predecessors
from xlareport.hlo.model import Computation, HloModule, Instruction

NodeNumbers = Mapping[str, int]
"""Node numbers of a computation's instructions, by name."""

NO_NODE = -1
"""Node number of an operand whose name is not defined."""

_SAME = frozenset({Relation.SAME, Relation.REPLACED, Relation.REWRITTEN})


class NodeVersion(Struct):
    """A node over successive snapshots in which its text is the same."""

    node: int
    instruction: Instruction
    operands: tuple[int, ...]
    """The nodes that it uses, NO_NODE for a name that does not exist."""
    first: int
    """The index of the first snapshot with it."""
    end: int
    """The index of the first snapshot without it, or how many snapshots there are."""
    controls: tuple[int, ...] = ()
    """The nodes that have to run before it, NO_NODE for a name that does not exist."""
    called: tuple[tuple[str, int], ...] = ()
    """Attributes that name computations, with the numbers of their timelines."""


class ComputationTimeline(Struct):
    """A computation over all snapshots."""

    number: int
    """Its place in the list of all."""
    names: list[tuple[int, str]] = field(default_factory=list)
    """Its names, each with the index of the first snapshot that uses the name."""
    versions: list[NodeVersion] = field(default_factory=list)
    """Sorted by first snapshot."""
    frames: list[int] = field(default_factory=list)
    """Indices of the snapshots in which it is new or differs from the previous snapshot."""
    end: int = 0
    """The index of the first snapshot without it, or how many snapshots there are."""

    @property
    def name(self) -> str:
        """The last name that it had."""
        return self.names[-1][1]


def build_timelines(snapshots: SnapshotSequence) -> list[ComputationTimeline]:
    """Return the timelines of all computations, in order of appearance."""
    builder = _TimelineBuilder(len(snapshots.modules))
    for number, module in enumerate(snapshots.modules):
        matching = snapshots.into(number) if number else None
        if matching is not None or number == 0:
            builder.add(number, module, matching)
    return builder.timelines


class _TimelineBuilder:
    """Follows the computations from one snapshot to the next."""

    def __init__(self, count: int) -> None:
        self.timelines: list[ComputationTimeline] = []
        self._count = count
        self._nodes: dict[str, NodeNumbers] = {}
        self._timelines: dict[str, ComputationTimeline] = {}
        self._open: dict[int, dict[int, NodeVersion]] = {}
        self._next = 0

    def add(self, number: int, module: HloModule, matching: Matching | None) -> None:
        """Add a snapshot that differs from the previous one."""
        nodes: dict[str, NodeNumbers] = {}
        touched = _touched(matching)
        former = {
            computation.name: touched.names.get(computation.name, computation.name)
            for computation in module.computations
        }
        timelines = {name: self._timeline(number, name, old) for name, old in former.items()}
        for computation in module.computations:
            former_nodes = self._nodes.get(former[computation.name], {})
            if touched.leaves(computation, matching):
                nodes[computation.name] = former_nodes
            else:
                named = nodes[computation.name] = self._number_nodes(
                    computation, former_nodes, touched.origins.get(computation.name, {})
                )
                old = matching.before.by_name.get(former[computation.name]) if matching else None
                steady = _Steady(old.by_name if old else {}, _changed_names(former_nodes, named))
                self._record_versions(number, timelines, (computation, named), steady)
        present = {id(timeline) for timeline in timelines.values()}
        gone = {id(timeline) for timeline in self._timelines.values()} - present
        self._end(number, gone)
        self._nodes, self._timelines = nodes, timelines

    def _timeline(self, number: int, name: str, former: str) -> ComputationTimeline:
        """Return the timeline of the computation with the former name, or a new one."""
        timeline = self._timelines.pop(former, None)
        if timeline is None:
            timeline = ComputationTimeline(len(self.timelines), end=self._count)
            self.timelines.append(timeline)
            self._open[id(timeline)] = {}
        if not timeline.names or timeline.name != name:
            timeline.names.append((number, name))
        return timeline

    def _number_nodes(
        self, computation: Computation, kept: NodeNumbers, origins: Mapping[str, Place | None]
    ) -> NodeNumbers:
        """Return node numbers of instructions: that of the predecessor, else a new one."""
        taken: set[int] = set()
        named: dict[str, int] = {}
        for instruction in computation.instructions:
            name = instruction.name
            node = self._node_at(origins[name]) if name in origins else kept.get(name)
            if node is None or node in taken:
                node, self._next = self._next, self._next + 1
            taken.add(node)
            named[name] = node
        return named

    def _node_at(self, place: Place | None) -> int | None:
        return self._nodes.get(place.computation, {}).get(place.instruction) if place else None

    def _record_versions(
        self,
        number: int,
        timelines: Mapping[str, ComputationTimeline],
        named: tuple[Computation, NodeNumbers],
        steady: "_Steady",
    ) -> None:
        """Begin and end the versions of a computation that differs."""
        computation, nodes = named
        timeline = timelines[computation.name]
        before = self._open[id(timeline)]
        now: dict[int, NodeVersion] = {}
        for instruction in computation.instructions:
            node = nodes[instruction.name]
            former = before.get(node)
            if former is None or not steady.reads_alike(instruction):
                version = _version(number, instruction, nodes, timelines)
                if former is None or not _alike(former, version):
                    former = version
                    version.end = self._count
                    timeline.versions.append(version)
            now[node] = former
        for node, version in before.items():
            if now.get(node) is not version:
                version.end = number
        self._open[id(timeline)] = now
        timeline.frames.append(number)

    def _end(self, number: int, gone: set[int]) -> None:
        """End the timelines of computations that are no longer there."""
        for timeline in self._timelines.values():
            if id(timeline) in gone:
                timeline.end = number
                for version in self._open[id(timeline)].values():
                    version.end = number


def _changed_names(kept: NodeNumbers, named: NodeNumbers) -> frozenset[str]:
    """Return the names whose node differs, or that only one of the snapshots has."""
    return frozenset(name for name, _ in kept.items() ^ named.items())


class _Steady(Struct, frozen=True):
    """The unchanged instructions of a changed computation, compared with the previous snapshot."""

    before: Mapping[str, Instruction]
    """The instructions that it had, by name."""
    moved: frozenset[str]
    """Names of another node than before."""

    def reads_alike(self, instruction: Instruction) -> bool:
        """Whether a line is the same, with operands of the same nodes, and refers to no more."""
        return (
            self.before.get(instruction.name) is instruction
            and instruction.name not in self.moved
            and self.moved.isdisjoint(instruction.operand_names)
            and not instruction.called
            and "control-predecessors" not in instruction.attributes_text
        )


class _Touched(Struct, frozen=True):
    """The computations and instructions of a snapshot that its matching covers."""

    names: Mapping[str, str]
    """Previous names of computations, by their new names."""
    origins: Mapping[str, Mapping[str, Place | None]]
    """Predecessors of the instructions that pairings cover, by computation and name."""

    def leaves(self, computation: Computation, matching: Matching | None) -> bool:
        """Return whether a computation is the same object as before, without pairings."""
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
    """Yield each new place that a pairing covers, with its primary predecessor or None."""
    for pairing in matching.pairings:
        for place in pairing.after:
            pair = matching.pairing_after(place)
            same = pair and pair.relation in _SAME and pair.before and pair.after[0] == place
            yield place, pair.before[0] if pair and same else None


def _version(
    number: int,
    instruction: Instruction,
    nodes: NodeNumbers,
    timelines: Mapping[str, ComputationTimeline],
) -> NodeVersion:
    """Return the version of an instruction that begins at a snapshot; its end is set later."""
    controls: tuple[str, ...] = ()
    if "control-predecessors" in instruction.attributes_text:
        controls = control_predecessors(instruction)
    called = [
        (role, timelines[name].number) for role, name in instruction.called if name in timelines
    ]
    return NodeVersion(
        nodes[instruction.name],
        instruction,
        tuple([nodes.get(name, NO_NODE) for name in instruction.operand_names]),
        number,
        number,
        tuple([nodes.get(name, NO_NODE) for name in controls]),
        tuple(called),
    )


def _alike(node_version: NodeVersion, other: NodeVersion) -> bool:
    """Return whether two versions of a node read the same in a picture."""
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
    for version in timeline.versions:
        change[version.first] = change.get(version.first, 0) + 1
        change[version.end] = change.get(version.end, 0) - 1
    return max(accumulate(change[number] for number in sorted(change)), default=0)
