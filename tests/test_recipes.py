"""The recipes do what they say: their commands run against a program that leaves a known dump."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from xlareport.runtime.resources import find_resource

ROOT = Path(__file__).parent.parent
RECIPES = ROOT / "recipes"
Unpack = Callable[[str], Path]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recipes are for a shell")


@pytest.fixture
def machine(tmp_path: Path, unpacked: Unpack) -> dict[str, str]:
    """Return an environment with the commands `xlareport`, and `train`, which leaves a dump."""
    commands = {
        "xlareport": f'exec "{sys.executable}" -m xlareport "$@"',
        "train": (
            "to=$(echo \"$XLA_FLAGS\" | sed 's/.*xla_dump_to=\\([^ ]*\\).*/\\1/'); "
            'mkdir -p "$to"; cp "$DUMP"/* "$to"'
        ),
        "python": "true",  # installing is the business of the machine that runs the action
    }
    for name, body in commands.items():
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    dump = tmp_path / "dump"
    dump.mkdir()
    for path in unpacked("jax-cpu-train").glob("module_0006.jit_rollout.*.txt"):
        (dump / path.name).write_bytes(path.read_bytes())
    return {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "generator"),
        "DUMP": str(dump),
    }


def run(machine: Mapping[str, str], folder: Path, *command: str, **more: str) -> int:
    return subprocess.run(command, cwd=folder, env={**machine, **more}, check=False).returncode


def grow(machine: Mapping[str, str]) -> None:
    """Give the dump other operations."""
    for path in Path(machine["DUMP"]).iterdir():
        path.write_text(path.read_text().replace(" tanh(", " all-to-all("))


def test_the_script_of_the_night(machine: dict[str, str], tmp_path: Path) -> None:
    script = str(RECIPES / "nightly.sh")
    assert run(machine, tmp_path, "sh", script, "train", NIGHT="first") == 0
    assert (tmp_path / "nightly/site/first/site/index.html").is_file()
    assert (tmp_path / "nightly/site/index.html").is_file()


def steps() -> list[dict[str, Any]]:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    found: list[dict[str, Any]] = action["runs"]["steps"]
    return found


def run_action(machine: dict[str, str], folder: Path, base: Path) -> list[int]:
    """Run the shell steps of the action in order, as a pull request does; return their codes."""
    outputs = folder / "outputs"
    outputs.write_text("")
    given = {
        "OUT": "xla-report",
        "HISTORY": "",
        "BASE": str(base),
        "BUDGETS": "instructions > +5%\nnew:all-to-all\n",
        "STRICT": "true",
        "NUMBER": "7",
        "GH_TOKEN": "token",
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_REPOSITORY": "owner/repository",
        "GITHUB_OUTPUT": str(outputs),
    }
    codes = []
    for step in steps():
        assert set(step.get("env", {})) <= given.keys() | {"DUMP", "CODE"}
        code = outputs.read_text().partition("code=")[2].strip()
        if "run" in step:
            more = given | {"CODE": code}
            codes.append(run(machine, folder, "bash", "-e", "-c", step["run"], **more))
    return codes


def test_the_action(machine: dict[str, str], tmp_path: Path) -> None:
    said = tmp_path / "said"
    comment = tmp_path / "bin/gh"
    comment.write_text(f'#!/bin/sh\necho "$@" > "{said}"\n')
    comment.chmod(0o755)

    assert run_action(machine, tmp_path, Path(machine["DUMP"])) == [0, 0, 0, 0, 0]
    assert (tmp_path / "xla-report.zip").is_file()
    assert "No differences: " in (tmp_path / "summary").read_text()
    assert "pr comment 7 --repo owner/repository" in said.read_text()

    before = tmp_path / "before"
    Path(machine["DUMP"]).rename(before)
    Path(machine["DUMP"]).mkdir()
    for path in before.iterdir():
        (Path(machine["DUMP"]) / path.name).write_bytes(path.read_bytes())
    grow(machine)
    assert run_action(machine, tmp_path, before) == [0, 0, 0, 0, 1]
    assert "over budget" in (tmp_path / "summary").read_text()


@pytest.mark.parametrize(
    "name", ["nightly.sh", "github-nightly.yml", "gitlab-nightly.yml", "crontab"]
)
def test_the_guide_shows_the_recipes(name: str) -> None:
    page = (find_resource("site_src") / "guide" / "nightly.md").read_text("utf-8")

    assert (RECIPES / name).read_text() in page


@pytest.mark.parametrize("name", ["github-nightly.yml", "gitlab-nightly.yml"])
def test_the_recipes_of_services_call_the_script(name: str) -> None:
    text = (RECIPES / name).read_text()

    assert yaml.safe_load(text)
    assert "sh recipes/nightly.sh python train.py" in text
