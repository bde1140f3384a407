"""A fault in one part of a module's pages costs that part, and is told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.dump.modules import ModuleFiles, group
from xlareport.dump.source import open_source
from xlareport.pages import module_work
from xlareport.pages.module_work import work_on
from xlareport.pages.small_payloads import held
from xlareport.report import name_files

PARTS = {
    "kept_texts": "/texts",
    "film_payloads": "/film",
    "history_payloads": "/history",
    "graph_payloads": "/graph",
    "module_pictures": "",
    "expense": "",
    "code_work": "/code",
}
"""What fails, and what the names of its payloads hold; nothing where it has none of its own."""


@pytest.fixture(scope="module")
def files(unpacked: Callable[[str], Path]) -> ModuleFiles:
    with open_source(unpacked("jax-cpu-train")) as source:
        modules = group(name_files(source)).modules
    return next(one for one in modules if one.name == "jit_rollout")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_fails_costs_itself(
    part: str, files: ModuleFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(module_work, part, fail)
    result = work_on(files, None, pages=True)

    assert result.summary.final.instructions
    assert [one.message for one in result.summary.problems if "ZeroDivisionError" in one.message]
    made = {path for path, _ in result.payloads} | {one.key for one in held(result.small)}
    assert any("/step" in path for path in made)
    others = {name for name in PARTS.values() if name and name != PARTS[part]}
    assert all(any(name in path for path in made) for name in others)


def test_none_fails_by_itself(files: ModuleFiles) -> None:
    result = work_on(files, None, pages=True)
    assert result.summary.problems == ()
    assert result.expense
    assert result.code
    assert result.pictures
