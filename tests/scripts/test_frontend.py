"""The page scripts are checked with Node where that can be had, and silently left alone nowhere."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.script_loader import load_script

SCRIPT = Path(__file__).parents[2] / "scripts" / "frontend.py"
Calls = list[tuple[str | Path, ...]]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = load_script("frontend")
    (tmp_path / "package-lock.json").write_text("{}")
    monkeypatch.setattr(module, "FRONTEND", tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return module


@pytest.fixture
def calls(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Return the programs that are called instead of run; the bundles are outdated."""
    made: Calls = []

    def run(node: Path, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
        made.append(arguments)
        return subprocess.CompletedProcess([node], int(arguments[0] == "build.js"))

    (tmp_path / "node").write_text("")
    monkeypatch.setattr(script, "_node", lambda: (tmp_path / "node", Path("npm-cli.js")))
    monkeypatch.setattr(script, "_run", run)
    return made


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_without_node_nothing_is_done_but_that_is_said(
    script: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ci: str,
    code: int,
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(script, "_node", lambda: (Path("/nowhere/node"), Path("npm")))
    assert script.main("check") == code
    assert "left alone: there is no Node" in capsys.readouterr().err


def test_tools_are_installed_once(script: ModuleType, calls: Calls, tmp_path: Path) -> None:
    assert script.main("test") == 0
    assert [call[1] for call in calls[:1]] == ["ci"]
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/.package-lock.json").write_text("{}")
    calls.clear()
    script.main("test")
    assert [call[0] for call in calls] == ["--import"]


def test_a_check_that_fails_gives_its_exit_code(script: ModuleType, calls: Calls) -> None:
    assert script.main("check") == 1
    assert calls[-1] == ("build.js", "--check")


def test_the_script_says_how_it_is_used() -> None:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "check|test|bundle|format" in done.stderr


def test_the_lock_names_no_registry_of_one_machine() -> None:
    lock = SCRIPT.parents[1] / "frontend" / "package-lock.json"
    assert '"resolved"' not in lock.read_text("utf-8")
