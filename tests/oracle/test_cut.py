"""What is cut out of a module is accepted by XLA's own parser.

Asked for by XLAREPORT_DUMPS, with the interpreter that XLAREPORT_JAX_PYTHON names (jaxlib 0.12).
"""

import os
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO

import pytest

from xlareport.analysis.extract import cut_computation, cut_instruction
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

EACH = 40
"""Pieces of each kind that are cut out of a module."""


def names() -> list[str]:
    folder = os.environ.get("XLAREPORT_DUMPS")
    return sorted(path.name for path in Path(folder).iterdir()) if folder else ["none"]


def pieces(module: HloModule) -> Iterator[tuple[str, str]]:
    """Yield (what, text): computations and instructions spread over the module."""
    step = max(1, len(module.computations) // EACH)
    for computation in module.computations[::step]:
        yield computation.name, cut_computation(module, computation.name)
    every = [
        (one.name, instruction.name)
        for one in module.computations
        for instruction in one.instructions
    ]
    step = max(1, len(every) // EACH)
    for number, (where, name) in enumerate(every[::step]):
        yield name, cut_instruction(module, where, name, radius=number % 4)


@pytest.mark.parametrize("name", names())
def test_xla_parses_what_was_cut_out(name: str, dumps: Path, tmp_path: Path) -> None:
    python = os.environ.get("XLAREPORT_JAX_PYTHON")
    if python is None:
        pytest.skip("XLAREPORT_JAX_PYTHON does not name an interpreter with jaxlib 0.12")
    script = Path(__file__).with_name("xla_reading.py")
    paths = (
        one for one in sorted((dumps / name).rglob("*after_optimizations.txt")) if one.is_file()
    )
    modules = (TextReader().read(path.read_bytes(), path.name) for path in islice(paths, 12))
    with subprocess.Popen(
        [python, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parser:
        assert parser.stdin is not None
        assert parser.stdout is not None
        for module in filter(None, modules):
            for what, text in pieces(module):
                (tmp_path / "piece.txt").write_text(text)
                parser.stdin.write(f"{tmp_path}/piece.txt\n".encode())
                parser.stdin.flush()
                assert refusal(parser.stdout) == "", f"{module.name} {what}\n{text}"


def refusal(stream: IO[bytes]) -> str:
    """Return what XLA's parser had against it; empty where it accepts it."""
    sign = stream.read(1)
    content = stream.read(int.from_bytes(stream.read(8), "little"))
    return "" if sign == b"+" else content.decode("utf-8", "replace")
