"""Files kept for the next build: whole, or not there."""

import os
from pathlib import Path

import pytest

from xlareport.runtime.kept_file import keep_file, list_kept, read_kept


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "ab" / "cd.kept"
    keep_file(path, b"first")
    keep_file(path, b"second")
    assert path.read_bytes() == b"second"
    assert [*path.parent.iterdir()] == [path]


def test_a_disk_that_is_full_keeps_the_former_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cd.kept"
    keep_file(path, b"first")

    def fill(aside: Path, content: bytes) -> int:
        aside.touch()
        raise OSError(28, f"No space left on device for {len(content)} bytes")

    monkeypatch.setattr(Path, "write_bytes", fill)
    keep_file(path, b"second")
    assert path.read_bytes() == b"first"
    assert [*tmp_path.iterdir()] == [path]


def test_files_are_listed_by_their_ending(tmp_path: Path) -> None:
    for name in ("ab/1.kept", "ab/2.part", "cd/3.kept", "cd/inner/4.kept"):
        keep_file(tmp_path / name, b"")
    keep_file(tmp_path / "5.kept", b"")
    assert sorted(file.name for file in list_kept(tmp_path, ".kept")) == ["1.kept", "3.kept"]
    with pytest.raises(OSError, match="none"):
        next(list_kept(tmp_path / "none", ".kept"))


def test_links_to_folders_of_others_are_not_followed(tmp_path: Path) -> None:
    keep_file(tmp_path / "of-another/1.kept", b"")
    keep_file(tmp_path / "store/ab/2.kept", b"")
    (tmp_path / "store/cd").symlink_to(tmp_path / "of-another")
    assert [file.name for file in list_kept(tmp_path / "store", ".kept")] == ["2.kept"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_or_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "ab/1.kept"
    assert read_kept(path, 3) is None
    keep_file(path, b"abc")
    assert read_kept(path, 3) == b"abc"
    assert read_kept(path, 2) is None
    path.unlink()
    os.mkfifo(path)
    assert read_kept(path, 3) is None
