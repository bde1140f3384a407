"""XLA's own cost analysis says the same of every optimised module of the large dumps.

Asked for by two variables: XLAREPORT_DUMPS names the folder of dumps, XLAREPORT_JAX_PYTHON an
interpreter with jaxlib 0.12.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from xlareport.analysis.cost.loops import Loops
from xlareport.analysis.cost.work import count_cost
from xlareport.hlo.text import TextReader

ALLOWED = 0.01
"""XLA sums in 32-bit floats, we in integers."""


@pytest.fixture(scope="module")
def finals(dumps: Path) -> list[Path]:
    paths = (path for path in dumps.rglob("*after_optimizations.txt") if path.is_file())
    return sorted(paths)


@pytest.fixture(scope="module")
def answers(finals: list[Path]) -> list[list[float] | str]:
    python = os.environ.get("XLAREPORT_JAX_PYTHON")
    if not python:
        pytest.skip("XLAREPORT_JAX_PYTHON does not name an interpreter with jaxlib 0.12")
    asked = "".join(f"{path}\n" for path in finals)
    script = Path(__file__).with_name("xla_cost.py")
    done = subprocess.run(
        [python, str(script)], input=asked, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_flops_and_bytes_of_the_final_modules(
    finals: list[Path], answers: list[list[float] | str]
) -> None:
    assert len(answers) == len(finals)
    wrong = []
    for path, answer in zip(finals, answers, strict=True):
        if isinstance(answer, str):
            continue
        module = TextReader().read(path.read_bytes(), path.name)
        cost = count_cost(module) if module else None
        ours = (cost.xla_flops, cost.xla_transcendentals, cost.xla_bytes_accessed) if cost else ()
        if not all(_close(one, other) for one, other in zip(ours, answer, strict=True)):
            wrong.append((path.name, ours, answer))
    assert wrong == []


def test_trip_counts_read_from_the_loop_agree_with_the_compilers_notes(finals: list[Path]) -> None:
    agreed = 0
    for path in finals:
        text = path.read_bytes()
        module = TextReader().read(text, path.name) if b"known_trip_count" in text else None
        for place in module.computations if module else ():
            for instruction in place.instructions:
                if "known_trip_count" in instruction.attributes.get("backend_config", ""):
                    loops = Loops(module)
                    noted, read = (
                        loops.trip_count(place, instruction),
                        loops.counted(place, instruction),
                    )
                    assert read.count == noted.count, (path.name, instruction.name, read.reason)
                    agreed += 1
    assert agreed > 400


def _close(ours: int | None, theirs: float) -> bool:
    return ours is not None and abs(ours - theirs) <= ALLOWED * abs(theirs)
