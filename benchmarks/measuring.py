"""Measures both readers in processes of their own, on the same files."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

Measured: TypeAlias = dict[str, Any]

HERE = Path(__file__).parent
OLDEST = (0, 10)
"""Older jaxlibs do not know all attributes of today's texts."""
ASK = "import jaxlib.version as v; print(v.__version__)"


def environment() -> dict[str, str]:
    """Return an environment in which `python -m xlareport` runs as where it is installed.

    There it is compiled once, whatever this process was told about bytecode.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(HERE.parent / "generator")}


class NoParserError(Exception):
    """There is no jaxlib that can read the texts of today; the message says why."""


def find_parser() -> tuple[str, str]:
    """Return an interpreter with jaxlib 0.10 and its version.

    It is the one that XLAREPORT_JAX_PYTHON names, else this one. Raises NoParserError.
    """
    python = os.environ.get("XLAREPORT_JAX_PYTHON", sys.executable)
    asked = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=False)
    version = asked.stdout.strip()
    if not version:
        raise NoParserError(f"{python} has no jaxlib; XLAREPORT_JAX_PYTHON can name another")
    if tuple(map(int, version.split(".")[:2])) < OLDEST:
        raise NoParserError(f"{python} has jaxlib {version}, older than 0.10")
    return python, version


class Readers:
    """Runs a reader on files: the least time of some runs, the peak of memory of that run."""

    def __init__(self, python: str, runs: int, *, with_xla: bool) -> None:
        self._python = python
        self._runs = runs
        self._with_xla = with_xla

    def both(self, paths: Sequence[Path]) -> Measured:
        """Measure ours and, where it is there, XLA's parser, in turns."""
        for path in paths:
            path.read_bytes()  # so that no run finds the disk colder than another
        names = ["read_ours.py", *(["read_xla.py"] if self._with_xla else [])]
        runs = [[self._run(name, paths) for name in names] for _ in range(self._runs)]
        best = [min(column, key=seconds_of) for column in zip(*runs, strict=True)]
        ours, theirs = best[0], best[1] if self._with_xla else None
        return {
            "texts": len(paths),
            "bytes": sum(path.stat().st_size for path in paths),
            "ours": ours,
            "xla": theirs,
            "ratio": theirs["seconds"] / ours["seconds"] if theirs else None,
            "cpu_ratio": theirs["cpu_seconds"] / ours["cpu_seconds"] if theirs else None,
        }

    def _run(self, script: str, paths: Sequence[Path]) -> Measured:
        done = subprocess.run(
            [self._python, str(HERE / script)],
            input="".join(f"{path}\n" for path in paths),
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        measured: Measured = json.loads(done.stdout)
        return measured


def seconds_of(measured: Measured) -> float:
    """Return the seconds on the wall."""
    seconds: float = measured["seconds"]
    return seconds
