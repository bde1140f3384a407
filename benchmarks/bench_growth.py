"""How the cost of a build grows: with instructions, with snapshots, and with modules.

The dumps are made here: modules of layers in called computations, of which each snapshot changes a
few. Each is built into a new folder, then again with nothing changed. CPU time says more than the
wall's on a busy machine; memory is the most that one process took.

Usage: `bench_growth.py --instructions 1000000 --snapshots 1000 --modules 50000` for
more than it measures unless told; that takes hours.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from measuring import environment
from msgspec import to_builtins

ROOT = Path(__file__).resolve().parent.parent
TYPE = "f32[128,128]{1,0}"
LAYERS = 50
"""Layers of one computation; a layer has four instructions."""
CHANGED = 5
"""Layers that each snapshot changes."""
SMALL = 40
"""Instructions of each of many modules."""
FEW = 4
"""Snapshots, where they are not what grows."""


@dataclass(frozen=True, slots=True)
class Case:
    """A dump of so much."""

    grows: str
    modules: int
    instructions: int
    """Of each snapshot of each module."""
    snapshots: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What a build took."""

    cpu_seconds: float
    seconds: float
    megabytes: float
    """The most memory that one process took."""


def main() -> None:
    """Make each dump, build it twice, print a table and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instructions", type=_numbers, default=[10**3, 10**4, 10**5])
    parser.add_argument("--snapshots", type=_numbers, default=[10, 100])
    parser.add_argument("--modules", type=_numbers, default=[10, 100, 1_000])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench_growth.json")
    asked = parser.parse_args()
    cases = [
        *(Case("instructions", 1, number, FEW) for number in asked.instructions),
        *(Case("snapshots", 1, 2_000, number) for number in asked.snapshots),
        *(Case("modules", number, SMALL, FEW) for number in asked.modules),
    ]
    print(
        "| grows | modules | instructions | snapshots | files | MB | CPU s | MB at most | again |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    rows = []
    for case in cases:
        rows.append(measure(case, asked.jobs))
        print(_line(rows[-1]), flush=True)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    report = json.dumps({"machine": machine, "rows": rows}, indent=1)
    asked.json.write_text(f"{report}\n", encoding="utf-8")


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


def _line(row: dict[str, object]) -> str:
    names = ("grows", "modules", "instructions", "snapshots", "files")
    figures = ("dump_megabytes", "cpu_seconds", "megabytes", "again_cpu_seconds")
    cells = [str(row[name]) for name in names] + [f"{row[name]:.1f}" for name in figures]
    return f"| {' | '.join(cells)} |"


def measure(case: Case, jobs: int) -> dict[str, object]:
    """Return what a case is, and what its first and its second build took."""
    with tempfile.TemporaryDirectory() as folder:
        dump, out = Path(folder) / "dump", Path(folder) / "out"
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            pool.submit(make, dump, case).result()  # its memory would count as that of a build
        written = [path.stat().st_size for path in dump.iterdir()]
        first, again = (build(dump, out, jobs) for _ in range(2))
    return {
        **to_builtins(case),
        "files": len(written),
        "dump_megabytes": sum(written) / 1e6,
        **to_builtins(first),
        "again_cpu_seconds": again.cpu_seconds,
    }


def build(dump: Path, out: Path, jobs: int) -> Cost:
    """Build the complete report in a process of its own."""
    program = [sys.executable, "-m", "xlareport", "build", str(dump), "--quiet"]
    program += ["--out", str(out), "--jobs", str(jobs)]
    started = time.perf_counter()
    with subprocess.Popen(
        [*program, "--out", str(out), "--jobs", str(jobs)],
        env=environment(),
        stdout=subprocess.DEVNULL,
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the build of {dump} ended with {process.returncode}")
    kilobytes = used.ru_maxrss / 1024 if sys.platform == "darwin" else used.ru_maxrss
    seconds = time.perf_counter() - started
    return Cost(used.ru_utime + used.ru_stime, seconds, kilobytes / 1024)


def make(dump: Path, case: Case) -> None:
    """Write the dump of a case."""
    dump.mkdir()
    for number in range(case.modules):
        name = f"jit_grown_{number}" if case.modules > 1 else "jit_grown"
        for place in range(case.snapshots):
            stage = _stage(place, case.snapshots)
            path = dump / f"module_{number:04d}.{name}.{stage}.txt"
            path.write_text("".join(text(name, case.instructions, place)), encoding="utf-8")


def _stage(place: int, snapshots: int) -> str:
    if place == 0:
        return "before_optimizations"
    if place == snapshots - 1:
        return "cpu_after_optimizations"
    return f"{place:04d}.simplification.after_algsimp.before_dce"


def text(name: str, instructions: int, snapshot: int) -> Iterator[str]:
    """Yield the text of a snapshot; the first few layers are changed in the first, and so on."""
    layers = max(1, instructions // 4)
    blocks = -(-layers // LAYERS)
    yield f"HloModule {name}, is_scheduled=false\n\n"
    for block in range(blocks):
        last = min(LAYERS, layers - block * LAYERS)
        yield f"%block.{block} (x.{block}: {TYPE}, w.{block}: {TYPE}) -> {TYPE} {{\n"
        yield f"  %x.{block} = {TYPE} parameter(0)\n  %w.{block} = {TYPE} parameter(1)\n"
        value = f"%x.{block}"
        for layer in range(block * LAYERS, block * LAYERS + last):
            changed = layer < snapshot * CHANGED
            yield from _layer(layer, value, block, changed=changed)
            value = f"%out.{layer}"
        yield f"  ROOT %result.{block} = {TYPE} copy({value})\n}}\n\n"
    yield f"ENTRY %main (p: {TYPE}, w: {TYPE}) -> {TYPE} {{\n"
    yield f"  %p = {TYPE} parameter(0)\n  %w = {TYPE} parameter(1)\n"
    value = "%p"
    for block in range(blocks):
        yield f"  %call.{block} = {TYPE} call({value}, %w), to_apply=%block.{block}\n"
        value = f"%call.{block}"
    yield f"  ROOT %end = {TYPE} negate({value})\n}}\n"


def _layer(layer: int, value: str, block: int, *, changed: bool) -> Iterator[str]:
    note = f'metadata={{op_name="jit(f)/layer_{layer}/%s"}}'
    dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    yield f"  %dot.{layer} = {TYPE} dot({value}, %w.{block}), {dims}, {note % 'dot_general'}\n"
    yield f"  %add.{layer} = {TYPE} add(%dot.{layer}, {value}), {note % 'add'}\n"
    yield f"  %tanh.{layer} = {TYPE} tanh(%add.{layer}), {note % 'tanh'}\n"
    opcode = "add" if changed else "multiply"
    operands = f"%tanh.{layer}, %tanh.{layer}"
    yield f"  %out.{layer} = {TYPE} {opcode}({operands}), {note % 'mul'}\n"


if __name__ == "__main__":
    main()
