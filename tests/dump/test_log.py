"""Frames of a captured log, and files that hold none."""

from pathlib import Path

import pytest

from xlareport.dump import log
from xlareport.dump.spool import Spool
from xlareport.runtime.errors import Problem
from xlareport.runtime.limits import LIMITS


def frames(folder: Path, content: bytes) -> tuple[dict[str, bytes], list[Problem]]:
    (folder / "spool").mkdir()
    place = folder / "stdout.log"
    place.write_bytes(content)
    problems: list[Problem] = []
    spool = Spool(folder / "spool", LIMITS)
    found = log.frames(place, "stdout.log", spool, problems)
    return {name: kept.read_bytes() for name, kept, _ in found}, problems


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_a_frame_is_found_wherever_the_pieces_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(log, "_HELD", size)
    content = b"noise\n*** Begin a.txt ***\nHloModule f\n\n*** End a.txt ***\n"
    assert frames(tmp_path, content) == ({"stdout.log/a.txt": b"HloModule f\n"}, [])


def test_a_file_without_frames_gives_nothing(tmp_path: Path) -> None:
    assert frames(tmp_path, b"** Begin\n" * 1000) == ({}, [])


def test_a_frame_without_an_end_is_a_problem(tmp_path: Path) -> None:
    found, (problem,) = frames(tmp_path, b"*** Begin a.txt ***\ntext\n")
    assert found == {"stdout.log/a.txt": b"text"}
    assert "has no end" in problem.message
