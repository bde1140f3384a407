"""The page on what a profiler measured: slowest instructions, scopes, lines, runs, what is left.

Runs are drawn by the page script (frontend/src/profile/timeline.js) from the payload `timeline`:

    {"page": "m/x.html",
     "steps": [{"title", "start", "length", "lanes": [[thread, depth], ...], "merged", "left_out",
                "bars": [[lane, start, length, instruction or -1, count], ...]}, ...],
     "instructions": [[name, opcode, color, scope or -1], ...],
     "families": [[color, words], ...], "scopes": [words, ...]}

All its times are microseconds.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from xlareport.analysis.kernels.command_buffers import CommandBuffer
from xlareport.analysis.profile.instruction_times import ModuleTimes, OpTime
from xlareport.analysis.profile.measured import Measured, MeasuredRow, Sum, index_instructions
from xlareport.analysis.profile.timeline import Bar, Timeline
from xlareport.hlo.model import HloModule
from xlareport.pages import navigation
from xlareport.pages.cost.page import cost_parts
from xlareport.pages.large_figures import Figure
from xlareport.pages.tables import Cell, Column, PartPage, Table, tabulate
from xlareport.pages.tabs import ModuleTab, ShownModule
from xlareport.pictures.boxes import family
from xlareport.pictures.legend import words_by_kind
from xlareport.pictures.scales import scope_levels
from xlareport.pictures.shade import scopes_of
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units
from xlareport.storage.payloads import Payload, make_payload

_MICROSECOND = 1e6
"""Picoseconds."""
_SECOND = 1e12
_MOST_RUNS = 10_000
_MOST_UNKNOWN = 1_000


class ProfilePage(PartPage, frozen=True):
    """Everything on the page."""

    module: str
    """As profilers call it."""
    lead: str
    doubt: str
    figures: tuple[Figure, ...]
    left_out: int
    unknown: str


def profile_page(
    module: ModuleRecord, measured: Measured, command_buffers: Sequence[CommandBuffer] = ()
) -> ProfilePage:
    """Return the page of one module; members of its command buffers may have no events."""
    return ProfilePage(
        tables=_tables(module, measured),
        module=module.name,
        lead=_lead(measured),
        doubt=_doubt(measured),
        figures=(*_figures(measured), *_behind_events(measured, command_buffers)),
        left_out=measured.left_out,
        unknown=_unknown(measured),
    )


def _measured(shown: ShownModule) -> tuple[Measured, Sequence[CommandBuffer]] | None:
    profile, kernels = shown.analysis.profile, shown.analysis.kernels
    if profile is None or "time" not in cost_parts(shown.record):
        return None
    return profile, kernels.command_buffers if kernels else ()


TAB = ModuleTab("time", _measured, lambda record, value: profile_page(record, *value), place=30)


def _tables(module: ModuleRecord, measured: Measured) -> Mapping[str, Table]:
    tables = {
        "times": _ops(module, measured),
        "time-scopes": _sums("Scope", measured.scopes, measured),
        "time-lines": _sums("Line", measured.lines, measured),
        "time-runs": _runs(measured),
    }
    if measured.unknown:
        tables["time-unknown"] = _unknown_ops(measured.unknown)
    return tables


def _lead(measured: Measured) -> str:
    slowest = [f"%{row.time.name}" for row in measured.rows[:3]]
    share = units.share(sum(measured.share(row.time.own) for row in measured.rows[:3]))
    most = f" Most time went to {', '.join(slowest)}: {share} of it." if slowest else ""
    runs = measured.distinct_runs
    if measured.cut is not None:
        cut = measured.cut
        return (
            f"The trace is cut: it recorded {units.count(cut.seen)} of {units.count(cut.expected)} "
            f"executions of %{cut.instruction}, so no time here is that of a whole run.{most}"
        )
    if not runs:
        times = (
            f" run {units.plural(measured.entered, 'time')}, to go by" if measured.entered else ""
        )
        repeats = f"{times} the instructions of its entry" if times else ""
        return f"The profile has this module{repeats}, but does not separate its runs.{most}"
    mean = _time(measured.length // runs)
    return (
        f"The profile has {units.plural(runs, 'run')} of this module, {mean} each on average.{most}"
    )


def _doubt(measured: Measured) -> str:
    if measured.twins:
        has = "has" if len(measured.twins) == 1 else "have"
        return (
            f"{units.plural(len(measured.twins), 'other module')} of this name {has} these "
            "instructions as well; the profile does not show which of them ran."
        )
    if measured.others:
        return (
            f"{units.plural(len(measured.others), 'other module')} of this name may have run as "
            "well: runs are counted together, and so are times of instructions with the same name."
        )
    return ""


def _figures(measured: Measured) -> list[Figure]:
    runs = measured.distinct_runs
    shown = [
        Figure("Runs", "-" if runs is None else units.count(runs), "that the profiler saw"),
        Figure("All runs", _time(measured.length), "from the first event of each to its last"),
    ]
    if measured.busy is not None:
        idle = measured.length - measured.busy
        part = units.share(idle / measured.length) if measured.length else "0%"
        shown.append(Figure("Instructions ran", _time(measured.busy), "at least one of them"))
        shown.append(Figure("Unexplained", _time(idle), f"{part}: no instruction ran then"))
    joined = f"{units.count(measured.joined)} of {units.count(measured.events)}"
    shown.append(Figure("Events joined", joined, "to instructions of the final snapshot, by name"))
    return shown


def _behind_events(measured: Measured, buffers: Sequence[CommandBuffer]) -> Iterator[Figure]:
    """Yield how many ops are behind the event of a command buffer."""
    seen = {row.time.name for row in measured.rows}
    hidden = sum(name not in seen for buffer in buffers for name in buffer.members)
    if hidden:
        many = units.plural(len(buffers), "command buffer")
        note = f"ops without events of their own, behind one event for each of {many}"
        yield Figure("In command buffers", units.count(hidden), note)


def _unknown(measured: Measured) -> str:
    count = sum(op_time.count for op_time in measured.unknown)
    beyond = measured.events - measured.joined - count
    late = (
        f" {units.plural(beyond, 'event')} came after too many runs: not counted." if beyond else ""
    )
    if not count:
        return f"Every event is that of an instruction of the final snapshot.{late}"
    events, names = units.plural(count, "event"), units.plural(len(measured.unknown), "name")
    return f"{events} of {names} that the final snapshot does not have.{late}"


def _ops(record: ModuleRecord, measured: Measured) -> Table:
    traced = "Its history" if record.changed_steps else "Neighborhood"
    module = navigation.module_address(record.slug)
    asked, runs = "i" if record.changed_steps else "node", measured.distinct_runs
    return tabulate(
        measured.rows,
        {
            Column(
                "Instruction", "link", f"{traced}, on the module's page", of="instruction"
            ): lambda row: [row.time.name, f"{module}#{asked}={quote(row.time.name)}"],
            Column("Picture", "link", "Neighborhood in the final module"): lambda row: [
                "picture",
                f"{module}#node={quote(row.time.name)}",
            ],
            Column("Self ms", "float", "all runs, without nested instructions"): lambda row: (
                row.time.own / 1e9
            ),
            Column("Share", "percent", "of the time of all runs; threads overlap"): lambda row: (
                measured.share(row.time.own)
            ),
            Column("Roofline µs", "float", "per execution of the module, estimate"): lambda row: (
                row.least * 1e6 if row.least else None
            ),
            Column("Of roofline", "float", "self time in one run / roofline time"): lambda row: (
                row.time.own / runs / _SECOND / row.least if row.least and runs else None
            ),
            Column("Created by", "link", "the step that created it; of the slowest"): lambda row: (
                _maker(row, record, measured)
            ),
            Column("Mean µs", "float", "of one execution"): lambda row: (
                row.time.mean / _MICROSECOND
            ),
            Column("Spread µs", "float", "standard deviation"): lambda row: (
                row.time.spread / _MICROSECOND
            ),
            Column("Count", "int", "executions"): lambda row: row.time.count,
            Column("Total ms", "float", "nested instructions included"): lambda row: (
                row.time.total / 1e9
            ),
            Column("FLOPs", "flops", _PER_RUN): lambda row: _work_of_row(measured, row)[0],
            Column("Bytes accessed", "bytes", _PER_RUN): lambda row: _work_of_row(measured, row)[1],
            Column("Opcode", "code", of="opcode"): lambda row: row.instruction.opcode,
            Column("Scope"): lambda row: row.op_name,
            Column("Source"): lambda row: row.line,
            Column("First seen µs", "float", "the time stamp in the profile"): lambda row: (
                row.time.first / _MICROSECOND
            ),
        },
        (2, "desc"),
    )


_PER_RUN = "per execution of the module, this report's cost model"


def _work_of_row(measured: Measured, row: MeasuredRow) -> tuple[int | None, int | None]:
    """Return the FLOPs and bytes accessed of an instruction; None if unknown."""
    return measured.work.get(row.time.name, (None, None))


def _maker(row: MeasuredRow, module: ModuleRecord, measured: Measured) -> Cell:
    """Lead to the step that made an instruction; None where it was not looked for."""
    step, words = measured.introduced.get(row.time.name, (None, None))
    return [words, navigation.step_address(module.slug, step)] if step and words else words


def _sums(title: str, sums: Sequence[Sum], measured: Measured) -> Table:
    return tabulate(
        sums,
        {
            Column(title): lambda row: row.name,
            Column("Self ms", "float", "of all its instructions in all runs"): lambda row: (
                row.own / 1e9
            ),
            Column("Share", "percent", "of the time of all runs"): lambda row: measured.share(
                row.own
            ),
            Column("Instructions", "int"): lambda row: row.instructions,
        },
        (1, "desc"),
    )


def _runs(measured: Measured) -> Table:
    return tabulate(
        enumerate(measured.runs[:_MOST_RUNS], 1),
        {
            Column("Run", "int", "in the order of time"): lambda row: row[0],
            Column("Name", "code", "as in the profile"): lambda row: row[1].name or None,
            Column("Start µs", "float", "the time stamp in the profile"): lambda row: (
                row[1].start / _MICROSECOND
            ),
            Column("Duration ms", "float", "from its first event to its last"): lambda row: (
                row[1].length / 1e9
            ),
            Column("Busy ms", "float", "at least one instruction ran"): lambda row: (
                None if row[1].busy is None else row[1].busy / 1e9
            ),
            Column("Unexplained ms", "float"): lambda row: (
                None if row[1].busy is None else (row[1].length - row[1].busy) / 1e9
            ),
        },
    )


def _unknown_ops(op_times: Sequence[OpTime]) -> Table:
    return tabulate(
        op_times[:_MOST_UNKNOWN],
        {
            Column("Name", "code"): lambda row: row.name,
            Column("Own ms", "float"): lambda row: row.own / 1e9,
            Column("Count", "int"): lambda row: row.count,
            Column("First seen µs", "float"): lambda row: row.first / _MICROSECOND,
        },
        (1, "desc"),
    )


def _time(picoseconds: int) -> str:
    return units.seconds(picoseconds / _SECOND)


_WORDS = ("median", "slowest")
"""The runs that are shown, in their order."""
_UNKNOWN = "gray"
"""The color of instructions that the module does not have."""


def timeline_payload(slug: str, module: HloModule, times: ModuleTimes) -> Iterator[Payload]:
    """Yield the file with the runs that are shown; none where of no run every event is known."""
    names = sorted({bar.instruction for step in times.steps for bar in step.bars if bar.count == 1})
    places = {name: place for place, name in enumerate(names)}
    index = index_instructions(module)
    instructions = {name: index[name][1] for name in names if name in index}
    colors = {name: family(instruction, module) for name, instruction in instructions.items()}
    levels, scopes = scope_levels({name: scopes_of(instructions[name]) for name in instructions})
    used = {colors.get(name, _UNKNOWN) for name in names}
    value = {
        "page": navigation.module_address(slug),
        "steps": [
            _step(step, _title(step, word, len(times.runs)), places)
            for step, word in zip(times.steps, _WORDS, strict=False)
        ],
        "instructions": [
            [
                name,
                instructions[name].opcode if name in instructions else "",
                colors.get(name, _UNKNOWN),
                levels.get(name, -1),
            ]
            for name in names
        ],
        "families": [item for item in words_by_kind()["families"].items() if item[0] in used],
        "scopes": scopes,
    }
    key = navigation.module_key(slug, "timeline")
    yield make_payload(key, value)


def _step(step: Timeline, title: str, places: Mapping[str, int]) -> dict[str, Any]:
    return {
        "title": title,
        "start": step.start / _MICROSECOND,
        "length": step.length / _MICROSECOND,
        "lanes": [[lane.thread, lane.depth] for lane in step.lanes],
        "bars": [_bar(bar, places) for bar in step.bars],
        "merged": step.merged,
        "left_out": step.left_out,
    }


def _title(step: Timeline, word: str, runs: int) -> str:
    took = units.seconds(step.length / 1e12)
    if runs == 1:
        return f"the only run, {took}" if step.run else f"all that the profiler saw, {took}"
    if step.among < runs:
        word += f" of the first {units.count(step.among)}"
    return f"{word}: run {units.count(step.number)} of {units.count(runs)}, {took}"


def _bar(bar: Bar, places: Mapping[str, int]) -> list[int | float]:
    instruction = places[bar.instruction] if bar.count == 1 else -1
    return [bar.lane, bar.start / _MICROSECOND, bar.length / _MICROSECOND, instruction, bar.count]
