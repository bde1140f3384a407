"""The pictures of the documentation are there, small, and none is left over."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)]+\.png)\)")
LARGEST = 150_000
NAMED = re.compile(r"`([a-z_]+/[a-z_/]+\.(?:py|toml|md|js|d\.ts))`")
ROOTS = ("", "generator/xlareport/", "frontend/src/", "tests/", "tests/data/")


def test_pictures_are_there_and_small() -> None:
    named = {
        (page.parent / path).resolve()
        for page in (ROOT / "README.md", ROOT / "docs/tour.md")
        for path in PICTURE.findall(page.read_text())
    }

    assert {path for path in named if path.stat().st_size > LARGEST} == set()
    assert named == set((ROOT / "docs/screenshots").glob("*.png"))


def test_files_that_the_map_names_are_there() -> None:
    named = NAMED.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    missing = {name for name in named if not any((ROOT / root / name).exists() for root in ROOTS)}

    assert len(named) > 15
    assert missing == set()
