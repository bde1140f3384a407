"""The small dumps are what their README says, and hold nothing of the machine that made them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

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


def test_every_dump_is_listed_and_holds_as_many_files_as_listed(
    data: Path, unpacked: Callable[[str], Path]
) -> None:
    dumps = {path.name.removesuffix(".tar.zst") for path in data.iterdir()}
    dumps -= {"README.md", "programs"}
    found = {
        name: len(files_of(data / name if name.endswith(".log") else unpacked(name)))
        for name in dumps
    }
    assert found == listed(data)


def test_a_finding_rule_has_texts_that_have_its_pattern_and_that_lack_it(data: Path) -> None:
    folders = list((data / "findings").iterdir())
    assert len(folders) > 20
    for folder in folders:
        having = {path.name.replace("having", "lacking") for path in folder.glob("*having.txt")}
        assert having == {path.name for path in folder.glob("*lacking.txt")}, folder.name


def test_the_folder_stays_small(data: Path) -> None:
    assert sum(path.stat().st_size for path in files_of(data)) < MOST_BYTES


def test_no_dump_names_the_machine_it_was_made_on(
    data: Path, unpacked: Callable[[str], Path]
) -> None:
    for name in listed(data):
        for path in files_of(data / name if name.endswith(".log") else unpacked(name)):
            found = FOREIGN_PATHS.search(path.read_bytes())
            assert found is None, f"{path} names {found[0]!r}"


@pytest.mark.parametrize("example", ["transformer"])
def test_the_example_is_small_enough_to_bundle(data: Path, example: str) -> None:
    archive = data.parents[1] / "examples" / f"{example}.tar.zst"
    assert 0 < archive.stat().st_size < 1_000_000
