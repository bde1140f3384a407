"""A dump on standard input is what it begins like."""

import io
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner

from xlareport.cli import xlareport
from xlareport.dump.source import open_source
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.limits import Limits

NAME = "module_0001.x.before_optimizations.txt"
TEXT = b"HloModule x\n\nENTRY %e (a: f32[]) -> f32[] {\n  ROOT %a = f32[] parameter(0)\n}\n"
LOG = (
    b"hello\n*** Begin "
    + NAME.encode()
    + b" ***\n"
    + TEXT
    + b"\n*** End "
    + NAME.encode()
    + b" ***\n"
)

Piped = Callable[[bytes], None]


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Piped:
    """Return a function that puts bytes on standard input."""

    def pipe(content: bytes) -> None:
        stdin = SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False)
        monkeypatch.setattr(sys, "stdin", stdin)

    return pipe


def found(limits: Limits | None = None) -> dict[str, bytes]:
    with open_source("-", limits or Limits()) as source:
        assert source.name == "standard input"
        return {one.path: one.read() for one in source.entries}


def packed(mode: str) -> bytes:
    out = io.BytesIO()
    if mode == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr(NAME, TEXT)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        member = tarfile.TarInfo(NAME)
        member.size = len(TEXT)
        tar.addfile(member, io.BytesIO(TEXT))
    return out.getvalue()


@pytest.mark.parametrize("mode", ["zip", "w", "w:gz", "w:bz2", "w:xz", "zst"])
def test_an_archive_is_known_by_its_beginning(piped: Piped, mode: str) -> None:
    piped(zstandard.compress(packed("w")) if mode == "zst" else packed(mode))
    assert found() == {NAME: TEXT}


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (TEXT, "standard-input.txt"),
        (b'{"modules": []}', "standard-input.json"),
        (b"\n\x05hello\x12\x00", "standard-input.hlo.pb"),
        (b"something else", "standard-input.log"),
    ],
)
def test_a_single_file_is_named_by_its_beginning(piped: Piped, content: bytes, name: str) -> None:
    piped(content)
    assert found() == {name: content}


def test_a_log_is_divided_into_its_files(piped: Piped) -> None:
    piped(LOG)
    assert set(found()) == {"standard-input.log", f"standard-input.log/{NAME}"}


def test_nothing_and_too_much_are_said(piped: Piped) -> None:
    piped(b"")
    with pytest.raises(UnreadableInputError, match="Nothing came in"):
        found()
    piped(bytes(1000))
    with pytest.raises(UnreadableInputError, match="--max-file-size"):
        found(Limits(file_bytes=999))


def run(*arguments: object, given: bytes) -> Any:
    return CliRunner().invoke(xlareport, [str(one) for one in arguments], input=given)


def test_every_command_reads_standard_input(tmp_path: Path) -> None:
    made = run("build", "-", "--out", tmp_path / "out", "--no-html", "-q", "--jobs", 1, given=LOG)
    assert made.exit_code == 0, made.output
    assert "the main program is x" in made.output
    told = run("main", "-", "--jobs", 1, given=LOG)
    assert told.output.startswith("module_0001.x ")
    assert run("extract", "-", "--out", tmp_path / "texts", given=LOG).exit_code == 0
    assert (tmp_path / "texts/standard-input.log" / NAME).read_bytes() == TEXT
    assert (tmp_path / "texts/standard-input.log.whole").read_bytes() == LOG
    assert "%a" in run("history", "-", "%a", "--jobs", 1, given=LOG).output
    (tmp_path / NAME).write_bytes(TEXT)
    same = run("compare", tmp_path / NAME, "-", "--jobs", 1, "-q", given=LOG)
    assert same.exit_code == 0, same.output


def test_a_terminal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(UnreadableInputError, match="Nothing comes in"):
        found()
