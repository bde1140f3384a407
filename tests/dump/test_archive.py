"""Archives give what a directory gives, and nothing of them leads outside."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard

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


def tar_of(files: dict[str, bytes], mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def test_archives_give_the_same_as_the_directory(tmp_path: Path) -> None:
    plain = tar_of(FILES)
    packed = {
        "dump.tar": plain,
        "dump.tar.gz": tar_of(FILES, "w:gz"),
        "dump.tar.xz": tar_of(FILES, "w:xz"),
        "dump.tar.zst": zstandard.compress(plain),
    }
    for name, content in packed.items():
        (tmp_path / name).write_bytes(content)
        assert contents(tmp_path / name) == FILES, name
    with zipfile.ZipFile(tmp_path / "dump.zip", "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    assert contents(tmp_path / "dump.zip") == FILES


def test_members_that_would_lead_outside_stay_inside(tmp_path: Path) -> None:
    archive = tmp_path / "evil.tar"
    archive.write_bytes(tar_of({"../../up.txt": b"1", "/etc/passwd": b"2", "a\\..\\b": b"3"}))
    assert contents(archive) == {"up.txt": b"1", "etc/passwd": b"2", "a/b": b"3"}


def test_a_broken_archive_gives_what_came_before_the_break(tmp_path: Path) -> None:
    whole = tar_of({"a.txt": b"a" * 2000, "b.txt": b"b" * 200_000})
    broken = tmp_path / "broken.tar"
    broken.write_bytes(whole[:100_000])
    with open_source(broken) as source:
        assert [entry.path for entry in source.entries] == ["a.txt"]
        assert "broken after 1 files" in source.problems[0].message


def test_an_archive_that_is_none_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "dump.zip").write_bytes(b"no archive at all")
    with pytest.raises(UnreadableInputError, match="cannot be read as an archive"):
        contents(tmp_path / "dump.zip")


def test_limits_end_a_bomb(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.tar.zst"
    bomb.write_bytes(zstandard.compress(tar_of({"zeros": bytes(10_000_000)})))
    limits = Limits(total_bytes=1_000_000)
    with (
        pytest.raises(UnreadableInputError, match="more than 1,000,000 bytes"),
        open_source(bomb, limits),
    ):
        pass
