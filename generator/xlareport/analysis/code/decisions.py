"""The decisions of the GPU fusion pass, linked to final instructions.

The pass numbers its fusions, and a later pass renames them; their inner instructions keep their
names up to the last number. So each fusion is followed to its last consumer, which is searched
among the instructions of the final module.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from msgspec import Struct, field

from xlareport.hlo.graph import outside_fusions
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.readers.fusion_decisions import FusionDecision

_MOST_RENAMES = 20


class LinkedDecisions(Struct, frozen=True):
    """The decisions about an instruction of the final module."""

    decisions: tuple[FusionDecision, ...]
    """In the order of the file."""
    grade: str
    """`matched`: only one instruction has the names; `guessed`: it has the most of them."""
    results: Mapping[int, tuple[FusionDecision, ...]] | None = None
    """Those about each result of a fusion of several; None of other instructions.

    A later pass may join results that the fusion pass considered separately; a result without an
    entry is not known.
    """


class _Group(Struct):
    """The decisions that ended in one instruction, and the names of the fused instructions."""

    steps: list[tuple[int, FusionDecision]] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    """In the order of the file: of instructions with equally many names, the first is taken."""


def group_decisions(
    decisions: Iterable[FusionDecision],
    module: HloModule,
    later: Container[InstructionKey] = frozenset(),
) -> tuple[Mapping[InstructionKey, LinkedDecisions], tuple[FusionDecision, ...]]:
    """Return the decisions about each instruction of the module, and those about removed ones.

    `later` are instructions that were made after the fusion pass: no decision is about them,
    whatever their names.
    """
    steps = tuple(decisions)
    if not steps:
        return {}, ()
    owners = _Owners(module, later)
    groups_of: dict[InstructionKey, list[_Group]] = defaultdict(list)
    doubtful: set[InstructionKey] = set()
    gone: list[_Group] = []
    for group in _groups(steps):
        votes = Counter(place for name in group.names for place in owners.of(name))
        if not votes:
            gone.append(group)
            continue
        (place, most), *others = votes.most_common(2)
        groups_of[place].append(group)
        doubtful |= {place} if any(count == most for _, count in others) else set()
    linked = {
        place: LinkedDecisions(
            _steps_in_order(groups),
            "guessed" if place in doubtful else "matched",
            _by_result(module, place, groups),
        )
        for place, groups in groups_of.items()
    }
    return linked, _steps_in_order(gone)


def _groups(decisions: Iterable[FusionDecision]) -> list[_Group]:
    """Group the fusion steps by the fusion in which they ended."""
    groups: dict[str, _Group] = defaultdict(_Group)
    members: set[str] = set()
    for number, decision in enumerate(decisions):
        target = decision.fusion or decision.producer
        consumer = decision.consumers[0] if decision.fusion and decision.consumers else ""
        if consumer and consumer != target:
            _join(groups[target], groups.pop(consumer, _Group()))
        groups[target].steps.append((number, decision))
        name = consumer if decision.fusion else decision.producer
        if name and name not in members:
            groups[target].names[name] = None
        members.update({decision.fusion} - {""})
    return list(groups.values())


def _by_result(
    module: HloModule, place: InstructionKey, groups: Sequence[_Group]
) -> Mapping[int, tuple[FusionDecision, ...]] | None:
    """Return the decisions on each result, by the names of the instructions that make them."""
    line = module.find(*place)
    fused = module.callee(line) if line is not None else None
    root = None if fused is None else fused.root
    if fused is None or root is None or root.opcode != "tuple":
        return None
    stems = [{_stem(name) for name in group.names} for group in groups]
    results = {}
    for number, name in enumerate(root.operand_names):
        makers = [
            group
            for group, stem in zip(groups, stems, strict=True)
            if _is_result_of(fused, name, stem)
        ]
        if len(makers) == 1:
            results[number] = _steps_in_order(makers)
    return results


def _is_result_of(fused: Computation, name: str, stems: AbstractSet[str]) -> bool:
    """Return whether a result, or what it renames, has one of these names without its number."""
    line = fused.by_name.get(name)
    for _ in range(_MOST_RENAMES):
        if line is None or _stem(line.name) in stems:
            return line is not None
        if line.opcode not in ALIASES or not line.operand_names:
            return False
        line = fused.operand(line)
    return False


def _join(group: _Group, other: _Group) -> None:
    group.steps += other.steps
    group.names |= other.names


def _steps_in_order(groups: Iterable[_Group]) -> tuple[FusionDecision, ...]:
    steps = sorted((step for group in groups for step in group.steps), key=lambda step: step[0])
    return tuple(decision for _, decision in steps)


class _Owners:
    """The instructions outside of fusions, by the names of the instructions inside them."""

    def __init__(self, module: HloModule, later: Container[InstructionKey]) -> None:
        self._by_name: dict[str, dict[InstructionKey, None]] = defaultdict(dict)
        self._by_stem: dict[str, dict[InstructionKey, None]] = defaultdict(dict)
        for computation, instruction in outside_fusions(module):
            place = (computation.name, instruction.name)
            if place not in later:
                self._add(instruction, place, module)

    def of(self, name: str) -> Iterable[InstructionKey]:
        """Return the instructions with this name, else with the name without its last number."""
        if name in self._by_name:
            return self._by_name[name]
        stem = _stem(name)
        places = self._by_stem.get(stem, {})
        is_telling = stem[-1:].isdigit()  # `mul.19.0`; `copy.3` has a stem that all copies have
        return places if is_telling or len(places) == 1 else ()

    def _add(self, instruction: Instruction, place: InstructionKey, module: HloModule) -> None:
        inside = module.callees(instruction) if instruction.opcode == "fusion" else ()
        for inner in chain([instruction], *(fused.instructions for fused in inside)):
            if inner.opcode != "parameter" or inner is instruction:
                self._by_name[inner.name][place] = None
                self._by_stem[_stem(inner.name)][place] = None


def _stem(name: str) -> str:
    """Return a name without its last number: `mul.19.0` gives `mul.19`."""
    head, dot, last = name.rpartition(".")
    return head if dot and last.isdigit() else name
