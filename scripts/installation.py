"""Installs the wheel as users do: scripts/installation.py PYTHON... (`make installation`).

Into an empty environment of each interpreter, from an empty cache: what it weighs, how long
`--help` takes, whether it builds a report; then `uvx --from` the wheel. Needs uv beside Python.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = Path(sys.executable).with_name("uv")
QUIETLY = ("--quiet", "--compile-bytecode")  # as pip does
LARGEST = 250_000_000
"""Bytes of all that is installed."""
LONGEST = 0.3
"""Seconds of CPU until `--help` has answered, the best of three."""


def main(interpreters: list[str]) -> int:
    """Return 0 if the wheel works on every interpreter, within the limits; print what it needs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = {**os.environ, "UV_CACHE_DIR": str(folder / "cache")}
        environ.pop("PYTHONPATH", None)
        run(folder, environ, UV, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT)
        (wheel,) = folder.glob("*.whl")
        codes = [check(folder, environ, wheel, python) for python in interpreters]
        shown = run(folder, environ, UV, "tool", "run", "--from", wheel, "xlareport", "--version")
        print(f"uvx --from {wheel.name}: {shown.strip()}")  # noqa: T201 - its output
    return max(codes)


def check(folder: Path, environ: dict[str, str], wheel: Path, python: str) -> int:
    """Install the wheel for one interpreter and use it; return 1 beyond a limit."""
    place = folder / f"environment-{Path(python).name}-{len(list(folder.iterdir()))}"
    run(folder, environ, UV, "venv", "--quiet", "--python", python, place)
    installed = place / "bin/python"
    run(folder, environ, UV, "pip", "install", *QUIETLY, "--python", installed, wheel)
    size = sum(path.lstat().st_size for path in place.rglob("*") if path.is_file())
    command = place / "bin/xlareport"
    dump = ROOT / "examples/transformer.tar.zst"
    run(folder, environ, command, "build", dump, "--out", place / "report", "--strict", "--quiet")
    run(folder, environ, command, "pack", "--single-file", place / "report", "-o", place / "x.html")
    seconds = min(seconds_of(folder, environ, command, "--help") for _ in range(3))
    version = run(folder, environ, installed, "--version").strip()
    print(f"{version}: {size / 1e6:.0f} MB installed, --help {seconds:.2f} s of CPU")  # noqa: T201 - its output
    return int(size > LARGEST or seconds > LONGEST)


def seconds_of(folder: Path, environ: dict[str, str], *command: str | Path) -> float:
    """Return the seconds of CPU that a command needs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(folder, environ, *command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(folder: Path, environ: dict[str, str], *command: str | Path) -> str:
    """Return what a command prints; raises CalledProcessError."""
    done = subprocess.run(command, cwd=folder, env=environ, check=True, text=True, stdout=-1)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [sys.executable]))
