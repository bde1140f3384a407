"""Wordings that the report no longer uses do not come back to the places that show text.

`wording.tsv` has a row for each: a glob of places and a regular expression. Synonyms are exempt.
"""

import ast
import csv
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCES = (
    "templates/**/*.jinja",
    "generator/xlareport/**/*.py",
    "generator/xlareport/**/*.toml",
    "frontend/src/**/*.js",
    "site_src/guide/*.md",
    "README.md",
    "CHANGELOG.md",
    "docs/**/*.md",
    "scripts/*.toml",
    "generator/xlareport/records/*.json",
)
EXEMPT = {"aliases", "examples", "source", "architecture.md"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\{#.*?#\}", re.DOTALL)


def rows() -> list[tuple[str, str]]:
    with (Path(__file__).parent / "wording.tsv").open(encoding="utf-8", newline="") as table:
        lines = csv.reader(table, "excel-tab", quoting=csv.QUOTE_NONE)
        return [(place, gone) for place, gone in lines if gone != "gone"]


@cache
def shown() -> dict[str, str]:
    """Return what each source shows to users: no comments, docstrings or names."""
    paths = {path for pattern in SOURCES for path in ROOT.glob(pattern) if path.name not in EXEMPT}
    return {path.relative_to(ROOT).as_posix(): _shown(path) for path in sorted(paths)}


def _shown(path: Path) -> str:
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return "\n".join(_strings(ast.parse(text), with_docstrings=path.parent.name == "cli"))
    if path.suffix == ".toml":
        return "\n".join(_values(tomllib.loads(text)))
    return text if path.suffix == ".md" else COMMENT.sub("", text)


def _strings(tree: ast.Module, *, with_docstrings: bool) -> Iterator[str]:
    """Yield the strings of a module; the docstrings of commands are their help."""
    every = () if with_docstrings else ast.walk(tree)
    expressions = {id(node.value) for node in every if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and id(node) not in expressions:
            yield str(node.value)


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in EXEMPT:
                yield from _values(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner)


def test_the_table_and_the_sources_are_read() -> None:
    assert len(rows()) > 100
    assert len(shown()) > 300
    assert "HLO instruction" in shown()["generator/xlareport/pages/words.py"]
    assert "Returns" not in shown()["generator/xlareport/pages/words.py"]


def test_wordings_that_are_gone_stay_away() -> None:
    left = {
        f"{path}: {found[0]}"
        for place, gone in rows()
        for path, text in shown().items()
        if fnmatch(path, place) and (found := re.search(gone, text, re.MULTILINE))
    }
    assert left == set()
