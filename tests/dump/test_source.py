"""Sources: directories, archives, single files and logs become the same list of entries."""

import io
import os
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

FILES = {
    "module_0000.jit_f.before_optimizations.txt": b"HloModule jit_f\n",
    "module_0000.jit_f/module.mlir": b"module {}\n",
    "notes.md": b"mine",
}


def contents(path: Path) -> dict[str, bytes]:
    with open_source(path) as source:
        return {entry.path: entry.read() for entry in source.entries}


def folder(root: Path) -> Path:
    for name, content in FILES.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return root


def test_a_directory_gives_every_file_with_its_path(tmp_path: Path) -> None:
    assert contents(folder(tmp_path)) == FILES


def test_a_log_is_divided_into_its_files(tmp_path: Path) -> None:
    log = tmp_path / "stdout.log"
    log.write_bytes(
        b"hello\n*** Begin module_0000.f.before_optimizations.txt ***\nHloModule f\n\n"
        b"*** End module_0000.f.before_optimizations.txt ***\nloss 1.0\n"
        b"*** Begin module_0000.f.x.txt ***\nhalf a file\n"
    )
    with open_source(log) as source:
        found = {entry.path: entry.read() for entry in source.entries}
        problems = source.problems
    assert found["stdout.log/module_0000.f.before_optimizations.txt"] == b"HloModule f\n"
    assert found["stdout.log/module_0000.f.x.txt"] == b"half a file"
    assert "stdout.log" in found
    assert [(problem.line, "has no end" in problem.message) for problem in problems] == [(7, True)]


def test_links_out_of_the_dump_and_pipes_are_not_read(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    (dump / "a.txt").write_bytes(b"a")
    (dump / "inside").symlink_to("a.txt")
    (dump / "outside").symlink_to("/etc/hostname")
    (dump / "loop").symlink_to(dump)
    os.mkfifo(dump / "pipe")
    with open_source(dump) as source:
        assert [entry.path for entry in source.entries] == ["a.txt", "inside"]
        assert {problem.path for problem in source.problems} == {"outside", "loop", "pipe"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_printed_like_another_one_is_read_from_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "a\\udcff.txt").write_bytes(b"printed like it")
    (tmp_path / "a\udcff.txt").write_bytes(b"no UTF-8")
    found = contents(tmp_path)
    assert sorted(found) == ["(2)/a\\udcff.txt", "a\\udcff.txt"]
    assert sorted(found.values()) == [b"no UTF-8", b"printed like it"]


def test_what_does_not_exist_or_is_empty_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="does not exist"):
        contents(tmp_path / "nothing")
    with pytest.raises(UnreadableInputError, match="holds no readable file"):
        contents(tmp_path)


def test_one_file_is_a_dump_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "model.hlo").write_bytes(b"HloModule m\n")
    assert contents(tmp_path / "model.hlo") == {"model.hlo": b"HloModule m\n"}


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
        return {entry.path: entry.read() for entry in source.entries}


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


def test_a_log_is_divided_into_its_files_of_standard_input(piped: Piped) -> None:
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
    return CliRunner().invoke(xlareport, [str(argument) for argument in arguments], input=given)


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
