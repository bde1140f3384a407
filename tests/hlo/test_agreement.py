"""Snapshots that exist as text, proto and drawing tell the same, whatever reads them."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dialects import GET, compact_operands

from xlareport.hlo.dot import DotReader
from xlareport.hlo.graph import control_predecessors
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.proto import ProtoReader
from xlareport.hlo.text import TextReader

KEPT = ("jax-cpu-train-allformats", "jax-0.4.13-cpu-train", "tf-add-multiply")
BODY_OF = "unnamed-of-"
NOT_DRAWN = re.compile(r"\{[^{}]*\}|/\*[^*]*\*/")

Facts = dict[tuple[str, str], tuple[Any, ...]]


def large() -> list[str]:
    """Return the large dumps that hold protos or drawings, where there are any."""
    folder = os.environ.get("XLAREPORT_DUMPS")
    dumps = sorted(Path(folder).iterdir()) if folder else []
    return [dump.name for dump in dumps if any(dump.rglob("*.hlo.pb*")) or any(dump.rglob("*.dot"))]


@pytest.fixture(scope="module", params=[*KEPT, *large()])
def folder(request: pytest.FixtureRequest, unpacked: Callable[[str], Path]) -> Path:
    name: str = request.param
    return unpacked(name) if name in KEPT else Path(os.environ["XLAREPORT_DUMPS"]) / name


def pairs(folder: Path, ending: str) -> Iterator[tuple[Path, Path]]:
    """Yield files with the texts beside them."""
    for path in sorted(folder.rglob(f"*{ending}*")):
        text = path.with_name(path.name.partition(ending)[0] + ".txt")
        if text.is_file():
            yield path, text


def instructions(module: HloModule) -> Iterator[tuple[Computation, Instruction]]:
    for computation in module.computations:
        for instruction in computation.instructions:
            yield computation, instruction


def facts(module: HloModule) -> Facts:
    return {
        (computation.name, instruction.name): (
            instruction.opcode,
            instruction.shape.text,
            instruction.argument if instruction.opcode == "parameter" else "",
            operands[instruction.name],
            instruction.called,
            control_predecessors(instruction),
            instruction.is_root,
        )
        for computation in module.computations
        for operands in [compact_operands(computation)]
        for instruction in computation.instructions
    }


def places(module: HloModule) -> list[tuple[object, ...]]:
    """Return the frames without folders: those of packed protos differ in some of the dumps."""
    return [
        (number, one.file.rpartition("/")[2], one.function, one.line, one.column, one.parent)
        for number, one in sorted(module.stack_frames.items())
    ]


def test_protos_tell_the_same(folder: Path) -> None:
    texts, protos = TextReader(), ProtoReader()
    seen: set[HloModule] = set()
    for path, beside in pairs(folder, ".hlo.pb"):
        text = texts.read(beside.read_bytes(), beside.name)
        proto = protos.read(path.read_bytes(), path.name)
        assert text is not None
        assert proto is not None
        if text in seen:
            continue
        seen.add(text)
        assert text.name == proto.name
        assert {computation.name for computation in text.computations} == {
            computation.name for computation in proto.computations
        }
        told, written = facts(proto), facts(text)
        assert {key: told[key] for key in written} == written, path.name
        # Texts since 2026 leave get-tuple-element out.
        assert {told[key][0] for key in told.keys() - written.keys()} <= {GET}, path.name
        assert not text.stack_frames or places(text) == places(proto)
    assert texts.problems == []
    assert protos.problems == []


class Drawn:
    """Compares a drawing with the text of the same snapshot; counts what may be missing."""

    def __init__(self, drawing: HloModule, text: HloModule) -> None:
        self.wrong: list[tuple[object, ...]] = []
        self.missing: Counter[str] = Counter()
        by_name = {one.name: one for _, one in instructions(text)}
        self._bodies = {one.name: name for one in by_name.values() for _, name in one.called}
        for computation in drawing.computations:
            name = self._named(computation.name)
            if name not in text.by_name:
                self.wrong.append(("computation", computation.name))
                continue
            self._computation(computation, text.by_name[name])

    def _named(self, name: str) -> str:
        """Return the name in the text: a drawing does not name the bodies of fusions."""
        return self._bodies.get(name.removeprefix(BODY_OF), "") if BODY_OF in name else name

    def _computation(self, drawn: Computation, written: Computation) -> None:
        operands, shown_operands = compact_operands(written), compact_operands(drawn)
        for instruction in drawn.instructions:
            name = instruction.name
            if name.startswith("unnamed-parameter."):
                self.missing["name of a parameter that nothing uses"] += 1
            elif name in written.by_name:
                self._instruction(instruction, written.by_name[name])
                self._operands(shown_operands[name], operands[name])
            else:
                self.wrong.append(("instruction", instruction.text))
        shown = {instruction.name for instruction in drawn.instructions}
        for instruction in written.instructions:
            if instruction.name not in shown and instruction.opcode != "parameter":
                self.missing[instruction.opcode] += 1

    def _instruction(self, drawn: Instruction, written: Instruction) -> None:
        here = (drawn.opcode, *(self._shape(one, drawn) for one in (drawn, written)))
        if here[0] != written.opcode or here[1] != here[2]:
            self.wrong.append((drawn.text, written.text))
        called = {(attribute, self._named(name)) for attribute, name in drawn.called}
        if not called <= set(written.called):
            self.wrong.append((drawn.called, written.called))
        self.missing["called computation"] += len(written.called) - len(drawn.called)

    def _operands(self, drawn: tuple[str, ...], written: tuple[str, ...]) -> None:
        rest = iter(written)
        if not all(operand in rest for operand in drawn):
            self.wrong.append((drawn, written))
        self.missing["operand"] += len(written) - len(drawn)

    def _shape(self, one: Instruction, drawn: Instruction) -> str:
        if "unknown[]" in drawn.shape.text:
            self.missing["shape"] += 1
            return ""
        return NOT_DRAWN.sub("", one.shape.text)


MAY_BE_MISSING = {
    "constant",
    "broadcast",
    GET,
    "name of a parameter that nothing uses",
    "operand",
    "called computation",
    "shape",
}


def test_drawings_tell_a_part(folder: Path) -> None:
    texts, drawings = TextReader(), DotReader()
    seen: set[HloModule] = set()
    missing: Counter[str] = Counter()
    for path, beside in pairs(folder, ".dot"):
        text = texts.read(beside.read_bytes(), beside.name)
        drawing = drawings.read(path.read_bytes(), path.name)
        assert text is not None
        assert drawing is not None
        if text in seen:
            continue
        seen.add(text)
        compared = Drawn(drawing, text)
        assert compared.wrong == [], path.name
        missing += compared.missing
    assert {what for what, count in missing.items() if count} <= MAY_BE_MISSING
    assert drawings.problems == []
