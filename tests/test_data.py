"""The small dumps are what their README says, and hold nothing of the machine that made them."""

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from tests.analysis.findings.texts import paths_of_texts, read_texts

ROW = re.compile(
    r"^\| `(?P<name>[^`]+)` \|.*\| (?P<files>\d+|pairs of files) \| [\d.]+ MB \|$", re.MULTILINE
)
FOREIGN_PATHS = re.compile(rb"/root/|/home/(?!user/)|/Users/|pyenv")
MOST_BYTES = 6_000_000


def listed(data: Path) -> dict[str, int]:
    """Return the dumps of the README's table and how many files each is said to hold.

    A new finding rule adds its files and no number: of those, it is how many there are.
    """
    readme = (data / "README.md").read_text(encoding="utf-8")
    return {
        row["name"].rstrip("/"): int(row["files"])
        if row["files"].isdigit()
        else len(files_of(data / row["name"]))
        for row in ROW.finditer(readme)
    }


def files_of(path: Path) -> list[Path]:
    return [path] if path.is_file() else [child for child in path.rglob("*") if child.is_file()]


def contents(dump: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a dump with their paths; a packed one is read without unpacking it."""
    if dump.suffix != ".zst":
        yield from ((str(path), path.read_bytes()) for path in files_of(dump))
        return
    with (
        dump.open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        for member in filter(tarfile.TarInfo.isfile, archive):
            file = archive.extractfile(member)
            assert file is not None
            yield f"{dump}/{member.name}", file.read()


def test_every_dump_is_listed_holds_as_many_files_and_names_no_machine(data: Path) -> None:
    numbers: dict[str, int] = {}
    foreign: list[str] = []
    for dump in data.iterdir():
        name = dump.name.removesuffix(".tar.zst")
        if name in {"README.md", "programs"}:
            continue
        numbers[name] = 0
        for path, content in contents(dump):
            numbers[name] += 1
            if named := FOREIGN_PATHS.search(content):
                foreign.append(f"{path} names {named[0]!r}")
    assert numbers == listed(data)
    assert foreign == []


def test_a_finding_rule_has_texts_that_have_its_pattern_and_that_lack_it(data: Path) -> None:
    folders = list((data / "findings").iterdir())
    assert len(folders) > 20
    for folder in folders:
        names = {path.name for path in folder.iterdir()}
        assert ("having.txt" in names) == ("lacking.txt" in names), folder.name
    for path in paths_of_texts():
        assert {"having", "lacking"} <= read_texts(path).keys(), path


def test_the_folder_stays_small(data: Path) -> None:
    assert sum(path.stat().st_size for path in files_of(data)) < MOST_BYTES


@pytest.mark.parametrize("example", ["transformer"])
def test_the_example_is_small_enough_to_bundle(data: Path, example: str) -> None:
    archive = data.parents[1] / "examples" / f"{example}.tar.zst"
    assert 0 < archive.stat().st_size < 1_000_000
