"""What can be searched for in a module: every name, opcode, op_name, shape and source it ever had.

Each distinct instruction is looked at once, however many snapshots it stands in, and remembers the
first and the last of them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xlareport.analysis.source.locations import place_of
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import Computation, HloModule, Instruction

LONGEST = 1_000
"""Characters of a value; nobody searches for longer ones, and a shape may have a million."""
_SCOPES = 40
_SCOPE_DEPTH = 2

Span = tuple[int, int]
"""Numbers of the first and of the last snapshot in which something stands."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What a step did, by opcode and by name."""

    opcodes: Mapping[str, tuple[int, int, int]]
    """Instructions of each opcode that it added, removed and changed."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    """Names before and after."""


@dataclass(slots=True)
class SearchIndex:
    """Everything that a module can be searched for, with where it stands."""

    instructions: dict[str, Span] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    """The last opcode of each instruction."""
    computations: dict[str, Span] = field(default_factory=dict)
    opcodes: dict[str, Span] = field(default_factory=dict)
    op_names: dict[str, Span] = field(default_factory=dict)
    shapes: dict[str, Span] = field(default_factory=dict)
    sources: dict[str, Span] = field(default_factory=dict)

    def scopes(self) -> tuple[str, ...]:
        """Return the outermost scopes of the framework's ops, those of most ops first."""
        counts = Counter(
            "/".join(op_name.split("/")[:_SCOPE_DEPTH])
            for op_name in self.op_names
            if "/" in op_name
        )
        return tuple(name for name, _ in counts.most_common(_SCOPES))


def touched(change: StepChange) -> Touched:
    """Count what a step did by opcode; another opcode for the same work is one gone, one new."""
    counts: dict[str, list[int]] = {}
    for place, changes in enumerate((change.added, change.removed, change.modified)):
        for this_change in changes:
            for opcode, what in _told(this_change, place):
                counts.setdefault(opcode, [0, 0, 0])[what] += 1
    return Touched(
        {name: (count[0], count[1], count[2]) for name, count in counts.items()},
        tuple(sorted({change.after.instruction for change in change.added if change.after})),
        tuple(sorted({change.before.instruction for change in change.removed if change.before})),
        tuple(sorted(_names(change.modified))),
    )


def _told(change: Change, place: int) -> Iterable[tuple[str, int]]:
    before, after = change.opcodes
    if place == 0:
        return [(after, 0)]
    if place == 1:
        return [(before, 1)]
    return [(after, 2)] if before == after else [(before, 1), (after, 0)]


def _names(changes: Sequence[Change]) -> set[str]:
    places = (place for change in changes for place in (change.before, change.after))
    return {place.instruction for place in places if place is not None}


def search_index(modules: Sequence[HloModule]) -> SearchIndex:
    """Index the snapshots of a module."""
    search_index = SearchIndex()
    computations = _computations(modules)
    for computation, span in computations.items():
        _widen(search_index.computations, computation.name, span)
    origins: dict[str, tuple[Span, Instruction, HloModule]] = {}
    for instruction, span in _instructions(computations).items():
        _add(search_index, instruction, span)
        if instruction.attributes_text:
            known = origins.get(instruction.attributes_text)
            wider = _joined(known[0], span) if known else span
            origins[instruction.attributes_text] = (wider, instruction, modules[span[0]])
    for span, this_instruction, module in origins.values():
        _add_origin(search_index, this_instruction, span, module)
    return search_index


def _computations(modules: Sequence[HloModule]) -> dict[Computation, Span]:
    """Return each distinct computation with its span."""
    spans: dict[Computation, Span] = {}
    for number, module in enumerate(modules):
        for computation in module.computations:
            first, _ = spans.get(computation, (number, number))
            spans[computation] = (first, number)
    return spans


def _instructions(computations: Mapping[Computation, Span]) -> dict[Instruction, Span]:
    """Return each distinct instruction with its span."""
    spans: dict[Instruction, Span] = {}
    for computation, span in computations.items():
        for instruction in computation.instructions:
            known = spans.get(instruction)
            spans[instruction] = _joined(known, span) if known else span
    return spans


def _add(index: SearchIndex, instruction: Instruction, span: Span) -> None:
    _widen(index.instructions, instruction.name, span)
    if (
        instruction.name in index.instructions
        and index.instructions[instruction.name][1] == span[1]
    ):
        index.codes[instruction.name] = instruction.opcode
    _widen(index.opcodes, instruction.opcode, span)
    _widen(index.shapes, instruction.shape.text, span)


def _add_origin(
    index: SearchIndex, instruction: Instruction, span: Span, module: HloModule
) -> None:
    """Add the framework's op and the line of source; the module knows the stack frames."""
    _widen(index.op_names, instruction.metadata.op_name, span)
    place = place_of(instruction, module)
    if place is not None:
        _widen(index.sources, place.text, span)


def _joined(value: Span, other: Span) -> Span:
    return min(value[0], other[0]), max(value[1], other[1])


def _widen(spans: dict[str, Span], value: str, span: Span) -> None:
    """Remember that a value stands in a span as well; what is empty or too long is passed over."""
    if value and len(value) <= LONGEST:
        known = spans.get(value)
        spans[value] = _joined(known, span) if known else span
