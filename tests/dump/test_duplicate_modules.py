"""Modules that repeat others are found by their bytes, in large dumps only."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.dump import duplicate_modules as searched
from xlareport.dump.duplicate_modules import find_duplicates, map_duplicate_paths
from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import open_source

Files = dict[str, str]


@pytest.fixture(autouse=True)
def every_dump_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searched, "MANY", 2)


@pytest.fixture
def modules(tmp_path: Path) -> Callable[[Files], tuple[ModuleFiles, ...]]:
    def made(files: Files) -> tuple[ModuleFiles, ...]:
        for name, content in files.items():
            (tmp_path / name).write_text(content)
        with open_source(tmp_path) as source:
            return group(name_files(source)).modules

    return made


def module(number: int, before: str, after: str = "y", name: str = "jit_f") -> Files:
    key = f"module_{number:04d}.{name}"
    return {
        f"{key}.before_optimizations.txt": before,
        f"{key}.cpu_after_optimizations.txt": after,
    }


def test_the_earliest_is_the_original(
    modules: Callable[[Files], tuple[ModuleFiles, ...]],
) -> None:
    made = modules(module(2, "x") | module(4, "x") | module(10006, "x"))
    duplicates = find_duplicates(made)
    assert duplicates == {
        "module_0004.jit_f": "module_0002.jit_f",
        "module_10006.jit_f": "module_0002.jit_f",
    }
    assert map_duplicate_paths(made[0], made[2]) == {
        f"module_0002.jit_f.{name}": f"module_10006.jit_f.{name}"
        for name in ("before_optimizations.txt", "cpu_after_optimizations.txt")
    }


@pytest.mark.parametrize(
    "other",
    [
        module(4, "z"),
        module(4, "x", "longer"),
        module(4, "x", name="jit_g"),
        {"module_0004.jit_f.before_optimizations.txt": "x"},
        module(4, "x") | {"module_0004.jit_f.debug_options": ""},
    ],
)
def test_whatever_differs_is_no_twin(
    modules: Callable[[Files], tuple[ModuleFiles, ...]], other: Files
) -> None:
    assert find_duplicates(modules(module(2, "x") | other)) == {}


def test_in_a_small_dump_each_module_is_its_own(
    modules: Callable[[Files], tuple[ModuleFiles, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searched, "MANY", 3)
    assert find_duplicates(modules(module(2, "x") | module(4, "x"))) == {}
