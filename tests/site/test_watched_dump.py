"""A dump that is still written: only files at rest are linked, and all of them in the end."""

import os
from pathlib import Path

import pytest

from xlareport.site.watched_dump import WatchedDump


@pytest.fixture
def watched(tmp_path: Path) -> WatchedDump:
    (tmp_path / "dump/inner").mkdir(parents=True)
    return WatchedDump(tmp_path / "dump", tmp_path / "mirror")


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def write(path: Path, text: str, moment: int) -> None:
    path.write_text(text)
    os.utime(path, (moment, moment))


def test_files_are_linked_once_they_are_at_rest(watched: WatchedDump) -> None:
    assert not watched.look()
    write(watched.dump / "a.txt", "one", 1)
    assert not watched.look()
    write(watched.dump / "inner/b.txt", "half", 2)
    assert watched.look()
    assert not watched.is_quiet
    watched.link()
    assert names(watched.mirror) == {"a.txt"}
    write(watched.dump / "inner/b.txt", "whole", 3)
    assert not watched.look()
    assert watched.look()
    assert watched.is_quiet
    watched.link()
    assert names(watched.mirror) == {"a.txt", "inner/b.txt"}
    assert (watched.mirror / "inner/b.txt").read_text() == "whole"
    assert not watched.look()


def test_files_that_are_replaced_or_removed_are_so_in_the_mirror(watched: WatchedDump) -> None:
    (watched.mirror / "former").mkdir(parents=True)
    (watched.mirror / "former/c.txt").write_text("of a former time")
    for name in ("a.txt", "b.txt"):
        write(watched.dump / name, name, 1)
    watched.look()
    watched.look()
    watched.link()
    assert names(watched.mirror) == {"a.txt", "b.txt"}
    (watched.dump / "a.txt").unlink()
    (watched.dump / "b.txt").unlink()
    write(watched.dump / "b.txt", "another", 2)
    watched.look()
    assert watched.look()
    watched.link()
    assert names(watched.mirror) == {"b.txt"}
    assert (watched.mirror / "b.txt").read_text() == "another"


def test_links_and_pipes_are_not_followed(watched: WatchedDump, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    (watched.dump / "link.txt").symlink_to(tmp_path / "secret")
    os.mkfifo(watched.dump / "pipe.txt")
    watched.look()
    assert not watched.look()


def test_what_cannot_be_linked_is_copied(
    watched: WatchedDump, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    write(watched.dump / "a.txt", "one", 5)
    watched.look()
    watched.look()
    monkeypatch.setattr(Path, "hardlink_to", refuse)
    watched.link()
    assert (watched.mirror / "a.txt").read_text() == "one"
    assert (watched.mirror / "a.txt").stat().st_mtime == 5
