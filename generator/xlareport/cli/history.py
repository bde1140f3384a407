"""`xlareport history`: where an instruction came from and where it went, or a framework op."""

import os
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import click

from xlareport.analysis.history.instruction import Event, HistoryEvent, SnapshotSequence
from xlareport.analysis.history.subjects import Subject, find_subjects, near_names
from xlareport.analysis.history.trace import Standing, Trace, trace_subject
from xlareport.analysis.matching.pairing import Grade, Place
from xlareport.cli.options import limited
from xlareport.cli.terminal import printable, progress_bar, say, say_json
from xlareport.dump.modules import SnapshotFiles
from xlareport.program import ParsedModule
from xlareport.report import BuildOptions, read_one_module
from xlareport.runtime import units
from xlareport.runtime.errors import UnknownNameError
from xlareport.runtime.limits import Limits

_SHOWN = 12


@click.command(name="history")
@click.argument("dump")
@click.argument("op")
@click.option(
    "--module", metavar="M", help="Key or name of the module; by default the main program."
)
@click.option("--stage", metavar="KEY", help="The snapshot that contains OP: 0017, or its name.")
@click.option("--json", "as_json", is_flag=True, help="Print the events as a list.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True)
@limited
def command(
    dump: str,
    op: str,
    *,
    module: str | None,
    stage: str | None,
    as_json: bool,
    jobs: int,
    limits: Limits,
) -> None:
    """Print the history of OP from snapshot to snapshot.

    OP is the name of an instruction (`%fusion.3`, or `computation/%fusion.3`), or a framework op:
    the op_name in the metadata, whole or its end (`layer_3/mlp/dot_general`).
    """
    with progress_bar() as progress:
        read = read_one_module(dump, module, BuildOptions(jobs=jobs, limits=limits), progress)
    snapshots = SnapshotSequence([snapshot.hlo for snapshot in read.snapshots])
    keys = [snapshot.stage.key for snapshot in read.snapshots]
    place = None if stage is None else read.snapshots.index(read.snapshot(stage))
    subject, *others = _subjects(snapshots, op, place, read)
    if others:
        say(_also(others, keys), err=True)
    result = trace_subject(snapshots, subject)
    if as_json:
        say_json([_record(event, result, keys) for event in _events(result)])
        return
    for line in _account(result, [snapshot.stage for snapshot in read.snapshots], read.files.key):
        say(line)


def _subjects(
    snapshots: SnapshotSequence, asked: str, stage: int | None, module: ParsedModule
) -> tuple[Subject, ...]:
    subjects = find_subjects(snapshots, asked, stage)
    if not subjects:
        where = f"{module.files.key} has no instruction and no op_name {asked!r}"
        raise UnknownNameError(where, near_names(snapshots, asked))
    if len({subject.name for subject in subjects}) > 1 and "%" not in subjects[0].name:
        names = [subject.name for subject in subjects]
        raise UnknownNameError(f"{asked!r} is the end of {len(names)} op_names", names)
    return subjects


def _also(others: Sequence[Subject], keys: Sequence[str]) -> str:
    """List the other instructions that had the name."""
    shown = [f"  {printable(subject.name)} in {keys[subject.stage]}" for subject in others[:_SHOWN]]
    more = [f"  and {len(others) - _SHOWN} more"] if len(others) > _SHOWN else []
    count = units.plural(len(others), "other instruction")
    return "\n".join(
        [f"{count} had this name; ask with --stage, or computation/%name:", *shown, *more]
    )


def _events(trace: Trace) -> Iterator[HistoryEvent]:
    """Yield the origins, or the additions in their place, then what happened."""
    result = {(event.stage, event.event, event.instruction) for event in trace.events}
    for origin in trace.origins:
        if (0, Event.FIRST, origin.place) not in result:
            why = "is in the first snapshot"
            yield HistoryEvent(0, Event.FIRST, origin.place, (), (), Grade.EXACT, why)
    yield from (beginning for beginning in trace.beginnings if beginning not in trace.events)
    yield from trace.events


def _record(event: HistoryEvent, trace: Trace, keys: Sequence[str]) -> dict[str, Any]:
    known = {origin.place: origin for origin in trace.origins if event.stage == 0}
    standing = known.get(event.instruction)
    return {
        "stage": keys[event.stage],
        "event": str(event.event),
        "instruction": str(event.instruction),
        "from": [str(source) for source in event.sources],
        "to": [str(target) for target in event.targets],
        "confidence": str(event.confidence),
        "reason": event.reason,
        "op_name": standing.op_name if standing else None,
        "source": standing.source or None if standing else None,
    }


def _account(trace: Trace, stages: Sequence[SnapshotFiles], module: str) -> Iterator[str]:
    """Yield the lines of the account for the terminal."""
    yield f"{trace.subject.name}  in {module}, {stages[trace.subject.stage].label}"
    yield ""
    if trace.origins:
        yield from _standings("It comes from", "first", trace.origins)
    else:
        yield from _begun(trace.beginnings, stages)
    shown = None
    for event in trace.events:
        if event.stage != shown:
            shown = event.stage
            yield stages[shown].label
        yield from _event_lines(event)
    yield ""
    yield from _standings("Maps to", "last", trace.now)


def _begun(beginnings: Sequence[HistoryEvent], stages: Sequence[SnapshotFiles]) -> Iterator[str]:
    """Yield what is known of a subject that comes from nothing in the first snapshot."""
    yield "Compiler-generated; no origin in before_optimizations:"
    for beginning in beginnings:
        lost = beginning.confidence is Grade.GUESSED
        name, step = f"%{beginning.instruction.instruction}", stages[beginning.stage].place
        message = f"not matched past {name}" if lost else f"{name} is first seen"
        yield f"  {message} in {step} ({beginning.confidence}: {beginning.reason})"


def _event_lines(event: HistoryEvent) -> Iterator[str]:
    word = " " if event.event in (Event.REPLACED, Event.ABSORBED) else " from "
    former = [source for source in event.sources if source != event.instruction]
    sources = f"{word}{_places(former)}" if former else ""
    became = [target for target in event.targets if target != event.instruction]
    targets = f" to {_places(became)}" if became else ""
    message = f"{event.instruction} {event.event}{sources}{targets}"
    why = f" ({event.confidence}: {event.reason})"
    yield from textwrap.wrap(
        message + why, 100, initial_indent="  ", subsequent_indent="      ", break_long_words=False
    )


def _places(places: Sequence[Place]) -> str:
    shown = ", ".join(f"%{place.instruction}" for place in places[:_SHOWN])
    more = len(places) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _standings(words: str, snapshot: str, standings: Sequence[Standing]) -> Iterator[str]:
    if not standings:
        yield f"{words} no instruction of the {snapshot} snapshot that could be found."
        return
    yield f"{words} {units.plural(len(standings), 'instruction')} of the {snapshot} snapshot:"
    for standing in standings[:_SHOWN]:
        yield "  ".join(filter(None, (f"  {standing.place}", standing.op_name, standing.source)))
    if len(standings) > _SHOWN:
        yield f"  and {len(standings) - _SHOWN} more"
