"""Tagged dumps: every first instruction has an op_name of its own, which is the truth for lineage.

`tests/data/programs/tagged.py` makes them. The matcher is given texts from which the tags are gone:
op_names and the names of instructions that hold them become those of the opcode.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dumps import content, modules

from xlareport.analysis.matching.search.pairing import Place
from xlareport.dump.modules import ModuleFiles, SnapshotFiles
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.text import TextReader

_TAG = re.compile(r"(?<![\w.])t\d+(?:;t\d+)*")
_OP_NAME = re.compile(r'op_name="([^"]*)" ?')
_NAME = re.compile(r"(?<![A-Za-z0-9.])t\d+(?:_t\d+)*(?:\.\d+)?(?![A-Za-z0-9])")
_FIRST_NUMBER = 100_000
"""Of the new names: above any number that XLA gave."""


class Shown(StrEnum):
    """What the matcher sees of the op_names."""

    SHARED = "shared op_names"
    """Each is replaced by one that all instructions of the opcode share."""
    NONE = "no op_names"


@dataclass(frozen=True, slots=True)
class Series:
    """The snapshots of a module up to the optimized one, with tags and without."""

    name: str
    stages: tuple[str, ...]
    tagged: tuple[HloModule, ...]
    stripped: tuple[HloModule, ...]

    @property
    def backend(self) -> str:
        """Return the backend that the name of the dump begins with."""
        return self.name.removeprefix("tagged-").partition("-")[0]

    def paired(self, stage: int) -> Iterator[tuple[Place, Instruction]]:
        """Yield the stripped place of every instruction of a snapshot, and the tagged one."""
        pairs = zip(self.stripped[stage].computations, self.tagged[stage].computations, strict=True)
        for stripped, tagged in pairs:
            for here, there in zip(stripped.instructions, tagged.instructions, strict=True):
                yield Place(stripped.name, here.name), there

    def ends(self) -> "Series":
        """Return the series with the first and the last snapshot alone."""
        return Series(
            self.name,
            (self.stages[0], self.stages[-1]),
            (self.tagged[0], self.tagged[-1]),
            (self.stripped[0], self.stripped[-1]),
        )


def tag(instruction: Instruction) -> str | None:
    """Return the tag of a tagged instruction: the last one in its op_name, None where none is."""
    tags = _TAG.findall(instruction.metadata.op_name)
    return tags[-1] if tags else None


def series(dump: Path, shown: Shown) -> Iterator[Series]:
    """Yield the modules of a tagged dump that hold both ends."""
    for files in modules(dump):
        texts = [*_texts(files)]
        names = [stage.name for stage, _ in texts]
        if "before_optimizations" in names and "after_optimizations" in names:
            last = names.index("after_optimizations")
            yield _series(f"{dump.name}/{files.key}", texts[: last + 1], shown)


def _texts(files: ModuleFiles) -> Iterator[tuple[SnapshotFiles, str]]:
    for stage in files.stages:
        text = content(stage, "hlo-text")
        if text is not None:
            yield stage, text.decode(errors="replace")


def _series(name: str, texts: Sequence[tuple[SnapshotFiles, str]], shown: Shown) -> Series:
    plain, bare = TextReader(), TextReader()
    first = _read(plain, texts[0][1])
    opcodes = {tag(line): line.opcode for line in first.instructions}
    strip = _Stripper({name: opcode for name, opcode in opcodes.items() if name is not None})
    tagged = [_read(plain, text) for _, text in texts]
    stripped = [_read(bare, strip(text, shown)) for _, text in texts]
    return Series(name, tuple(stage.label for stage, _ in texts), tuple(tagged), tuple(stripped))


def _read(reader: TextReader, text: str) -> HloModule:
    module = reader.read(text.encode(), "tagged")
    if module is None:
        raise ValueError("A tagged snapshot cannot be read.")
    return module


class _Stripper:
    """Takes the tags out of texts; the same name becomes the same name in all of them."""

    def __init__(self, opcodes: dict[str, str]) -> None:
        self._opcodes = opcodes
        self._names: dict[str, str] = {}

    def __call__(self, text: str, shown: Shown) -> str:
        new = self._op_name if shown is Shown.SHARED else lambda _: ""
        return _NAME.sub(self._name, _OP_NAME.sub(new, text))

    def _op_name(self, match: re.Match[str]) -> str:
        tags = _TAG.findall(match[1])
        opcode = self._opcodes.get(tags[-1], "other") if tags else "other"
        return f'op_name="jit(train)/{opcode}" '

    def _name(self, match: re.Match[str]) -> str:
        if match[0] not in self._names:
            stem, _, number = match[0].partition(".")
            opcode = self._opcodes.get(stem.replace("_", ";"), "other")
            tail = f".{_FIRST_NUMBER + len(self._names)}" if number else ""
            self._names[match[0]] = opcode + tail
        return self._names[match[0]]
