"""The memory of the process that builds a site does not grow with the number of modules."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.walks import LONG_WALKS

pytestmark = [
    pytest.mark.skipif(not LONG_WALKS, reason="minutes: `make walks` does it"),
    pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the peak"),
]
FEW, MANY = 1_100, 4_400
"""Modules; from 4,000 files on the names of files lie on disk."""
GROWTH = 2_500
"""Bytes a module; 500 or so are needed, 6,600 were before modules lay on disk."""
STAGES = ("before_optimizations", "cpu_after_optimizations")
BUILD = """
import sys
from pathlib import Path
from xlareport.report import BuildOptions, build

if __name__ == "__main__":
    build(sys.argv[1], BuildOptions(out=Path(sys.argv[2]), html=False, pictures="none"))
    status = Path("/proc/self/status").read_text().splitlines()
    print(next(line for line in status if line.startswith("VmHWM")).split()[1])
"""


def test_the_peak_of_the_client_does_not_grow(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text(BUILD)
    peaks = [_peak(tmp_path / str(number), number, script) for number in (FEW, MANY)]
    assert peaks[1] - peaks[0] < GROWTH * (MANY - FEW)


def _peak(folder: Path, modules: int, script: Path) -> int:
    """Return the bytes that the build of a dump of so many small modules takes at most."""
    dump = folder / "dump"
    dump.mkdir(parents=True)
    for number in range(modules):
        _write(dump, number, f"f{number % 500}")
    command = [sys.executable, str(script), str(dump), str(folder / "out")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout) * 1024


def _write(dump: Path, number: int, name: str) -> None:
    """Write a module of a shape of its own, with two files beside its snapshots."""
    shape = f"f32[{number + 8}]{{0}}"
    for stage in STAGES:
        text = (
            f"HloModule jit_{name}\n\nENTRY main {{\n  p = {shape} parameter(0)\n"
            f"  ROOT r = {shape} {'negate' if 'after' in stage else 'abs'}(p)\n}}\n"
        )
        (dump / f"module_{number:05d}.jit_{name}.{stage}.txt").write_text(text)
    for ending in ("debug_options", "cpu_after_optimizations-memory-usage-report.txt"):
        (dump / f"module_{number:05d}.jit_{name}.{ending}").write_text("")
