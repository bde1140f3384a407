"""The spool keeps files under numbers and ends where a limit is passed."""

import io
from pathlib import Path

import pytest

from xlareport.dump.spool import Spool
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.limits import FileTooLargeError, LimitPassedError, Limits


def spool(folder: Path, **limits: int) -> Spool:
    return Spool(folder, Limits(**limits))


def test_streams_become_numbered_files(tmp_path: Path) -> None:
    kept = spool(tmp_path)
    paths = [kept.add(io.BytesIO(b"one"), chunk=2), kept.keep([b"t", b"wo"])]
    assert [path.name for path in paths] == ["000001", "000002"]
    assert [path.read_bytes() for path in paths] == [b"one", b"two"]


def test_a_file_may_not_be_larger_than_its_limit(tmp_path: Path) -> None:
    kept = spool(tmp_path, file_bytes=4)
    assert kept.keep([b"four"]).read_bytes() == b"four"
    with pytest.raises(FileTooLargeError):
        kept.keep([b"fi", b"ve!"])


def test_files_and_bytes_are_counted_together(tmp_path: Path) -> None:
    kept = spool(tmp_path, files=2, total_bytes=5)
    kept.keep([b"123"])
    with pytest.raises(LimitPassedError):
        kept.pass_over(3)
    kept.count()
    with pytest.raises(LimitPassedError):
        kept.count()


def test_a_folder_that_is_gone_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="TMPDIR"):
        spool(tmp_path / "gone").keep([b"x"])
