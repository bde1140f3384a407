"""Questions to a script that another interpreter, one with jaxlib, runs; a line for each."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_VARIABLE = "XLAREPORT_JAX_PYTHON"


def jax_python() -> str:
    """Return the interpreter with jaxlib that the environment names; exit without one."""
    python = os.environ.get(_VARIABLE, "")
    if not python:
        print(
            f"{Path(sys.argv[0]).name}: not run; set {_VARIABLE}=PYTHON, with jaxlib 0.10 to 0.12"
        )
        sys.exit(0)
    return python


def ask(
    python: str,
    runner: Path,
    questions: Sequence[str],
    environment: Mapping[str, str],
    patience: float,
) -> list[dict[str, Any]]:
    """Return the answer to each question; both are one line, the answer of JSON.

    XLA aborts on some programs. Where the process ends, what it was asked last has an `error`, and
    another process is asked the rest. `patience` is in seconds, for each process.
    """
    answers: list[dict[str, Any]] = []
    while len(answers) < len(questions):
        done = subprocess.run(
            [python, str(runner)],
            input="".join(f"{question}\n" for question in questions[len(answers) :]),
            capture_output=True,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu", **environment},
            timeout=patience,
            check=False,
        )
        answers += [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode:
            answers.append({"error": "the process ended"})
    return answers[: len(questions)]
