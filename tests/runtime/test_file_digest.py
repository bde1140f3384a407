"""Digests of files: those of their contents, read again after any change."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from xlareport.runtime import file_digest
from xlareport.runtime.file_digest import digest_file, read_digest


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> dict[object, bytes]:
    """The digests that are remembered, none at first."""
    digests: dict[object, bytes] = {}
    monkeypatch.setattr(file_digest, "_remembered", digests)
    return digests


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch, remembered: dict[object, bytes]) -> None:
    """Files of this moment count as old."""
    del remembered
    monkeypatch.setattr(file_digest, "_SETTLED", -1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "a.txt"
    place.write_bytes(b"HloModule m")
    return place


@pytest.mark.usefixtures("settled")
def test_a_file_is_read_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_digest(path)
    assert first == sha256(b"HloModule m").digest()
    monkeypatch.setattr(file_digest, "sha256", None)
    assert digest_file(path) == first
    with pytest.raises(TypeError):
        read_digest(path)


@pytest.mark.usefixtures("settled")
def test_a_change_of_the_same_size_and_time_is_seen(path: Path) -> None:
    digest_file(path)
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        path.write_bytes(b"HloModule n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert digest_file(path) == sha256(b"HloModule n").digest()


def test_a_file_that_has_just_changed_is_not_remembered(
    path: Path, remembered: dict[object, bytes]
) -> None:
    """It may change again within the tick of the clock of its file system."""
    digest_file(path)
    assert remembered == {}


@pytest.mark.usefixtures("settled")
def test_few_are_remembered(
    path: Path, remembered: dict[object, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_digest, "_MOST", 1)
    other = path.with_name("b.txt")
    other.write_bytes(b"b")
    digest_file(path)
    assert digest_file(other) == sha256(b"b").digest()
    assert len(remembered) == 1


@pytest.mark.usefixtures("settled")
def test_a_file_that_is_too_large_has_none(path: Path) -> None:
    assert digest_file(path, 10) is None
    assert digest_file(path, 11) is not None
    assert digest_file(path, 10) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="regular"):
        digest_file(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        digest_file(tmp_path / "none")
