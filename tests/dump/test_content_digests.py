"""Digests of file contents, without what each process writes differently."""

from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.dump.content_digests import (
    brief,
    content_digest,
    is_volatile,
    known_digest,
    whole_digest,
)
from xlareport.dump.source import Entry


def entry(folder: Path, path: str, content: bytes) -> Entry:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return Entry(path, len(content), None, place)


def test_equal_contents_have_equal_digests(tmp_path: Path) -> None:
    first = entry(tmp_path, "0/a.txt", b"HloModule m")
    same = entry(tmp_path, "1/a.txt", b"HloModule m")
    other = entry(tmp_path, "2/a.txt", b"HloModule n")
    assert content_digest(first) == content_digest(same) != content_digest(other)


def test_of_debug_options_the_folder_of_the_dump_does_not_count(tmp_path: Path) -> None:
    options = b'xla_dump_to: "/tmp/%d"\nxla_gpu_autotune_level: %d\n'
    first = entry(tmp_path, "0/m.debug_options", options % (0, 4))
    same = entry(tmp_path, "1/m.debug_options", options % (1, 4))
    other = entry(tmp_path, "2/m.debug_options", options % (2, 0))
    assert content_digest(first) == content_digest(same) != content_digest(other)


def test_times_of_passes_do_not_count(tmp_path: Path) -> None:
    first = entry(tmp_path, "0/m.metadata.textproto", b"start: 1")
    other = entry(tmp_path, "1/m.metadata.textproto", b"start: 200")
    assert content_digest(first) == content_digest(other)


@pytest.mark.parametrize(
    ("path", "volatile"),
    [("m.metadata.textproto", True), ("m.debug_options", True), ("m.txt", False)],
)
def test_files_whose_size_differs_between_equal_compilations(path: str, volatile: bool) -> None:  # noqa: FBT001 - the expected value of a case
    assert is_volatile(path) is volatile


def test_a_file_that_is_gone_has_no_digest(tmp_path: Path) -> None:
    gone = entry(tmp_path, "a.txt", b"x")
    gone.location.unlink()
    assert known_digest(gone) is None
    with pytest.raises(OSError, match=r"a\.txt"):
        content_digest(gone)


def test_a_brief_digest_tells_values_apart_whatever_their_texts() -> None:
    assert brief(("a", 1)) == brief(("a", 1)) != brief(("a", "1"))
    assert len(brief("\udcff" * 100)) == 16


def test_of_a_whole_file_everything_counts(tmp_path: Path) -> None:
    first = entry(tmp_path, "0/m.debug_options", b'xla_dump_to: "/tmp/0"')
    other = entry(tmp_path, "1/m.debug_options", b'xla_dump_to: "/tmp/1"')
    assert whole_digest(first) != whole_digest(other)
    assert whole_digest(first) == sha256(first.read()).digest()
    with pytest.raises(OSError, match="max-file-size"):
        whole_digest(replace(first, most=3))
