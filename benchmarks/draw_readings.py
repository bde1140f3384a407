"""Draws whole accounts of steps and whole histories of instructions, for a person to read.

Usage: `python benchmarks/draw_readings.py SEED OUT FOLDER=ACCOUNTS,HISTORIES...` draws so many of
each from every dump of a folder (`<name>/<name>/<files>`) and writes OUT/accounts.txt and
OUT/histories.txt: what the report says, and the lines of the snapshots that it speaks of, without
metadata. Most accounts are of steps that change what is heavy, most histories are of heavy
instructions. OUT/drawn.tsv has a row for each, to which the reader adds a verdict;
tests/labels/readings.tsv keeps them. An account is its headline and its other sentences, eight of
all of these where there are more.
"""

import csv
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from drawing import is_readable
from heavy import kind

from xlareport import api
from xlareport.analysis.history.events import Event, HistoryEvent
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.subjects import Subject
from xlareport.analysis.history.trace import InstructionState, Trace, trace_subject
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.facts import holders_of
from xlareport.analysis.module_steps import step_at
from xlareport.analysis.passes.step_boundaries import find_boundaries
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.knowledge.grades import Grade

_SENTENCES = 8
_TRIES = 25
_HEAVY_SHARE = 0.75
_LINE = 250
_LINES = 4
_SHORT = 80
_LONGEST = 330
_HEAVY = frozenset({"fusion", "custom-call"})
_SMALL = frozenset({"constant", "get-tuple-element", "parameter"})
_WITHOUT = re.compile(r", (?:metadata|backend_config|sharding|frontend_attributes|origin)=\{.*")
_TUPLE = re.compile(r"(?<= = )\(.*?\) (?=[a-z\-]+\()")
_NAME = re.compile(r"%([\w.\-]+)")
_SILENT = frozenset({Event.FIRST, Event.LAST, Event.RENAMED})

Drawn = tuple[list[str], str]
"""The fields of a row (dump, module, what, grade, claim) and the text to read."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Two snapshots, in which lines are looked up."""

    before: HloModule
    after: HloModule

    def lines(self, name: str) -> Iterator[str]:
        """Yield the lines of an instruction and of its users on both sides."""
        for mark, module in (("B", self.before), ("A", self.after)):
            yield from (f"     {mark} {line}" for line in _lines_of(module, name))


def _lines_of(module: HloModule, name: str) -> Iterator[str]:
    own, users = [], []
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.name == name:
                own.append(f"[{computation.name[-24:]}] {_shown(instruction, computation)}")
            elif name in instruction.operand_names:
                users.append(f"  ^[{computation.name[-24:]}] {_shown(instruction, computation)}")
    yield from own[:2]
    yield from users[: _LINES - 1]
    if len(users) >= _LINES:
        yield f"  ^ and {len(users) - _LINES + 1} more users"


def _shown(instruction: Instruction, computation: Computation | None = None) -> str:
    text = _TUPLE.sub(_shortened, _WITHOUT.sub("", instruction.text), count=1)[:_LINE]
    near = {} if computation is None else computation.by_name
    for name in dict.fromkeys(instruction.operand_names):
        operand = near.get(name)
        if operand is not None and operand.opcode in _SMALL:
            word = rf"%{re.escape(name)}(?![\w.\-])"
            text = re.sub(word, f"%{name}{_value(operand)}", text, count=1)
    return text


def _shortened(match: re.Match[str]) -> str:
    shape = match.group()
    return shape if len(shape) < _SHORT else f"({shape[1:40]}... {shape.count('[')} arrays) "


def _value(instruction: Instruction) -> str:
    """Return what a constant, parameter or tuple element is, in few letters."""
    if instruction.opcode == "get-tuple-element":
        index = instruction.attributes.get("index", "")
        return f"[{instruction.operands[0]}#{index}]"
    return f"[{instruction.opcode[:5]} {instruction.argument[:12]}]"


def _expression(module: HloModule, place: Place, depth: int) -> str:
    """Return what an instruction computes, parameters of fusions as what is given to them."""
    instruction = module.find(*place)
    if instruction is None:
        return "?"
    holder = holders_of(module).get(place.computation)
    if instruction.opcode == "parameter" and holder is not None and holder.opcode == "fusion":
        home = next(c.name for c in module.computations if c.by_name.get(holder.name) is holder)
        given = holder.operand_names[int(instruction.argument)]
        return _expression(module, Place(home, given), depth)
    if instruction.opcode in _SMALL:
        return f"%{instruction.name}{_value(instruction)}"
    if not depth:
        return f"%{instruction.name}:{instruction.opcode}"
    inner = (
        _expression(module, Place(place.computation, o), depth - 1)
        for o in instruction.operand_names[:5]
    )
    return f"{instruction.opcode}({', '.join(inner)})"


def _account(
    modules: Sequence[api.Module], dump: str, chance: random.Random, *, heavy: bool
) -> Drawn | None:
    (module,) = chance.choices(modules, [_bytes(module) for module in modules])
    boundaries = list(find_boundaries(module.read))
    if not boundaries:
        return None
    boundary = chance.choice(boundaries)
    before, after = module.read.snapshots[boundary.number - 1 : boundary.number + 1]
    if not (is_readable(before.hlo) and is_readable(after.hlo)):
        return None
    change = step_at(module.read, boundary)
    if change.identical or (heavy and not any(map(_is_heavy_change, change.changes))):
        return None
    file = after.read_from.path.rsplit("/", 1)[-1]
    what = f"step {boundary.number} {'.'.join(file.split('.')[2:-1])}"
    sentences = [change.headline, *change.account]
    chosen = sorted(chance.sample(range(len(sentences)), min(len(sentences), _SENTENCES)))
    told = [sentences[number] for number in chosen]
    text = "\n".join(_reading_of_step(change, told, Sides(before.hlo, after.hlo)))
    grades = [known.grade for known in (_example(change, sentence) for sentence in told) if known]
    row = [dump, module.key, what, _least(grades), " ".join(told)]
    return row, text


def _is_heavy_change(change: Change) -> bool:
    heavy = ("dot", "convolution", "while", "scatter", "gather", "sort", "conditional", *_HEAVY)
    return any(
        code in heavy or code.startswith(("all-", "reduce-sc", "collective"))
        for code in change.opcodes
    )


def _reading_of_step(change: StepChange, told: Sequence[str], sides: Sides) -> Iterator[str]:
    delta = " ".join(f"{code}:{old}>{new}" for code, old, new in _counted(sides)[:14])
    yield f"  counted: {change.before.instructions} > {change.after.instructions}; {delta}"
    shown: set[str] = set()
    printed: set[str] = set()
    for sentence in told:
        example = _example(change, sentence)
        grade = f"  <{example.grade}: {example.reason}>" if example else ""
        yield f"  * {sentence}{grade}"
        names = dict.fromkeys(_NAME.findall(sentence))
        if example is not None:
            names |= dict.fromkeys(
                place.instruction for place in (example.before, example.after) if place
            )
        for name in [name for name in names if name not in shown][:4]:
            shown.add(name)
            for line in sides.lines(name):
                if line not in printed:
                    printed.add(line)
                    yield line


def _counted(sides: Sides) -> list[tuple[str, int, int]]:
    old, new = (
        Counter(i.opcode for c in module.computations for i in c.instructions)
        for module in (sides.before, sides.after)
    )
    codes = sorted({*old, *new}, key=lambda code: -abs(old[code] - new[code]))
    return [(code, old[code], new[code]) for code in codes if old[code] != new[code]]


def _example(change: StepChange, sentence: str) -> Change | None:
    names = _NAME.findall(sentence.rpartition(": `")[2] or sentence) or _NAME.findall(sentence)
    every = chain.from_iterable(group.examples for group in change.groups)
    fitting = [
        known
        for known in every
        if names
        and names[0] in {place.instruction for place in (known.before, known.after) if place}
    ]
    return max(
        fitting,
        key=lambda known: sum(str(word) in sentence for word in (known.kind, *known.details)),
        default=None,
    )


def _least(grades: Iterable[Grade]) -> str:
    """Return the least certain grade; a sentence that only counts is exact."""
    return max(grades, key=[*Grade].index, default=Grade.EXACT)


def history_claim(
    drawing: "Drawing", place: Place, *, forward: bool
) -> tuple[str, Trace, list[HistoryEvent]]:
    """Return a history as one line, with its trace and its events."""
    stage = 0 if forward else len(drawing.modules) - 1
    trace = trace_subject(drawing.sequence, Subject(str(place), stage, (place,)))
    events = [*trace.events, *(() if forward else trace.beginnings)]
    ends = trace.now if forward else trace.origins
    told = [drawing.told(event) for event in dict.fromkeys(events) if event.event not in _SILENT]
    return f"{place} {'>' if forward else '<'} {_standing(ends)}. {'; '.join(told)}", trace, events


def _history(drawing: "Drawing", forward: bool, place: Place) -> Drawn:  # noqa: FBT001 - a direction
    claim, trace, events = history_claim(drawing, place, forward=forward)
    row = [
        drawing.dump,
        drawing.key,
        f"{'forward' if forward else 'back'} {place}",
        _least(event.confidence for event in events),
        claim,
    ]
    return row, "\n".join(drawing.reading(trace, events, trace.now if forward else trace.origins))


@dataclass(frozen=True, slots=True)
class Drawing:
    """A module that histories are drawn from."""

    dump: str
    key: str
    sequence: SnapshotSequence
    stages: tuple[str, ...]

    @property
    def modules(self) -> Sequence[HloModule]:
        """Return its snapshots."""
        return self.sequence.modules

    def told(self, event: HistoryEvent) -> str:
        """Return an event in words, as `xlareport history` has them."""
        sources = ", ".join(map(str, event.sources[:3]))
        targets = ", ".join(
            str(target) for target in event.targets[:3] if target != event.instruction
        )
        ways = f"{f' from {sources}' if sources else ''}{f' to {targets}' if targets else ''}"
        known = f"{self.stages[event.number]}: {event.instruction} {event.event}{ways}"
        return f"{known} ({event.confidence}: {event.reason})"

    def reading(
        self, trace: Trace, events: Sequence[HistoryEvent], ends: Sequence[InstructionState]
    ) -> Iterator[str]:
        """Yield events with the lines that they speak of, then what the ends hold beside them."""
        yield f"  ENDS: {_standing(ends)}"
        for event in dict.fromkeys(events):
            if event.event in _SILENT:
                continue
            yield f"  * {self.told(event)[:420]}"
            if event.event is not Event.CHANGED:
                yield from self._lines(event)
        first, last = self.modules[0], self.modules[-1]
        for mark, module, places in (("first", first, trace.origins), ("last ", last, trace.now)):
            for known in places[:_LINES]:
                yield from (f"   {mark} {line}" for line in _at(module, [known.place]))
                yield f"         = {_expression(module, known.place, 3)[:_LONGEST]}"

    def _lines(self, event: HistoryEvent) -> Iterator[str]:
        before, after = self.modules[max(event.number - 1, 0)], self.modules[event.number]
        old = dict.fromkeys((*event.sources[:3], *(() if event.sources else (event.instruction,))))
        yield from (f"     B {line}" for line in _at(before, old))
        for place in () if event.sources else (event.instruction,):
            yield from (f"     B   ^{line}" for line in _users(before, place))
        new = dict.fromkeys((event.instruction, *event.targets[:3]))
        yield from (f"     A {line}" for line in _at(after, new))


def _at(module: HloModule, places: Iterable[Place]) -> Iterator[str]:
    for place in [*places][:_LINES]:
        instruction = module.find(*place)
        if instruction is not None:
            name = instruction.metadata.op_name
            shown = _shown(instruction, module.by_name.get(place.computation))
            yield f"[{place.computation[-24:]}] {shown}{f' @{name[-70:]}' if name else ''}"


def _users(module: HloModule, place: Place) -> Iterator[str]:
    computation = module.by_name.get(place.computation)
    if computation is not None:
        users = [i for i in computation.instructions if place.instruction in i.operand_names]
        yield from (_shown(user) for user in users[:3])


def _standing(ends: Sequence[InstructionState]) -> str:
    return (
        ", ".join(str(end.place) for end in ends[:5])
        + (f" +{len(ends) - 5}" if len(ends) > 5 else "")
        or "nothing known"
    )


def _histories(module: api.Module, dump: str, chance: random.Random, count: int) -> Iterator[Drawn]:
    stages = module.stages
    if len(stages) < 2 or not all(is_readable(stage.hlo) for stage in (stages[0], stages[-1])):
        return
    sequence = SnapshotSequence([stage.hlo for stage in stages])
    drawing = Drawing(dump, module.key, sequence, tuple(stage.key for stage in stages))
    for number in range(count):
        forward = (number + chance.randrange(2)) % 2 == 0
        heavy = chance.random() < _HEAVY_SHARE
        places = [*_places(sequence.modules[0 if forward else -1], heavy=heavy)]
        if places:
            yield _history(drawing, forward, chance.choice(places))


def _places(module: HloModule, *, heavy: bool) -> Iterator[Place]:
    for computation in module.computations:
        for instruction in computation.instructions:
            is_heavy = instruction.opcode in _HEAVY or kind(instruction) is not None
            if instruction.opcode != "parameter" and is_heavy == heavy:
                yield Place(computation.name, instruction.name)


def _bytes(module: api.Module) -> int:
    return (
        sum(artifact.entry.size for stage in module.files.stages for artifact in stage.artifacts)
        or 1
    )


def drawn(task: tuple[Path, str, int, int]) -> tuple[list[Drawn], list[Drawn]]:
    """Return accounts and histories of one dump."""
    dump, seed, of_steps, of_instructions = task
    chance = random.Random(f"{seed} {dump.name}")  # noqa: S311 - repeatable on purpose
    accounts: dict[str, Drawn] = {}
    histories: dict[str, Drawn] = {}
    with api.read(dump) as report:
        modules = [module for module in report.modules if len(module.files.stages) > 1]
        for _ in range(_TRIES * of_steps if modules else 0):
            if len(accounts) == of_steps:
                break
            account = _account(modules, dump.name, chance, heavy=chance.random() < _HEAVY_SHARE)
            if account is not None:
                accounts.setdefault(" ".join(account[0][1:3]), account)
        if modules and of_instructions:
            (module,) = chance.choices(modules, [_bytes(module) for module in modules])
            for history in _histories(module, dump.name, chance, of_instructions):
                histories.setdefault(history[0][2], history)
    return [*accounts.values()], [*histories.values()]


def main() -> None:
    """Write what was drawn."""
    seed, out, *folders = sys.argv[1:]
    tasks = []
    for folder in folders:
        root, _, counts = folder.rpartition("=")
        of_steps, of_instructions = map(int, counts.split(","))
        places = [path / path.name for path in sorted(Path(root).iterdir()) if path.is_dir()]
        tasks += [(p if p.is_dir() else p.parent, seed, of_steps, of_instructions) for p in places]
    target = Path(out)
    target.mkdir(parents=True, exist_ok=True)
    with (
        ProcessPoolExecutor(2) as workers,
        (target / "drawn.tsv").open("w", newline="") as table,
        (target / "accounts.txt").open("w") as accounts,
        (target / "histories.txt").open("w") as histories,
    ):
        rows = csv.writer(table, delimiter="\t", lineterminator="\n")
        numbers = {"a": 0, "h": 0}
        for both in workers.map(drawn, tasks):
            for letter, file, readings in zip("ah", (accounts, histories), both, strict=True):
                for row, text in readings:
                    numbers[letter] += 1
                    rows.writerow((f"{letter}{numbers[letter]}", seed, *row))
                    file.write(
                        f"### {letter}{numbers[letter]} {row[0]} | {row[1]} | {row[2]}"
                        f" <{row[3]}>\n{text}\n\n"
                    )
                    file.flush()
            table.flush()


if __name__ == "__main__":
    main()
