"""Breaks real dumps: each number is one broken dump, the same one every time.

A few modules of a dump and what lies beside them are copied; of the files about one in four is cut,
flipped, spliced, swapped with another, or loses, repeats or changes lines, numbers and names.
"""

import random
import re
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import zstandard

_DATA = Path(__file__).parents[1] / "tests" / "data"
_MOST_MODULES = 2
"""Of a dump; whole ones would take a second each."""
_ABSURD = (b"-1", b"0", b"99999999999999999999", b"4294967296", b"1e999", b"nan", b"9" * 5_000)
_OPERANDS = re.compile(rb"( [a-z][a-z-]*\()([^()\n]*)\)")


@dataclass(frozen=True, slots=True)
class Broken:
    """A file of a broken dump."""

    path: Path
    """Relative to the dump."""
    content: bytes
    good: bytes
    mutation: str
    """What was done to it; empty for a file that is as it was."""


def cut(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Leave off the end, from any byte on."""
    return content[: luck.randrange(len(content) + 1)]


def flip(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Turn over single bits."""
    changed = bytearray(content)
    for _each in range(luck.choice((1, 4, 40))):
        changed[luck.randrange(len(changed))] ^= 1 << luck.randrange(8)
    return bytes(changed)


def splice(content: bytes, luck: random.Random, other: bytes) -> bytes:
    """Put a piece of another file in."""
    place, begin = luck.randrange(len(content)), luck.randrange(len(other) + 1)
    return content[:place] + other[begin : begin + 2_000] + content[place:]


def swap(_content: bytes, _luck: random.Random, other: bytes) -> bytes:
    """Hold what another file holds."""
    return other


def shuffle(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Put lines in the place of others: names are defined twice, or after they are used."""
    lines = content.split(b"\n")
    for _each in range(5):
        lines[luck.randrange(len(lines))] = luck.choice(lines)
    return b"\n".join(lines)


def repeat(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Repeat a line, once or very often."""
    lines = content.split(b"\n")
    place = luck.randrange(len(lines))
    return b"\n".join([*lines[:place], *[lines[place]] * luck.choice((2, 300)), *lines[place:]])


def delete(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Leave out lines: operands, computations and braces go missing."""
    lines = content.split(b"\n")
    for _each in range(luck.choice((1, 3, 10))):
        lines.pop(luck.randrange(len(lines)))
        lines = lines or [b""]
    return b"\n".join(lines)


def renumber(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Make some numbers absurd."""
    digits = [place for place, one in enumerate(content) if 48 <= one <= 57]
    for place in luck.sample(digits, min(3, len(digits))):
        content = content[:place] + luck.choice(_ABSURD) + content[place + 1 :]
    return content


def rename(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Make one name another one of the text: graphs get cycles, calls get lost."""
    words = sorted(set(content.split()))
    return content.replace(luck.choice(words), luck.choice(words)) if words else content


def disconnect(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Take operands away, from most instructions none: drawings leave some out as well."""

    def without(found: re.Match[bytes]) -> bytes:
        operands = found[2].split(b", ")
        left = operands[: luck.randrange(len(operands))] if luck.random() < share else operands
        return found[1] + b", ".join(left) + b")"

    share = luck.choice((0.01, 0.1, 0.5))
    return _OPERANDS.sub(without, content)


MUTATIONS = (cut, flip, splice, swap, shuffle, repeat, delete, renumber, rename, disconnect)


@contextmanager
def fixtures() -> Iterator[Callable[[int], Path]]:
    """Return a function: a number -> a dump of the tests' data, unpacked where it has to be."""
    plain = [one for one in sorted(_DATA.iterdir()) if _is_dump(one)]
    packed = sorted(_DATA.glob("*.tar.zst"))
    with tempfile.TemporaryDirectory(prefix="xlareport-fixtures-") as folder:

        def dump(number: int) -> Path:
            place = number % (len(plain) + len(packed))
            if place < len(plain):
                return plain[place]
            source = packed[place - len(plain)]
            target = Path(folder) / source.name.removesuffix(".tar.zst")
            if not target.exists():
                _unpack(source, target)
            return target

        yield dump


def _is_dump(path: Path) -> bool:
    return path.is_dir() and any(path.glob("module_*"))


def _unpack(packed: Path, target: Path) -> None:
    with (
        packed.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        archive.extractall(target)  # noqa: S202 - our own


def broken(dump: Path, luck: random.Random, largest: int = 400_000) -> Sequence[Broken]:
    """Return some modules of a dump, none of more bytes than `largest`, broken by chance."""
    contents = _chosen(dump, luck, largest)
    found = []
    for path, content in contents.items():
        other = contents[luck.choice(list(contents))]
        breaks = luck.choice(MUTATIONS) if content and luck.random() < 0.25 else None
        changed = breaks(content, luck, other) if breaks else content
        found.append(Broken(path, changed, content, breaks.__name__ if breaks else ""))
    return found


def _chosen(dump: Path, luck: random.Random, largest: int) -> Mapping[Path, bytes]:
    """Read some modules of a dump and the files that belong to none."""
    modules: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(dump.rglob("*")):
        if path.is_file():
            modules[path.name.split(".")[0] if path.name.startswith("module_") else ""].append(path)
    beside = modules.pop("", [])
    small = [files for files in modules.values() if sum(map(_size, files)) <= largest]
    chosen = [one for files in luck.sample(small, min(_MOST_MODULES, len(small))) for one in files]
    both = [one for one in (*beside, *chosen) if _size(one) <= largest]
    return {one.relative_to(dump): one.read_bytes() for one in both}


def _size(path: Path) -> int:
    return path.stat().st_size


def write(files: Sequence[Broken], target: Path, *, good: bool = False) -> None:
    """Write a broken dump, or the good one that it was made of, below a folder."""
    for one in files:
        place = target / one.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(one.good if good else one.content)
