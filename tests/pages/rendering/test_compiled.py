"""Compiled templates are kept between builds, where Python keeps its own bytecode."""

import sys
import tempfile
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from xlareport.pages.rendering.compiled import Compiled


def environment(text: str) -> tuple[Environment, Compiled]:
    made = Compiled()
    return Environment(loader=DictLoader({"x": text}), bytecode_cache=made, autoescape=True), made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    compiled: list[str] = []
    compile_one = Environment.compile

    def noted(self: Environment, source: str, *rest: object) -> object:
        compiled.append(source)
        return compile_one(self, source, *rest)  # type: ignore[call-overload]

    monkeypatch.setattr(Environment, "compile", noted)
    return compiled


def test_another_build_compiles_nothing_again(folder: Path, compiling: list[str]) -> None:
    for _ in range(2):
        templates, made = environment("{{ 6 * 7 }}")
        assert templates.get_template("x").render() == "42"
        assert made.kept
    assert len(compiling) == 1
    (kept,) = folder.iterdir()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_template_that_changed_is_compiled_again(folder: Path, compiling: list[str]) -> None:
    assert folder.is_dir()
    for text in ("one", "two"):
        assert environment(text)[0].get_template("x").render() == text
    assert len(compiling) == 2


def test_nothing_is_kept_where_python_keeps_nothing(
    folder: Path, compiling: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for _ in range(2):
        environment("one")[0].get_template("x")
    assert len(compiling) == 2
    assert not [*folder.iterdir()]


def test_what_another_process_compiled_is_taken_over(folder: Path, compiling: list[str]) -> None:
    _, first = made = environment("one")
    made[0].get_template("x")
    templates, second = environment("one")
    second.kept.update(first.kept)
    for kept in folder.rglob("*.cache"):
        kept.unlink()
    assert templates.get_template("x").render() == "one"
    assert len(compiling) == 1


def test_a_damaged_file_is_compiled_again(folder: Path, compiling: list[str]) -> None:
    environment("one")[0].get_template("x")
    for kept in folder.rglob("*.cache"):
        kept.write_bytes(kept.read_bytes()[:-9])
    assert environment("one")[0].get_template("x").render() == "one"
    assert len(compiling) == 2


def test_a_folder_of_somebody_else_is_not_used(
    folder: Path, compiling: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment("one")[0].get_template("x")
    monkeypatch.setattr("os.getuid", lambda: 12345, raising=False)
    (folder / "_jinja2-cache-12345").mkdir(mode=0o755)
    (folder / "_jinja2-cache-12345").chmod(0o777)
    assert environment("one")[0].get_template("x").render() == "one"
    assert len(compiling) == 2
