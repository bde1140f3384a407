"""Names say what they hold: no word that fits anything, no class name for two things."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.test_mirror import PACKAGE

EMPTY = {"one", "told", "said", "found", "made", "tell"}


def nodes() -> Iterator[tuple[Path, ast.AST]]:
    """Yield what the sources of the package consist of, with the file."""
    for path in PACKAGE.rglob("*.py"):
        yield from ((path, node) for node in ast.walk(ast.parse(path.read_text("utf-8"))))


def test_no_name_fits_anything() -> None:
    names = {
        f"{path.relative_to(PACKAGE)}:{node.lineno} {name}"
        for path, node in nodes()
        if isinstance(node, ast.Name | ast.arg)
        and (name := node.id if isinstance(node, ast.Name) else node.arg) in EMPTY
    }
    assert names == set()


def test_a_class_name_stands_for_one_thing() -> None:
    counts = Counter(
        node.name
        for _, node in nodes()
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in counts.items() if count > 1] == []
