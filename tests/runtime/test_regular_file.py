"""Only regular files are opened, and nothing blocks."""

import os
from pathlib import Path

import pytest

from xlareport.runtime import regular_file
from xlareport.runtime.regular_file import open_regular


def test_a_file_is_opened_with_its_status(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    descriptor, status = open_regular(tmp_path / "a")
    assert os.read(descriptor, 9) == b"abc"
    os.close(descriptor)
    assert status.st_size == len(b"abc")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_and_a_folder_are_refused_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    closed: list[int] = []
    monkeypatch.setattr(regular_file.os, "close", closed.append)
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(OSError, match="not a regular file"):
            open_regular(place)
    monkeypatch.undo()
    assert len({*map(os.fstat, closed)}) == len(closed) == 2
    for descriptor in closed:
        os.close(descriptor)
