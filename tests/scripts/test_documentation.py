"""The documentation site: its examples run as they stand there, and its links lead somewhere."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from click.testing import CliRunner
from tests.script_loader import load_script

from xlareport.cli import xlareport

ROOT = Path(__file__).parents[2]
QUESTIONS = sorted((ROOT / "docs/site/tutorials").glob("*.md"))
BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", QUESTIONS, ids=lambda page: page.stem)
def test_a_question_is_answered_by_what_runs(
    page: Path, unpacked: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, head, text = page.read_text("utf-8").split("---\n", 2)
    for name, dump in yaml.safe_load(head).items():
        packed, _, part = dump.partition("/")
        (tmp_path / name).symlink_to(unpacked(packed) / part)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = BLOCK.findall(text)
    assert len(blocks) >= 2
    for kind, code in blocks:
        if kind == "python":
            exec(compile(code, page.name, "exec"), names)  # noqa: S102 - our own pages
        else:
            _, command, *arguments = shlex.split(code)
            assert command == "xlareport"
            done = CliRunner().invoke(xlareport, arguments)
            assert done.exit_code == 0, done.output


@pytest.fixture
def script() -> ModuleType:
    return load_script("documentation")


def test_links_lead_to_pages_or_into_reports(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "SOURCES", tmp_path)
    script.assemble()
    assert all((ROOT / dump).is_file() for dump in script.REPORTS.values())
    for page in tmp_path.rglob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            place = (page.parent / link).resolve()
            inside = place.relative_to(tmp_path).parts
            report = inside[0] == "reports" and inside[1] in script.REPORTS
            assert report or place.is_file(), (page.name, link)
