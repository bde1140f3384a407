"""Draws histories of instructions at random, for a person to judge beside the dump's texts.

Usage: `XLAREPORT_DUMPS=... python benchmarks/draw_histories.py SEED COUNT [--lines]` prints a
table: device, dump, module, direction, kind, the grade of the least sure event, and the history as
`xlareport history` has it, without the events that leave an instruction where it was. Forward asks
what became of an instruction of the first snapshot, back where one of the last comes from. The
kinds are heavy opcodes, custom calls and fusions, and any other but parameters. Rows are drawn
evenly over devices, directions and kinds, modules by their size; no tagged dumps, as their op_names
tell the answer. `--lines` adds to each event the lines of both snapshots. tests/labels keeps
verdicts in histories.tsv and says how they were reached.
"""

import argparse
import csv
import random
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path

from drawing import is_readable
from dumps import dumps
from heavy import kind
from trails import Direction

from xlareport import api
from xlareport.analysis.history.events import Event, HistoryEvent
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.subjects import Subject
from xlareport.analysis.history.trace import InstructionState, Trace, trace_subject
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule, Instruction
from xlareport.knowledge.grades import Grade

_KINDS = ("heavy", "other")
_OF_EACH_DUMP = 3
"""How many histories of a kind and direction a dump gives to the draw at most."""
_DUMPS = 14
"""How many dumps of a device are drawn from at most."""
_LONGEST = 900
"""How many characters of a history are printed at most."""
_SHOWN = 4
_STILL = frozenset({Event.FIRST, Event.LAST, Event.CHANGED, Event.RENAMED})
"""What does not lead a trail elsewhere."""
_WORKERS = 2

Row = tuple[str, ...]
"""Device, dump, module, direction, kind, grade, claim; with `--lines` the lines of events."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Where histories are drawn from: a module, read."""

    names: tuple[str, str, str]
    """Device, dump, module."""
    snapshots: SnapshotSequence
    keys: tuple[str, ...]
    """What names each snapshot on the command line."""

    def row(self, direction: Direction, wanted: str, place: Place, *, lines: bool) -> Row:
        """Return the row of one instruction."""
        stage = 0 if direction is Direction.FORWARD else len(self.snapshots.modules) - 1
        trace = trace_subject(self.snapshots, Subject(str(place), stage, (place,)))
        events = trace.events + (trace.beginnings if direction is Direction.BACK else ())
        grades = [event.confidence for event in events]
        row = (*self.names, direction, wanted, max(grades, key=[*Grade].index))
        evidence = [self._lines(event) for event in events] if lines else []
        return (*row, self._claim(direction, trace), *evidence)

    def _claim(self, direction: Direction, trace: Trace) -> str:
        ends = trace.now if direction is Direction.FORWARD else trace.origins
        words = "its work is done by" if direction is Direction.FORWARD else "comes from"
        events = trace.beginnings if direction is Direction.BACK and not ends else ()
        every = (event for event in (*events, *trace.events) if event.event not in _STILL)
        steps = "; ".join(map(self._told, dict.fromkeys(every)))
        claim = f"{trace.subject.name} {words} {_listed(ends)}. {steps}"
        return textwrap.shorten(claim, _LONGEST, placeholder=" …")

    def _told(self, event: HistoryEvent) -> str:
        sources = _places(event.sources)
        targets = _places([target for target in event.targets if target != event.instruction])
        ways = f"{f' from {sources}' if sources else ''}{f' to {targets}' if targets else ''}"
        what = f"{self.keys[event.number]}: {event.instruction} {event.event}{ways}"
        return f"{what} ({event.confidence}: {event.reason})"

    def _lines(self, event: HistoryEvent) -> str:
        """Return the lines that an event speaks of, before and after."""
        after = self.snapshots.modules[event.number]
        before = self.snapshots.modules[max(event.number - 1, 0)]
        places = (*event.sources, event.instruction)
        old = (_text(before, place) for place in dict.fromkeys(places))
        new = (_text(after, place) for place in dict.fromkeys((event.instruction, *event.targets)))
        shown = " | ".join([*filter(None, old)][:_SHOWN])
        return f"{self.keys[event.number]}: {shown} => {' | '.join([*filter(None, new)][:_SHOWN])}"


def drawn(module: api.Module, device: str, dump: str) -> Drawing | None:
    """Return a module to draw from; None where it has no steps or is too large to be read."""
    stages = module.stages
    if len(stages) < 2 or not all(is_readable(stage.hlo) for stage in (stages[0], stages[-1])):
        return None
    snapshots = SnapshotSequence([stage.hlo for stage in stages])
    return Drawing((device, dump, module.key), snapshots, tuple(stage.key for stage in stages))


def rows_of_dump(dump: Path, seed: str, *, lines: bool) -> list[Row]:
    """Return a few histories of one module of a dump."""
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    with api.read(dump) as report:
        weights = [module.files.bytes for module in report.modules]
        modules = chance.choices(report.modules, weights) if any(weights) else []
        drawings = [drawn(module, _device(dump), dump.name) for module in modules]
    known = [drawing for drawing in drawings if drawing is not None]
    return [row for drawing in known for row in rows(drawing, chance, lines=lines)]


def rows(drawing: Drawing, chance: random.Random, *, lines: bool) -> Iterator[Row]:
    """Yield a few histories of each direction and kind."""
    for direction in Direction:
        module = drawing.snapshots.modules[0 if direction is Direction.FORWARD else -1]
        for wanted in _KINDS:
            places = [*_places_of_kind(module, wanted)]
            for place in chance.sample(places, min(len(places), _OF_EACH_DUMP)):
                yield drawing.row(direction, wanted, place, lines=lines)


def _places_of_kind(module: HloModule, wanted: str) -> Iterator[Place]:
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.opcode != "parameter" and _kind(instruction) == wanted:
                yield Place(computation.name, instruction.name)


def _kind(instruction: Instruction) -> str:
    heavy = instruction.opcode in ("fusion", "custom-call") or kind(instruction) is not None
    return _KINDS[not heavy]


def _chosen_dumps(chance: random.Random) -> list[Path]:
    """Return as many dumps of each device, at most; op_names of tagged ones tell the answer."""
    by_device: dict[str, list[Path]] = defaultdict(list)
    for dump in dumps():
        if not dump.name.startswith("tagged-"):
            by_device[_device(dump)].append(dump)
    groups = by_device.values()
    return [dump for group in groups for dump in chance.sample(group, min(len(group), _DUMPS))]


def _device(dump: Path) -> str:
    names = {"gpu": "gpu", "tpu": "tpu", "llo": "tpu"}
    return next((device for part, device in names.items() if part in dump.name), "cpu")


def _listed(standings: Sequence[InstructionState]) -> str:
    return _places([standing.place for standing in standings]) or "nothing known"


def _places(places: Sequence[Place]) -> str:
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(map(str, places[:_SHOWN])) + more


def _text(module: HloModule, place: Place) -> str:
    instruction = module.find(*place)
    return "" if instruction is None else instruction.text


def _in_turn(pools: Sequence[Sequence[Row]]) -> Iterator[Row]:
    """Yield the first row of each pool, then the second of each."""
    return (row for rank in zip_longest(*pools) for row in rank if row is not None)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--lines", action="store_true", help="add the lines of the events")
    return parser.parse_args()


def main() -> None:
    """Print as many drawn histories as asked for."""
    asked = _asked()
    chance = random.Random(asked.seed)  # noqa: S311 - repeatable on purpose
    pools: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    with ProcessPoolExecutor(_WORKERS) as workers:
        chosen = _chosen_dumps(chance)
        seeds = [f"{asked.seed} {dump.name}" for dump in chosen]
        for drawn_rows in workers.map(partial(rows_of_dump, lines=asked.lines), chosen, seeds):
            for row in drawn_rows:
                pools[row[0], row[3], row[4]].append(row)
    shuffled = [chance.sample(pools[key], len(pools[key])) for key in sorted(pools)]
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    table.writerows(islice(_in_turn(shuffled), asked.count))


if __name__ == "__main__":
    main()
