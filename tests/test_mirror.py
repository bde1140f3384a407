"""Tests mirror the package: tests/hlo/test_text.py tests hlo/text.py.

`mirror.toml` has the modules that are tested through others, each with the file that does it.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "generator" / "xlareport"
SMALL = 40
"""Lines of code up to which a module needs no tests of its own."""


def lines_of_code(text: str) -> int:
    """Count the lines of statements, without imports, comments and docstrings."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom) or not isinstance(node, ast.stmt):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        body = getattr(node, "body", None)
        end = body[0].lineno if body else (node.end_lineno or 0) + 1
        lines.update(range(node.lineno, end))
    return len(lines)


def without_mirror() -> Iterator[str]:
    """Yield the modules that are not small and have no file of tests of the same name."""
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE)
        mirror = TESTS / module.parent / f"test_{path.name}"
        own = path.name == "__init__.py" or mirror.exists()
        if not own and lines_of_code(path.read_text("utf-8")) > SMALL:
            yield module.as_posix()


def covered_by_others() -> Mapping[str, str]:
    """Return the tests of modules that have none of their name; `*` in the table is any module."""
    table = tomllib.loads((TESTS / "mirror.toml").read_text("utf-8"))
    return {
        path.relative_to(PACKAGE).as_posix(): str(tests)
        for tests, patterns in table.items()
        for pattern in patterns
        for path in _matching(pattern)
    }


def _matching(pattern: str) -> list[Path]:
    paths = list(PACKAGE.glob(pattern))
    assert paths, f"{pattern} in mirror.toml is no module"
    return paths


def test_every_module_has_tests_of_its_name() -> None:
    assert set(without_mirror()) - covered_by_others().keys() == set()


def test_what_has_tests_of_its_name_is_on_no_list() -> None:
    table = tomllib.loads((TESTS / "mirror.toml").read_text("utf-8"))
    listed = {pattern for patterns in table.values() for pattern in patterns if "*" not in pattern}
    assert listed - set(without_mirror()) == set()
    assert [tests for tests, patterns in table.items() if not patterns] == []


def test_what_is_covered_by_others_is_tested() -> None:
    for tests in covered_by_others().values():
        assert (TESTS / tests).is_file()


def test_lines_of_code_are_counted() -> None:
    text = (
        '"""Text."""\nimport os\n\ndef f() -> int:\n    """More."""\n    # why\n    return (\n1)\n'
    )
    assert lines_of_code(text) == 3


def test_no_module_is_longer_than_contributing_says() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {str(path): length for path, length in lengths.items() if length > 400} == {}
