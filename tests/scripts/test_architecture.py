"""The architecture page is made of the code: its floors, calls and folders."""

from pathlib import Path
from types import ModuleType

import pytest
from tests.script_loader import load_script


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("architecture")


def test_every_call_has_its_module_and_its_result(script: ModuleType) -> None:
    lines = [" ".join(line.split()) for line in script.drawing().splitlines()]

    assert "open_source() dump/source.py Source" in lines
    assert "group() dump/grouping.py GroupedDump" in lines
    assert "site_files() pages/site_files.py each SiteFile" in lines
    assert len(lines) == len(script.PIPELINE.split("\n"))


@pytest.mark.parametrize(
    ("pipeline", "words"),
    [
        ("report.py no_such_function", "no function no_such_function"),
        ("no_such.py build", "no function build"),
        ("report.py build\n  program.py read_module", "build does not call read_module"),
        ("report.py build\n  analysis/module.py analyze_module", "not call analyze_module"),
        ("report.py build\n  dump_reading.py DumpReading.no", "does not call DumpReading.no"),
    ],
)
def test_a_call_that_is_not_in_the_code_is_missed(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, pipeline: str, words: str
) -> None:
    monkeypatch.setattr(script, "PIPELINE", pipeline)

    with pytest.raises(LookupError, match=words):
        script.drawing()


def test_every_part_stands_on_a_floor_with_its_sentence(script: ModuleType) -> None:
    table = script.floor_table().splitlines()

    assert len(table) == 2 + sum(map(len, script.floors()))
    assert any(row.startswith("| 0 | `runtime/` | ") for row in table)
    assert not any(row.endswith("|  |") for row in table)


def test_a_page_that_is_not_current_fails_the_check(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(script, "ROOT", tmp_path)
    monkeypatch.setattr(script, "PAGE", tmp_path / "architecture.md")
    monkeypatch.setattr(script, "page", lambda: "today's\n")
    monkeypatch.setattr(script.sys, "argv", ["architecture.py", "--check"])

    assert script.main() == 1
    monkeypatch.setattr(script.sys, "argv", ["architecture.py"])
    assert script.main() == 0
    monkeypatch.setattr(script.sys, "argv", ["architecture.py", "--check"])
    assert script.main() == 0
