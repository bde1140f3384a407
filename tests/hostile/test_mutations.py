"""Real dumps, each with a few of its files broken at random: a report of the rest, and no fault.

`XLAREPORT_MUTATIONS` says how many; each number is a dump, always the same.
"""

import os
import random
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

import pytest

from xlareport import report
from xlareport.analysis.reckoning import Reckoning
from xlareport.report import BuildOptions, build
from xlareport.workers import Crew, Errand

DUMPS = (
    *("gpu-h100x2-train", "jax-cpu-train", "jax-cpu-train-allformats", "tpu-v5e-scan"),
    *("tf-clusters", "tf-add-multiply", "traced", "two-ranks", "ipu-dot-only", "truncated"),
)
COUNT = int(os.environ.get("XLAREPORT_MUTATIONS", "20"))
MODULES = 2
"""Of a dump; whole ones would take a second each."""
LARGEST = 400_000
"""Bytes of a module."""

T = TypeVar("T")
R = TypeVar("R")


def cut(content: bytes, luck: random.Random, _: bytes) -> bytes:
    return content[: luck.randrange(len(content) + 1)]


def flip(content: bytes, luck: random.Random, _: bytes) -> bytes:
    changed = bytearray(content)
    for _each in range(luck.choice((1, 4, 40))):
        changed[luck.randrange(len(changed))] ^= 1 << luck.randrange(8)
    return bytes(changed)


def splice(content: bytes, luck: random.Random, other: bytes) -> bytes:
    place, begin = luck.randrange(len(content)), luck.randrange(len(other) + 1)
    return content[:place] + other[begin : begin + 2_000] + content[place:]


def shuffle(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Swap and repeat lines: names are defined twice, or after they are used."""
    lines = content.split(b"\n")
    for _each in range(5):
        lines[luck.randrange(len(lines))] = luck.choice(lines)
    return b"\n".join(lines)


def renumber(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Make a number absurd."""
    digits = [place for place, one in enumerate(content) if 48 <= one <= 57]
    for place in luck.sample(digits, min(3, len(digits))):
        number = luck.choice((b"-1", b"99999999999999999999", b"0", b"4294967296", b"1e999"))
        content = content[:place] + number + content[place + 1 :]
    return content


def rename(content: bytes, luck: random.Random, _: bytes) -> bytes:
    """Make one name another one of the text: graphs get cycles, calls get lost."""
    words = sorted(set(content.split()))
    return content.replace(luck.choice(words), luck.choice(words)) if words else content


MUTATIONS = (cut, flip, splice, shuffle, renumber, rename)


class InThisProcess(Crew):
    """Works at once and here, where a debugger sees it."""

    def submit(self, work: Callable[[T], R], thing: T, died: Callable[[T], R]) -> Errand[T, R]:
        del died
        future: Future[R] = Future()
        future.set_result(work(thing))
        return Errand(thing, future, future.result)


def mutated(dump: Path, target: Path, luck: random.Random) -> None:
    """Write some modules of a dump, and what lies beside them, with one file in four broken."""
    modules = defaultdict(list)
    for path in sorted(dump.rglob("*")):
        if path.is_file():
            modules[path.name.split(".")[0] if path.name.startswith("module_") else ""].append(path)
    beside = modules.pop("", [])
    small = [files for files in modules.values() if sum(map(_size, files)) <= LARGEST]
    chosen = [one for files in luck.sample(small, min(MODULES, len(small))) for one in files]
    contents = {one: one.read_bytes() for one in (*beside, *chosen)}
    for path, content in contents.items():
        place = target / path.relative_to(dump)
        place.parent.mkdir(parents=True, exist_ok=True)
        if content and luck.random() < 0.25:
            other = contents[luck.choice(list(contents))]
            content = luck.choice(MUTATIONS)(content, luck, other)  # noqa: PLW2901 - a new version
        place.write_bytes(content)


def _size(path: Path) -> int:
    return path.stat().st_size


@pytest.mark.parametrize("number", range(COUNT))
def test_a_broken_dump_gives_a_report_without_a_fault(
    number: int,
    tmp_path: Path,
    unpacked: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(report, "Crew", InThisProcess)
    luck = random.Random(number)  # noqa: S311 - the same dumps every time are what is wanted
    mutated(unpacked(DUMPS[number % len(DUMPS)]), tmp_path / "dump", luck)
    reckoning = Reckoning(with_source=True)
    options = BuildOptions(tmp_path / "out", html=False, pictures="none", reckoning=reckoning)

    built = build(tmp_path / "dump", options)

    assert not [one for one in built.report.problems if "fault of xlareport" in one.message]
    listed = sum(path.is_file() for path in (tmp_path / "dump").rglob("*"))
    assert len(built.report.files) == listed
