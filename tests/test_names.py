"""Names say what they hold: no word that fits anything, no class name for two things."""

import ast
import functools
import gc
import re
from collections import Counter
from pathlib import Path

from tests.test_mirror import PACKAGE

EMPTY = {"one", "each", "it", "told", "said", "found", "made", "tell"}
EMPTY_PARTS = {"told", "said", "found", "made"}


@functools.cache
def nodes() -> list[tuple[Path, ast.AST]]:
    """Return what the sources of the package consist of, with the file."""
    gc.disable()  # all nodes are kept: looking for garbage among them takes longer than parsing
    kept = [
        (path, node)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
    ]
    gc.freeze()
    gc.enable()
    return kept


def test_no_name_fits_anything() -> None:
    names = {
        f"{path.relative_to(PACKAGE)}:{node.lineno} {name}"
        for path, node in nodes()
        if isinstance(node, ast.Name | ast.arg)
        and (name := node.id if isinstance(node, ast.Name) else node.arg) in EMPTY
    }
    assert names == set()


def test_no_attribute_has_a_part_that_fits_anything() -> None:
    names = {
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.attr}"
        for path, node in nodes()
        if isinstance(node, ast.Attribute) and node.attr != "made_by"
        if EMPTY_PARTS.intersection(node.attr.split("_"))
    }
    assert names == set()


def test_no_function_is_a_word_that_fits_anything() -> None:
    words = {
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"
        for path, node in nodes()
        if isinstance(node, ast.FunctionDef)
        and (EMPTY - {"one", "each", "it"}) & set(node.name.strip("_").split("_"))
    }
    assert words == set()


def test_no_comprehension_hides_what_it_runs_over() -> None:
    hidden = {
        f"{path.relative_to(PACKAGE)}:{node.target.lineno} {', '.join(names)}"
        for path, node in nodes()
        if isinstance(node, ast.comprehension)
        and (names := _names(node.target) & (_names(node.iter) - _bound(node.iter)))
    }
    assert hidden == set()


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _bound(node: ast.AST) -> set[str]:
    """Return what comprehensions and lambdas inside bind themselves."""
    inner = (part for part in ast.walk(node) if isinstance(part, ast.comprehension))
    arguments = (part for part in ast.walk(node) if isinstance(part, ast.arg))
    return {name for part in inner for name in _names(part.target)} | {
        argument.arg for argument in arguments
    }


def test_a_class_name_stands_for_one_thing() -> None:
    counts = Counter(
        node.name
        for _, node in nodes()
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in counts.items() if count > 1] == []


def test_an_alias_has_no_name_of_another_type() -> None:
    """Aliases of types and classes, public ones: each name stands for one type."""
    classes = [
        node.name
        for _, node in nodes()
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    aliases = [
        target.id
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Assign) and _is_type(node.value)
        for target in node.targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    ]
    counts = Counter((*classes, *aliases))
    assert len(aliases) > 50
    assert [name for name in aliases if counts[name] > 1] == []


def _is_type(value: ast.AST) -> bool:
    """Return whether a module's name is set to a type with parameters, as in `tuple[str, int]`."""
    return (
        isinstance(value, ast.Subscript)
        and isinstance(value.value, ast.Name)
        and value.value.id in _GENERIC
    )


_GENERIC = {
    *("tuple", "list", "dict", "set", "frozenset"),
    *("Callable", "Iterable", "Iterator", "Mapping", "Sequence"),
}


BRITISH = re.compile(
    r"optimis|normalis|recognis|serialis|summaris|initialis|organis|colour|behaviour|neighbour"
    r"|labelled|modelled|cancelling",
    re.IGNORECASE,
)


def test_the_spelling_is_american() -> None:
    words = {
        f"{path.relative_to(PACKAGE)}: {word[0]}"
        for path in PACKAGE.rglob("*.py")
        for word in BRITISH.finditer(path.read_text("utf-8"))
    }
    assert words == set()
