"""Modules read from small HLO texts, for what compares the modules of a dump."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from xlareport.analysis.module import outline_module
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

Read = Callable[[str], HloModule]
Compile = Callable[[Mapping[str, str]], list[ModuleSummary]]


@pytest.fixture
def compiled(tmp_path: Path) -> Compile:
    """Return a function: entry computations by file name -> the modules, in order."""

    def summaries(texts: Mapping[str, str]) -> list[ModuleSummary]:
        for path, body in texts.items():
            name = path.split(".")[1]
            place = tmp_path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"HloModule {name}\n\nENTRY %main {{\n{body}\n}}\n")
        with open_source(tmp_path) as source:
            modules = group(name_files(source)).modules
            return [outline_module(module).summary for module in modules]

    return summaries


@pytest.fixture
def read() -> Read:
    """Return a function: computations as text -> the module; equal texts are one object."""
    reader = TextReader()

    def module(computations: str) -> HloModule:
        parsed = reader.read(f"HloModule m\n\n{computations.strip()}\n".encode(), "m.txt")
        assert parsed is not None, reader.problems
        return parsed

    return module
