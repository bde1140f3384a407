"""Assertions on how XLA compiled a program, and a function that captures one for a test.

An assertion on something that the dump does not show fails, with the reason.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from xlareport.analysis.findings.wrapped import unwrap_operation
from xlareport.analysis.operation_families import count_operations
from xlareport.api import Module, Report, Snapshot, read
from xlareport.captures.run import capture_uncached
from xlareport.knowledge.opcodes import opcode_work
from xlareport.runtime import units

_LIMIT = re.compile(
    r"<\s{0,9}(?P<number>\d{1,18}(?:\.\d{1,9})?)\s?(?P<unit>%|[kKMGT]i?B|B)", re.ASCII
)
_NAMED = 5
Program = Report | Module | Snapshot
"""A dump, of which the main program counts, a module, of which the final snapshot does, or one."""


def assert_no_collectives(program: Program, *opcodes: str) -> None:
    """Fail where a program has collectives, of some opcodes or of any, in any form."""
    snapshot = final_snapshot(program)
    wanted = frozenset(opcodes) or opcode_work().collectives
    counts = count_operations(snapshot.hlo)
    present = [f"{counts[name]:,} {name}" for name in sorted(wanted) if counts[name]]
    if present:
        pytest.fail(f"{snapshot.hlo.name} has {', '.join(present)}.", pytrace=False)


def assert_no_recompilation(report: Report) -> None:
    """Fail where one process compiled a function several times.

    Operations of JAX outside of jit do not count: JAX compiles them once for each shape.
    """
    groups = [group for group in report.recompilations if not group.is_helper]
    if groups:
        named = "; ".join(
            f"{group.name}, {len(group.modules)} times ({_first_difference(group.differences)})"
            for group in groups[:_NAMED]
        )
        pytest.fail(f"Compiled several times: {named}.", pytrace=False)


def assert_peak_bytes(
    program: Report | Module, limit: str, baseline: Report | Module | None = None
) -> None:
    """Fail where the peak memory is above `<2GiB`, or grew by more than `<5%` of the baseline.

    Fails too where the dump states no peak, and raises ValueError for another form of limit.
    """
    match = _LIMIT.fullmatch(limit.strip())
    if match is None or (match["unit"] == "%") != (baseline is not None):
        raise ValueError(f"{limit!r} is no limit: `<2GiB`, or `<5%` with a baseline.")
    peak = _peak(program)
    if baseline is None:
        bound = float(match["number"]) * units.unit_scale(match["unit"])
    else:
        bound = _peak(baseline) * (1 + float(match["number"]) / 100)
    if peak > bound:
        pytest.fail(
            f"The peak is {units.byte_size(peak)} ({peak:,} bytes), above "
            f"{units.byte_size(int(bound))} ({limit}).",
            pytrace=False,
        )


def assert_fused(program: Program, op_name: str) -> None:
    """Fail where an instruction of a framework op runs outside of fusions, or in one of its own.

    `op_name` is a regular expression that is searched for in the op's path; it has to be there.
    """
    snapshot = final_snapshot(program)
    fused = {
        name
        for instruction in snapshot.instructions("fusion")
        if unwrap_operation(snapshot.hlo, instruction) is instruction
        for _, name in instruction.called
    }
    wanted = re.compile(op_name)
    places = [
        (computation.name, instruction)
        for computation in snapshot.computations
        for instruction in computation.instructions
        if wanted.search(instruction.metadata.op_name)
    ]
    if not places:
        pytest.fail(f"{snapshot.hlo.name} has no op {op_name!r}.", pytrace=False)
    alone = [
        f"%{instruction.name}"
        for name, instruction in places
        if name not in fused and instruction.opcode != "fusion"
    ]
    if alone:
        shown = ", ".join(alone[:_NAMED])
        pytest.fail(f"Not fused: {shown} ({len(alone):,} in total).", pytrace=False)


def final_snapshot(program: Program) -> Snapshot:
    """Return the snapshot that counts; fails where a dump holds no optimized module."""
    if isinstance(program, Snapshot):
        return program
    module = program.main if isinstance(program, Report) else program
    snapshot = module.final
    if snapshot.key != "after_optimizations":
        pytest.fail(
            f"The dump of {module.key} ends with {snapshot.label}: it has no optimized module. "
            f"{_why_cut(module)}",
            pytrace=False,
        )
    return snapshot


def _why_cut(module: Module) -> str:
    problems = module.problems
    if not problems:
        return "A compilation cache may have answered."
    more = f", the first of {len(problems):,}" if len(problems) > 1 else ""
    return f"A problem{more}: {problems[0]}"


def capture_report(command: Sequence[str], folder: Path) -> Report:
    """Run a command so that XLA dumps into a new folder, without JAX's compilation cache.

    The test fails where the command does, or where XLA dumped nothing.
    """
    code, dump = capture_uncached(command, "quick", folder, os.environ)
    if code:
        pytest.fail(f"{command[0]} ended with exit code {code}.", pytrace=False)
    if dump is None:
        pytest.fail("XLA dumped nothing.", pytrace=False)
    return read(dump)


def _peak(program: Report | Module) -> int:
    module = program.main if isinstance(program, Report) else program
    final = module.summary.final
    peak = final.occupied_peak_bytes or final.allocated_bytes
    if peak is None:
        pytest.fail(f"The dump of {module.key} states no peak memory.", pytrace=False)
    return peak


def _first_difference(differences: Sequence[object]) -> str:
    return str(getattr(differences[0], "what", "")) if differences else "no difference was found"
