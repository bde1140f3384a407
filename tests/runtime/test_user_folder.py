"""The folder of what all reports of a user share is the user's alone, or none."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from xlareport.runtime.user_folder import user_folder

POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users and modes of POSIX")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


@POSIX
def test_it_is_made_once_for_the_user_alone(temporary: Path) -> None:
    folder = user_folder()
    assert folder == user_folder() == temporary / f"xlareport-kept-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700


@POSIX
@pytest.mark.parametrize("kind", ["open to others", "of somebody else", "a link", "a file"])
def test_another_is_not_used(temporary: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = temporary / f"xlareport-kept-{os.getuid()}"
    if kind == "a link":
        (temporary / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(temporary / "elsewhere")
    elif kind == "a file":
        place.touch(mode=0o700)
    else:
        place.mkdir(mode=0o700)
    if kind == "open to others":
        place.chmod(0o770)
    if kind == "of somebody else":
        place.rename(temporary / "xlareport-kept-12345")
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert user_folder() is None


def test_there_is_none_without_bytecode_or_room(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "none"))
    monkeypatch.setattr(os, "getuid", lambda: 7, raising=False)
    assert user_folder() is None
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    assert user_folder() is None
    assert not [*temporary.iterdir()]
