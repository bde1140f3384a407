"""The payloads of TPU programs for the page script (frontend/src/tpu/strip.js).

`tpu` lists the programs with the addresses of their instructions; `tpu-0`, `tpu-1`, ... hold one
each:

    {"units": [[unit, capacity, used slots by cycle, a character each], ...], "cycles",
     "runs": [[how often, for how many cycles], ...], "loops": [[begin, end, depth, words], ...],
     "ranges": [[begin, share, how often or null, [bundle, ...]], ...],
     "lines": [[line of a kernel, cycles], ...], "stages": [stage of the compiler, ...]}
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from xlareport.analysis.tpu.module_programs import TpuFiles
from xlareport.analysis.tpu.program_record import TpuLoop, TpuProgram
from xlareport.analysis.tpu.schedule_view import ScheduleView
from xlareport.pages import navigation
from xlareport.runtime import units
from xlareport.storage.payloads import Payload, make_payload

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def instruction_links(slug: str, program: TpuProgram, *, has_history: bool) -> list[list[str]]:
    """Return the instructions of a program with the address of their history.

    Without one, as where no step was dumped, that is their place in the graph.
    """
    asked = "i" if has_history else "node"
    page = navigation.module_address(slug)
    return [[name, f"{page}#{asked}={quote(name)}"] for name in program.instructions]


def tpu_payloads(slug: str, files: TpuFiles, *, has_history: bool) -> Iterator[Payload]:
    """Yield the programs of a module that have a schedule, the longest first."""
    if files.module is None:
        return
    shown = sorted(
        (program for program in files.module.programs if program.program in files.views),
        key=lambda program: (program.total_seconds or 0, program.instruction is not None),
        reverse=True,
    )
    key = navigation.module_key(slug, "tpu")
    if shown:
        names = [
            [program.program, instruction_links(slug, program, has_history=has_history)]
            for program in shown
        ]
        yield make_payload(key, {"programs": names})
    for number, program in enumerate(shown):
        yield make_payload(
            f"{key}-{number}", _program_payload(program, files.views[program.program])
        )


def _program_payload(program: TpuProgram, view: ScheduleView) -> dict[str, Any]:
    return {
        "units": [
            [unit, program.units[unit].capacity, "".join(map(_digit, column))]
            for unit, column in view.columns.items()
        ],
        "cycles": view.cycles,
        "runs": [list(run) for run in view.counts],
        "loops": [
            [loop.begin, loop.end, loop.depth, _loop_words(loop)]
            for loop in program.loops
            if loop.begin is not None
        ],
        "ranges": [
            [range_.begin, range_.share, range_.runs, list(range_.bundles)]
            for range_ in view.ranges
        ],
        "lines": [list(line) for line in program.source_lines],
        "stages": list(program.stages),
    }


def _digit(count: int) -> str:
    return _DIGITS[min(count, len(_DIGITS) - 1)]


def _loop_words(loop: TpuLoop) -> str:
    limit = "unknown bounds" if loop.limit is None else f"limit {units.count(loop.limit)}"
    runs = "" if loop.runs is None else f", runs {units.plural(loop.runs, 'time')}"
    return f"loop, {limit}{runs}"
