"""The script of the night runs, and the guide shows the recipes; tests/workflows/ runs steps."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

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


def test_the_script_of_the_night(machine: dict[str, str], tmp_path: Path) -> None:
    script = str(RECIPES / "nightly.sh")
    assert run(machine, tmp_path, "sh", script, "train", NIGHT="first") == 0
    assert (tmp_path / "nightly/site/first/site/index.html").is_file()
    assert (tmp_path / "nightly/site/index.html").is_file()


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
