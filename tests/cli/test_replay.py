"""`xlareport replay` without jax: messages. What it runs is tested in tests/replay."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from xlareport.cli.replay import command
from xlareport.replay.child_process import ReplayError

Unpack = Callable[[str], Path]


def replay(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """Return an interpreter that finds no packages."""
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    script.chmod(0o755)
    return script


def test_without_jax_it_says_what_to_install(unpacked: Unpack, bare_python: Path) -> None:
    result = replay(unpacked("jax-cpu-train"), "--python", bare_python)
    assert isinstance(result.exception, ReplayError)
    assert "pip install xlareport[replay]" in str(result.exception)


def test_an_unknown_release_is_named(unpacked: Unpack, tmp_path: Path) -> None:
    for package in ("jax", "jaxlib"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "jaxlib/version.py").write_text('__version__ = "99.1.0"\n')
    script = tmp_path / "python"
    source = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    script.write_text(
        f'#!/bin/sh\nshift 2; code=$1; shift\nexec {sys.executable} -S -c "{source}$code" "$@"\n'
    )
    script.chmod(0o755)
    result = replay(unpacked("jax-cpu-train"), "--python", script)
    assert isinstance(result.exception, ReplayError)
    assert "jaxlib 99.1.0" in str(result.exception)
    assert "0.10" in str(result.exception)


def test_an_interpreter_that_is_none(unpacked: Unpack, tmp_path: Path) -> None:
    result = replay(unpacked("jax-cpu-train"), "--python", tmp_path / "nothing")
    assert isinstance(result.exception, ReplayError)
    assert "cannot be started" in str(result.exception)


@pytest.mark.parametrize("arguments", [("--bisect", "--stage", "0001"), ("--json",)])
def test_options_that_do_not_go_together(unpacked: Unpack, arguments: tuple[str, ...]) -> None:
    assert replay(unpacked("jax-cpu-train"), *arguments).exit_code == 2
