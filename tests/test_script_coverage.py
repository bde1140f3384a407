"""How it is counted which characters of a script ran."""

from pathlib import Path
from types import ModuleType

import pytest
from tests.script_coverage import add, painted
from tests.script_loader import load_script

SCRIPT = "head\n  // src/a.js\n  one();\n  }\n  two();\n  // src/b.js\n  three();\n"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = load_script("script_coverage")
    (tmp_path / "xlareport.js").write_text(SCRIPT)
    monkeypatch.setattr(module, "SCRIPT", tmp_path / "xlareport.js")
    return module


def span(start: int, end: int, count: int) -> dict[str, int]:
    return {"startOffset": start, "endOffset": end, "count": count}


def test_inner_ranges_have_the_last_word() -> None:
    ran = painted([{"ranges": [span(2, 4, 0), span(0, 9, 1), span(3, 4, 2)]}], 6)
    assert list(ran) == [1, 1, 0, 1, 1, 1]


def test_what_ran_once_ran() -> None:
    total = bytearray(b"\0\1\0")
    add(total, bytearray(b"\1\0\0"))
    assert total == b"\1\1\0"


def test_lines_are_counted_by_module(
    table: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, line in (("1", "two();"), ("2", "three")):
        start = SCRIPT.index(line)
        ran = painted([{"ranges": [span(start, start + 2, 1)]}], len(SCRIPT))
        (tmp_path / f"{name}.ran").write_bytes(ran)
    assert table.main(tmp_path) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows == [["src/a.js", "2", "50.0%"], ["src/b.js", "1", "100.0%"], ["all", "3", "66.7%"]]


def test_figures_of_another_script_are_refused(
    table: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "1.ran").write_bytes(b"\1")
    assert table.main(tmp_path) == 1
    assert "present script" in capsys.readouterr().err
