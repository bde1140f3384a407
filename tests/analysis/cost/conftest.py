"""Modules from texts in the tests and from the dumps of the repository."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.work import ModuleCost, count_cost
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

ReadModule: TypeAlias = Callable[[str], HloModule]
ReadFile: TypeAlias = Callable[[str, str], HloModule]
Count: TypeAlias = Callable[[str], ModuleCost]


@pytest.fixture(scope="session")
def module_of() -> ReadModule:
    """Return a function: the computations of a module as text -> the module."""

    def read(computations: str) -> HloModule:
        reader = TextReader()
        module = reader.read(f"HloModule m\n\n{computations.strip()}\n".encode(), "m.txt")
        assert module is not None
        assert reader.problems == []
        return module

    return read


@pytest.fixture(scope="session")
def count(module_of: ReadModule) -> Count:
    """Return a function: the computations of a module as text -> its cost."""

    def counted(computations: str) -> ModuleCost:
        return count_cost(module_of(computations))

    return counted


@pytest.fixture(scope="session")
def dumped(unpacked: Callable[[str], Path]) -> ReadFile:
    """Return a function: a dump and the end of a file's name -> the module in that file."""

    def read(dump: str, ending: str) -> HloModule:
        paths = sorted(path for path in unpacked(dump).iterdir() if path.name.endswith(ending))
        module = TextReader().read(paths[0].read_bytes(), paths[0].name)
        assert module is not None
        return module

    return read
