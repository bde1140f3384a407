"""`xlareport nightly`: its messages, its exit codes, its title."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from xlareport.cli.nightly import command

Unpack = Callable[[str], Path]


def test_a_program_that_fails_gives_its_own_code(tmp_path: Path) -> None:
    program = [sys.executable, "-c", "raise SystemExit(5)"]
    result = CliRunner().invoke(command, ["--root", str(tmp_path), "--night", "n", "--", *program])

    assert result.exit_code == 5
    assert "Night n: crashed. The program ended with exit code 5." in result.stderr
    assert "crashed" in (tmp_path / "site/index.html").read_text()


@pytest.mark.parametrize(
    ("variables", "title"),
    [
        ({"GITHUB_WORKFLOW": "train", "CI_JOB_NAME": "x"}, "train"),
        ({"GITHUB_WORKFLOW": "", "CI_JOB_NAME": ""}, "missing.py"),
    ],
)
def test_the_title_is_that_of_the_job(
    tmp_path: Path, variables: dict[str, str], title: str
) -> None:
    program = [sys.executable, "missing.py"]
    runner = CliRunner(env=variables)
    runner.invoke(command, ["--root", str(tmp_path), "--night", "n", "--", *program])

    page = (tmp_path / "site/index.html").read_text()
    assert f"<h1>{title}</h1>" in page
