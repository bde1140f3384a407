"""Values on both sides of a step that its description does not connect, found by running both.

An instruction is asked about if the step tells of it and it computes at least eight floats: not a
move, a parameter or a fill value. Both sides run in 64 bits on the same random inputs. Where its
value is on the other side, the description has to name a place of that value: as its partner, or in
the reason or the detail of its row. Not counted is what only happens to be equal: an instruction of
which an equal one beside it has a counterpart, and no reader of which reads the value now; nor what
had no users.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from value_programs import UnusableError, ValueProgram

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import HloModule, Instruction

CLASSES = Path(__file__).with_name("run_classes.py")
_NAME = re.compile(r"%([\w.\-]+)")
_SIZES = re.compile(r"\[([\d,]*)\]")
_MOST_ELEMENTS = 20_000_000
"""Of all arrays of a program together."""
_FEWEST = 8
_QUIET = frozenset(
    {
        *(Kind.ARGUMENT, Kind.CONFIG, Kind.LAYOUT, Kind.METADATA, Kind.MOVED, Kind.PARAMETER),
        *(Kind.REDIRECTED, Kind.RENAMED, Kind.REORDERED, Kind.REWIRED, Kind.SHARDING, Kind.SPACE),
    }
)
"""Kinds of changes that no value depends on."""
_MOVES = frozenset(
    {
        *("bitcast", "broadcast", "call", "conditional", "constant", "convert", "copy"),
        *("copy-done", "copy-start", "fusion", "get-tuple-element", "iota", "parameter"),
        *("reshape", "transpose", "tuple", "while"),
    }
)
_HOLDING = frozenset({"call", "conditional", "fusion", "tuple", "while"})
_UNREAD = "it had no users"

Places = tuple[tuple[Place, ...], ...]
"""For each output of a program, the instructions that have its value."""


@dataclass(frozen=True)
class Outcome:
    """What became known of an instruction that a step tells of."""

    place: Place
    told: str
    """Its fate: removed, added, not known, or continued."""
    row: Change
    others: tuple[Place, ...]
    """What has its value on the other side."""
    missed: bool
    """Whether the description connects it with none of these."""


@dataclass(frozen=True)
class ClassQuestion:
    """The programs of a pair of computations, and the instructions that their outputs are of."""

    told: "ToldStep"
    programs: tuple[ValueProgram, ValueProgram]
    places: tuple[Places, Places]
    asked: str

    def outcomes(self, answer: Mapping[str, Sequence[int | None]]) -> Iterator[Outcome]:
        """Yield what an answer of the runner says of each instruction that is asked about."""
        of = [
            {
                place: number
                for group, number in zip(places, answer.get(key, ()), strict=False)
                for place in group
                if number is not None
            }
            for places, key in zip(self.places, ("before", "after"), strict=True)
        ]
        known = [_inverse(numbers) for numbers in of]
        for side in (0, 1):
            for place, row in self.told.asked[side].items():
                number = of[side].get(place)
                if number is None:
                    continue
                others = known[1 - side].get(number, ())
                beside = known[side][number]
                first = not any(
                    of[side].get(Place(place.computation, name)) == number
                    for name in self.told.line(side, place).operand_names
                )
                missed = first and self._is_missed(side, place, others, beside)
                yield Outcome(place, _fate(row), row, tuple(others), missed)

    def _is_missed(
        self, side: int, place: Place, others: Sequence[Place], beside: Sequence[Place]
    ) -> bool:
        told = self.told
        if not others or any(told.connects(side, place, other) for other in others):
            return False
        partner = told.partner(side, place)
        if partner is not None and partner not in self.programs[1 - side].variables:
            return False
        linked = any(told.connects(side, one, other) for one in beside for other in others)
        if linked and not told.is_read_as(side, place, others):
            return False
        return partner is not None or str(told.asked[side][place].reason) != _UNREAD


class ToldStep:
    """What a step tells: of which instructions, and what it connects with what."""

    def __init__(self, change: StepChange, matching: Matching) -> None:
        """Take a change and its matching, which is there."""
        self._change = change
        self.matching = matching
        self._modules: tuple[HloModule, HloModule] = (matching.before, matching.after)

    @cached_property
    def asked(self) -> tuple[dict[Place, Change], dict[Place, Change]]:
        """The instructions before and after that are asked about, with their first rows."""
        known: tuple[dict[Place, Change], dict[Place, Change]] = ({}, {})
        for row in self._change.changes:
            for side, place in enumerate((row.before, row.after)):
                if place is None or row.kind in _QUIET or row.numbering:
                    continue
                if _computes(self._modules[side].find(*place)):
                    known[side].setdefault(place, row)
        return known

    def line(self, side: int, place: Place) -> Instruction:
        """Return the instruction at a place; LookupError where there is none."""
        return self._modules[side].by_name[place.computation].by_name[place.instruction]

    def partner(self, side: int, place: Place) -> Place | None:
        """Return the primary partner of an instruction on the other side."""
        matching = self.matching
        return matching.partner_after(place) if side == 0 else matching.partner_before(place)

    def connects(self, side: int, place: Place, other: Place) -> bool:
        """Return whether an instruction of a side is told in connection with another."""
        if self.partner(side, place) == other or other in self._linked[side].get(place, ()):
            return True
        names = self._names
        return other.instruction in names[side].get(place, ()) or place.instruction in names[
            1 - side
        ].get(other, ())

    def is_read_as(self, side: int, place: Place, others: Iterable[Place]) -> bool:
        """Return whether the counterpart of a reader of an instruction reads one of the others."""
        home = self._modules[side].by_name[place.computation]
        names = {other.instruction for other in others}
        for user in home.users.get(place.instruction, ()):
            partner = self.partner(side, Place(place.computation, user.name))
            line = None if partner is None else self._modules[1 - side].find(*partner)
            reads = line is not None and line.opcode not in _HOLDING
            if line is not None and reads and names.intersection(line.operand_names):
                return True
        return False

    @cached_property
    def _linked(self) -> tuple[dict[Place, set[Place]], dict[Place, set[Place]]]:
        links: tuple[dict[Place, set[Place]], dict[Place, set[Place]]] = ({}, {})
        for pairing in self.matching.pairings:
            old, new = (*pairing.before, *pairing.taken_in), pairing.after
            for one, other, known in ((old, new, links[0]), (new, old, links[1])):
                for place in one:
                    known.setdefault(place, set()).update(other)
        return links

    @cached_property
    def _names(self) -> tuple[dict[Place, set[str]], dict[Place, set[str]]]:
        """The names in the rows of each instruction, in reasons, details and members."""
        known: tuple[dict[Place, set[str]], dict[Place, set[str]]] = ({}, {})
        for row in self._change.changes:
            text = " ".join(map(str, (row.reason, *row.details)))
            names = {*_NAME.findall(text), *(member.instruction for member in row.members)}
            for side, place in enumerate((row.before, row.after)):
                if place is not None:
                    known[side].setdefault(place, set()).update(names)
        return known


def class_questions(
    change: StepChange, roots: Iterable[tuple[str, str]]
) -> Iterator[ClassQuestion]:
    """Yield the programs of pairs of computations that hold what a step tells of."""
    if change.matching is None:
        return
    told = ToldStep(change, change.matching)
    for former, root in roots if any(told.asked) else ():
        try:
            programs = (
                ValueProgram(change.matching.before, former, widened=True),
                ValueProgram(change.matching.after, root, widened=True),
            )
        except (UnusableError, LookupError, ValueError):
            continue
        if all(sum(map(_count, one.shapes.values())) <= _MOST_ELEMENTS for one in programs):
            yield from _class_question(told, programs)


def _class_question(
    told: ToldStep, programs: tuple[ValueProgram, ValueProgram]
) -> Iterator[ClassQuestion]:
    sizes = {
        _count(program.shapes[program.variables[place]])
        for program, asked in zip(programs, told.asked, strict=True)
        for place in asked
        if place in program.variables
    }
    if not sizes:
        return
    keys = shared_inputs(told.matching, *programs)
    outputs = [_outputs(program, sizes) for program in programs]
    (old_text, old_inputs), (new_text, new_inputs) = (
        program.text([*known]) for program, known in zip(programs, outputs, strict=True)
    )
    before, after = (program.sources for program in programs)
    message = {
        "before": old_text,
        "after": new_text,
        "inputs_before": [
            (keys.get(name, f"{name} old"), before[name].shape) for name in old_inputs
        ],
        "inputs_after": [(name, after[name].shape) for name in new_inputs],
        "count": len(outputs[0]),
    }
    places = tuple(map(tuple, outputs[0].values())), tuple(map(tuple, outputs[1].values()))
    yield ClassQuestion(told, programs, places, json.dumps(message))


def shared_inputs(matching: Matching, before: ValueProgram, after: ValueProgram) -> dict[str, str]:
    """Return the input after of each input before, where they are paired and of one shape."""
    by_place = {source.place: name for name, source in after.sources.items()}
    keys = {}
    for name, source in before.sources.items():
        partner = matching.partner_after(source.place) if source.place.instruction else source.place
        other = None if partner is None else by_place.get(partner)
        if other is not None and after.sources[other].shape == source.shape:
            keys[name] = other
    return keys


def _outputs(program: ValueProgram, sizes: set[int]) -> dict[str, list[Place]]:
    """Return the arrays of floats with one of these numbers of elements, by variable."""
    outputs: dict[str, list[Place]] = {}
    for place, variable in program.variables.items():
        shape = program.shapes[variable]
        if shape.startswith(("f", "c")) and _count(shape) in sizes:
            outputs.setdefault(variable, []).append(place)
    return outputs


def _computes(line: Instruction | None) -> bool:
    if line is None or line.opcode in _MOVES or line.shape.element_type[:1] not in "bfc":
        return False
    return (line.shape.element_count or 0) >= _FEWEST


def _count(shape: str) -> int:
    count = 1
    for sizes in _SIZES.findall(shape)[:1]:
        for size in filter(None, sizes.split(",")):
            count *= int(size)
    return count


def _fate(row: Change) -> str:
    if row.kind is Kind.UNTRACED:
        return "not known"
    if row.before is None:
        return "added"
    return "continued" if row.after is not None else "removed"


def _inverse(numbers: Mapping[Place, int]) -> dict[int, list[Place]]:
    places: dict[int, list[Place]] = {}
    for place, number in numbers.items():
        places.setdefault(number, []).append(place)
    return places
