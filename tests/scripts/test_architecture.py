"""The architecture page is made of the code: its floors, arrows and folders."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "architecture.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("architecture", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_arrow_names_a_function_and_its_record(script: ModuleType) -> None:
    drawn = script.drawing()

    assert "open_source()  dump/source.py\nSource\n" in drawn
    assert "group()  dump/grouping.py\nGroupedDump\n" in drawn
    assert drawn.count("  v   ") == len(script.PIPELINE)


def test_a_function_that_went_is_missed(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "PIPELINE", {"no_such_function": ""})

    with pytest.raises(LookupError, match="no_such_function"):
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
