"""Entries kept from build to build: whole or absent, whatever happened to their files."""

import errno
import os
from pathlib import Path

import pytest
from msgspec import Struct

from xlareport.storage import entry_store
from xlareport.storage.entry_store import EntryStore

KEY, OTHER = "ab" * 20, "cd" * 20
LARGE = os.urandom(3_000)


class Line(Struct, frozen=True):
    text: str
    numbers: tuple[int, ...]


def only_file(store: EntryStore) -> Path:
    (path,) = store.folder.glob("*/*")
    return path


def test_an_entry_comes_back(tmp_path: Path) -> None:
    store = EntryStore(tmp_path / "store", 1_000_000)
    assert store.get(KEY) is None
    store.put(KEY, LARGE)
    assert store.get(KEY) == LARGE
    assert store.get(OTHER) is None


def test_a_record_comes_back_unless_its_values_are_of_another_kind(tmp_path: Path) -> None:
    store = EntryStore(tmp_path / "store", 1_000_000)
    assert store.get_record(KEY, Line) is None
    store.put_record(KEY, Line("one", (1, 2)))
    assert store.get_record(KEY, Line) == Line("one", (1, 2))
    for content in (b"", b"[]", b'["one", [1, "2"]]', b"[" * 100_000, b"\xff"):
        store.put(OTHER, content)
        assert store.get_record(OTHER, Line) is None


@pytest.mark.parametrize("place", [0, 31, 32, 40, -1])
def test_an_altered_entry_is_absent_and_removed(tmp_path: Path, place: int) -> None:
    store = EntryStore(tmp_path, 1_000_000)
    store.put(KEY, LARGE)
    path = only_file(store)
    written = bytearray(path.read_bytes())
    written[place] ^= 1
    path.write_bytes(written)
    assert store.get(KEY) is None
    assert not path.exists()


def test_an_entry_that_is_cut_off_or_empty_is_absent(tmp_path: Path) -> None:
    store = EntryStore(tmp_path, 1_000_000)
    for length in (0, 10, 32, 100):
        store.put(KEY, LARGE)
        path = only_file(store)
        path.write_bytes(path.read_bytes()[:length])
        assert store.get(KEY) is None


def test_the_entry_of_another_key_is_absent(tmp_path: Path) -> None:
    store = EntryStore(tmp_path, 1_000_000)
    store.put(KEY, LARGE)
    other = tmp_path / OTHER[:2] / f"{OTHER[2:]}.kept"
    other.parent.mkdir()
    only_file(store).rename(other)
    assert store.get(OTHER) is None


def test_an_entry_that_unpacks_to_too_much_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EntryStore(tmp_path, 1_000_000)
    store.put(KEY, bytes(100_000))
    monkeypatch.setattr(entry_store, "_MOST_BYTES", 99_999)
    assert store.get(KEY) is None


def test_an_entry_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EntryStore(tmp_path, 1_000_000)
    store.put(KEY, b"a")
    os.truncate(only_file(store), 1 << 31)  # a hole takes no room
    assert store.get(KEY) is None
    monkeypatch.setattr(entry_store, "_MOST_BYTES", 100)
    store.put(OTHER, LARGE)
    assert store.get(OTHER) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_the_place_of_an_entry_is_replaced(tmp_path: Path) -> None:
    store = EntryStore(tmp_path, 1_000_000)
    store.put(KEY, LARGE)
    path = only_file(store)
    path.unlink()
    os.mkfifo(path)
    assert store.get(KEY) is None
    store.put(KEY, LARGE)
    assert store.get(KEY) == LARGE


def test_a_full_disk_costs_the_entry_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = EntryStore(tmp_path, 1_000_000)

    def fill(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill)
    store.put(KEY, LARGE)
    assert store.get(KEY) is None
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_was_not_asked_for_longest_goes_first(tmp_path: Path) -> None:
    store = EntryStore(tmp_path, 7_000)
    keys = [f"{number:040x}" for number in range(3)]
    for moment, key in enumerate(keys):
        store.put(key, os.urandom(3_000))
        path = store.folder / key[:2] / f"{key[2:]}.kept"
        os.utime(path, (moment, moment))
    assert store.get(keys[0]) is not None
    (tmp_path / "00" / "killed.1.part").write_bytes(b"half")
    store.prune()
    assert [store.get(key) is not None for key in keys] == [True, False, True]
    assert not list(tmp_path.glob("*/*.part"))


def test_of_entries_of_one_moment_as_many_stay_as_fit(tmp_path: Path) -> None:
    store = EntryStore(tmp_path, 7_000)
    keys = [f"{number:040x}" for number in range(4)]
    for key in keys:
        store.put(key, os.urandom(3_000))
        os.utime(store.folder / key[:2] / f"{key[2:]}.kept", (5, 5))
    store.prune()
    assert sum(store.has(key) for key in keys) == 2


def test_nothing_is_kept_where_nothing_may_be(tmp_path: Path) -> None:
    store = EntryStore(tmp_path / "store", 0)
    store.put(KEY, LARGE)
    assert not store.folder.exists()
