"""`xlareport history`: where an instruction came from and where it went, or a framework op."""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlareport.cli.options import jobs_option, limit_options, module_option
from xlareport.cli.terminal import printable, progress_bar, say, say_json
from xlareport.runtime import units
from xlareport.runtime.english import first_few
from xlareport.runtime.errors import UnknownNameError
from xlareport.runtime.limits import Limits

if TYPE_CHECKING:
    from xlareport.analysis.history.events import HistoryEvent
    from xlareport.analysis.history.instruction import SnapshotSequence
    from xlareport.analysis.history.subjects import Subject
    from xlareport.analysis.history.trace import InstructionState, Trace
    from xlareport.dump.modules import SnapshotFiles
    from xlareport.pages.history.stored import StoredStandings
    from xlareport.program import ParsedModule
    from xlareport.site.stored_history import StoredHistory

_NAMES_SHOWN = 12
_NO_ORIGIN = "Compiler-generated; no origin in before_optimizations"
_NOT_KNOWN = "Origin in before_optimizations not known"
_BY_OP_NAME = "Compiler-generated, with the op_name"


@click.command(name="history")
@click.argument("dump")
@click.argument("op")
@module_option
@click.option("--stage", metavar="KEY", help="The snapshot that contains OP: 0017, or its name.")
@click.option("--json", "as_json", is_flag=True, help="Print the events as a list.")
@jobs_option
@limit_options
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
    the op_name in the metadata, whole or its end (`layer_3/mlp/dot_general`), also without the
    transformations in it, such as `jvp(...)`.

    For a built report or its zip, the answer comes from the stored histories; with --json or
    --stage, or for a name that is not stored, it is computed from the HLO.
    """
    if stage is None:
        from xlareport.site.stored_history import SeveralOps, find_stored_history

        stored = find_stored_history(Path(dump), module, op)
        if isinstance(stored, SeveralOps):
            raise _several(op, stored.op_names)
        if stored is not None and not as_json:
            _print_stored(stored)
            return
    from xlareport.analysis.history.instruction import SnapshotSequence
    from xlareport.analysis.history.trace import trace_subject
    from xlareport.report import BuildOptions, read_one_module
    from xlareport.site.stored_history import main_of_report

    module = module or main_of_report(Path(dump))
    with progress_bar() as progress:
        read = read_one_module(dump, module, BuildOptions(jobs=jobs, limits=limits), progress)
    snapshots = SnapshotSequence([snapshot.hlo for snapshot in read.snapshots])
    keys = [snapshot.stage.key for snapshot in read.snapshots]
    place = None if stage is None else read.snapshots.index(read.snapshot(stage))
    subject, *others = _subjects(snapshots, op, place, read)
    if others:
        say(_also([f"{other.name} in {keys[other.number]}" for other in others]), err=True)
    trace = trace_subject(snapshots, subject)
    if as_json:
        say_json([_record(event, trace, keys) for event in _shown_events(trace)])
        return
    for line in _account(trace, [snapshot.stage for snapshot in read.snapshots], read.files.key):
        say(line)


def _subjects(
    snapshots: "SnapshotSequence", asked: str, stage: int | None, module: "ParsedModule"
) -> "tuple[Subject, ...]":
    from xlareport.analysis.history.subjects import find_subjects, near_names

    subjects = find_subjects(snapshots, asked, stage)
    if not subjects:
        where = f"{module.files.key} has no instruction and no op_name {asked!r}"
        raise UnknownNameError(where, near_names(snapshots, asked))
    if len({subject.name for subject in subjects}) > 1 and "%" not in subjects[0].name:
        raise _several(asked, [subject.name for subject in subjects])
    return subjects


def _several(asked: str, op_names: Sequence[str]) -> UnknownNameError:
    names = _by_phase(op_names)
    return UnknownNameError(f"{asked!r} is the end of {len(names)} op_names", names)


def _by_phase(op_names: Sequence[str]) -> list[str]:
    """Return op_names with their phases: `jit(f)/jvp(mlp)/dot  (forward)`, forward ones first."""
    from xlareport.analysis.source.scopes import Phase, phase_of

    order = [Phase.FORWARD, Phase.RECOMPUTED, Phase.BACKWARD, Phase.OTHER]
    phases = [(order.index(phase_of(name)), name) for name in op_names]
    return [
        name if order[phase] is Phase.OTHER else f"{name}  ({order[phase]})"
        for phase, name in sorted(phases)
    ]


def _also(others: Sequence[str]) -> str:
    """List the other instructions that had the name."""
    shown = [f"  {printable(other)}" for other in others[:_NAMES_SHOWN]]
    more = [f"  and {len(others) - _NAMES_SHOWN} more"] if len(others) > _NAMES_SHOWN else []
    count = units.plural(len(others), "other instruction")
    return "\n".join(
        [f"{count} had this name; ask with --stage, or computation/%name:", *shown, *more]
    )


def _print_stored(stored: "StoredHistory") -> None:
    """Print the account of what a report keeps."""
    subject = stored.subject
    if stored.others:
        say(_also(stored.others), err=True)
    where = "" if subject.number is None else f", {stored.stages[subject.number][1]}"
    say(f"{subject.title}  in {stored.module}{where}\n")
    if subject.origins.count:
        for line in _stored_standings("It comes from", "first", subject.origins):
            say(line)
    else:
        added = (event for event in subject.events if event.event == "added")
        is_lost = any(event.confidence == "guessed" for event in added)
        say(f"{_no_origin([row[1] for row in subject.now.rows], is_lost=is_lost)}.")
    shown = None
    for event in subject.events:
        if event.number != shown:
            shown = event.number
            say(stored.stages[shown][1])
        why = f"{event.confidence}: {event.reason}" if event.reason else event.confidence
        names = event.sources, event.targets
        for line in _wrapped(event.instruction, event.event, names, why):
            say(line)
    say("")
    for line in _stored_standings("Maps to", "last", subject.now):
        say(line)


def _stored_standings(words: str, snapshot: str, standings: "StoredStandings") -> Iterator[str]:
    lines = ["  ".join(filter(None, (f"  {row[0]}", *row[1:]))) for row in standings.rows]
    yield from _standing_lines(words, snapshot, standings.count, lines)


def _shown_events(trace: "Trace") -> "Iterator[HistoryEvent]":
    """Yield the origins, or the additions in their place, then what happened."""
    from xlareport.analysis.history.events import Event, HistoryEvent
    from xlareport.knowledge.grades import Grade

    places = {(event.number, event.event, event.instruction) for event in trace.events}
    for origin in trace.origins:
        if (0, Event.FIRST, origin.place) not in places:
            why = "is in the first snapshot"
            yield HistoryEvent(0, Event.FIRST, origin.place, (), (), Grade.EXACT, why)
    yield from (beginning for beginning in trace.beginnings if beginning not in trace.events)
    yield from trace.events


def _record(event: "HistoryEvent", trace: "Trace", keys: Sequence[str]) -> dict[str, Any]:
    origins = {origin.place: origin for origin in trace.origins if event.number == 0}
    standing = origins.get(event.instruction)
    return {
        "stage": keys[event.number],
        "event": str(event.event),
        "instruction": str(event.instruction),
        "from": [str(source) for source in event.sources],
        "to": [str(target) for target in event.targets],
        "confidence": str(event.confidence),
        "reason": event.reason,
        "op_name": standing.op_name if standing else None,
        "source": standing.source or None if standing else None,
    }


def _account(trace: "Trace", stages: "Sequence[SnapshotFiles]", module: str) -> Iterator[str]:
    """Yield the lines of the account for the terminal."""
    yield f"{trace.subject.name}  in {module}, {stages[trace.subject.number].label}"
    yield ""
    if trace.origins:
        yield from _standings("It comes from", "first", trace.origins)
    else:
        yield from _begun(trace, stages)
    shown = None
    for event in trace.events:
        if event.number != shown:
            shown = event.number
            yield stages[shown].label
        yield from _event_lines(event)
    yield ""
    yield from _standings("Maps to", "last", trace.now)


def _no_origin(op_names: Sequence[str], *, is_lost: bool) -> str:
    """Return that nothing in the first snapshot became a subject, with its op_name if it has it."""
    if is_lost:
        return _NOT_KNOWN
    named = next(filter(None, op_names), "")
    return f"{_BY_OP_NAME} {printable(named)}" if named else _NO_ORIGIN


def _begun(trace: "Trace", stages: "Sequence[SnapshotFiles]") -> Iterator[str]:
    """Yield lines on a subject that has no origin in the first snapshot."""
    from xlareport.knowledge.grades import Grade

    beginnings = trace.beginnings
    is_lost = any(beginning.confidence is Grade.GUESSED for beginning in beginnings)
    yield f"{_no_origin([row.op_name for row in trace.now], is_lost=is_lost)}:"
    for beginning in beginnings:
        lost = beginning.confidence is Grade.GUESSED
        name, step = f"%{beginning.instruction.instruction}", stages[beginning.number].place
        message = f"not matched past {name}" if lost else f"{name} is first seen"
        yield f"  {message} in {step} ({beginning.confidence}: {beginning.reason})"


def _event_lines(event: "HistoryEvent") -> Iterator[str]:
    former = [source.instruction for source in event.came_from]
    became = [target.instruction for target in event.became if target != event.instruction]
    why = f"{event.confidence}: {event.reason}"
    yield from _wrapped(str(event.instruction), str(event.event), (former, became), why)


def _wrapped(
    instruction: str, event: str, names: tuple[Sequence[str], Sequence[str]], why: str
) -> Iterator[str]:
    """Yield the lines of an event; `names` are what it came from and what it became."""
    former, became = names
    word = " " if event in ("replaced", "absorbed") else " from "
    sources = f"{word}{_names(former)}" if former else ""
    targets = f" to {_names(became)}" if became else ""
    yield from textwrap.wrap(
        f"{instruction} {event}{sources}{targets} ({why})",
        100,
        initial_indent="  ",
        subsequent_indent="      ",
        break_long_words=False,
    )


def _names(names: Sequence[str]) -> str:
    return first_few([name if " " in name else f"%{name}" for name in names], _NAMES_SHOWN)


def _standings(words: str, snapshot: str, standings: "Sequence[InstructionState]") -> Iterator[str]:
    lines = [
        "  ".join(filter(None, (f"  {standing.place}", standing.op_name, standing.source)))
        for standing in standings
    ]
    yield from _standing_lines(words, snapshot, len(standings), lines)


def _standing_lines(words: str, snapshot: str, count: int, lines: Sequence[str]) -> Iterator[str]:
    if not lines:
        yield f"{words} no instruction of the {snapshot} snapshot that could be found."
        return
    yield f"{words} {units.plural(count, 'instruction')} of the {snapshot} snapshot:"
    yield from lines[:_NAMES_SHOWN]
    if count > _NAMES_SHOWN:
        yield f"  and {count - _NAMES_SHOWN} more"
