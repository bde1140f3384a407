"""XLA's own parser makes of every text of the large dumps what we make of it.

Compared: the numbers of computations and instructions, names, opcodes, shapes, operands, called
computations, control predecessors, parameter numbers, roots. No text is left out and no difference
is allowed but one that XLA's printing brings: texts since 2026 leave get-tuple-element out, which
XLA's parser puts in again under names of its own.

Asked for by XLAREPORT_DUMPS, the folder of dumps. XLA's parser runs in an interpreter of its own:
the one that XLAREPORT_JAX_PYTHON names, else this one. It needs jaxlib 0.12 (Python 3.12): older
ones do not know compact tuple elements.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import pytest
from dialects import GET, compact_operands

from xlareport.hlo.graph import control_predecessors
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.protos.schema import message_class
from xlareport.hlo.protos.shapes import shape_text
from xlareport.hlo.text import TextReader

OLDEST = (0, 12)
ASK = "import jaxlib.version as v; print(*v.__version_info__[:2])"


@pytest.fixture(scope="module")
def python() -> str:
    named = os.environ.get("XLAREPORT_JAX_PYTHON", sys.executable)
    asked = subprocess.run([named, "-c", ASK], capture_output=True, text=True, check=False)
    version = tuple(int(part) for part in asked.stdout.split())
    if version < OLDEST:
        has = ".".join(map(str, version)) or "none"
        pytest.skip(f"{named} needs jaxlib 0.12 or newer and has {has}")
    return named


def texts(folder: Path) -> Iterator[Path]:
    """Yield the HLO texts of a dump, equal ones once."""
    seen: set[bytes] = set()
    for path in sorted(one for one in folder.rglob("*.txt") if one.is_file()):
        data = path.read_bytes()
        key = blake2b(data).digest()
        if data.startswith(b"HloModule ") and key not in seen:
            seen.add(key)
            yield path


def names() -> list[str]:
    folder = os.environ.get("XLAREPORT_DUMPS")
    return sorted(path.name for path in Path(folder).iterdir()) if folder else ["none"]


@pytest.mark.parametrize("name", names())
def test_every_text_is_read_as_xla_reads_it(name: str, dumps: Path, python: str) -> None:
    script = Path(__file__).with_name("xla_reading.py")
    reader = TextReader()
    with subprocess.Popen(
        [python, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parser:
        assert parser.stdin is not None
        assert parser.stdout is not None
        for path in texts(dumps / name):
            parser.stdin.write(f"{path}\n".encode())
            parser.stdin.flush()
            theirs = answer(parser.stdout)
            ours = reader.read(path.read_bytes(), path.name)
            assert ours is not None
            assert differences(ours, theirs) == [], path.name
    assert reader.problems == []


def answer(stream: IO[bytes]) -> Any:
    """Return the module that XLA's parser made; fails with what it said where it made none."""
    sign = stream.read(1)
    content = stream.read(int.from_bytes(stream.read(8), "little"))
    assert sign == b"+", content.decode("utf-8", "replace")
    module = message_class("HloModuleProto")()
    module.ParseFromString(content)
    return module


def differences(ours: HloModule, theirs: Any) -> list[tuple[object, ...]]:
    called = {one.id: one.name.decode() for one in theirs.computations}
    found: list[tuple[object, ...]] = []
    if ours.name != theirs.name.decode():
        found.append(("name", ours.name, theirs.name))
    if sorted(called.values()) != sorted(one.name for one in ours.computations):
        found.append(("computations", sorted(called.values())))
        return found
    for computation in theirs.computations:
        mine = ours.by_name[computation.name.decode()]
        told, written = xla_facts(computation, called), facts(mine)
        found += [
            (key, told.get(key), written[key]) for key in written if told.get(key) != written[key]
        ]
        left = [told[key] for key in told.keys() - written.keys() if told[key][0] != GET]
        found += [("not read", *one) for one in left]
    return found


def facts(computation: Computation) -> dict[str, tuple[object, ...]]:
    operands = compact_operands(computation)
    return {
        instruction.name: _facts(instruction, operands[instruction.name])
        for instruction in computation.instructions
    }


def _facts(one: Instruction, operands: tuple[str, ...]) -> tuple[object, ...]:
    return (
        one.opcode,
        one.shape.text,
        operands,
        tuple(sorted(name for _, name in one.called)),
        control_predecessors(one),
        one.argument if one.opcode == "parameter" else "",
        one.is_root,
    )


def xla_facts(computation: Any, called: dict[int, str]) -> dict[str, tuple[object, ...]]:
    by_id = {instruction.id: instruction for instruction in computation.instructions}
    return {
        instruction.name.decode(): (
            instruction.opcode.decode(),
            shape_text(instruction.shape),
            tuple(_compact(number, by_id) for number in instruction.operand_ids),
            tuple(sorted(called[number] for number in instruction.called_computation_ids)),
            tuple(by_id[number].name.decode() for number in instruction.control_predecessor_ids),
            str(instruction.parameter_number) if instruction.opcode == b"parameter" else "",
            instruction.id == computation.root_id,
        )
        for instruction in computation.instructions
    }


def _compact(number: int, by_id: dict[int, Any]) -> str:
    element = ""
    while by_id[number].opcode.decode() == GET:
        element = f"#{by_id[number].tuple_index}{element}"
        number = by_id[number].operand_ids[0]
    return f"{by_id[number].name.decode()}{element}"
