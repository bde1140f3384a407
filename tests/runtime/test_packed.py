import gzip
import lzma
import zlib
from collections.abc import Callable

import pytest

from xlareport.hlo.proto import ProtoReader
from xlareport.readers.buffer_assignment import read_buffer_assignment_proto
from xlareport.runtime.packed import ALWAYS, TIMES, decompress_bytes


def test_packed_or_not_the_content_is_the_same() -> None:
    for packed in (b"content", gzip.compress(b"content"), lzma.compress(b"content")):
        assert decompress_bytes(packed) == b"content"


def test_damaged_files_say_so() -> None:
    for packed in (gzip.compress(b"content"), lzma.compress(b"content")):
        with pytest.raises(zlib.error):
            decompress_bytes(packed[:8] + bytes(8))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_what_unpacks_to_far_more_than_it_is_is_refused(pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(bytes(ALWAYS + 1))
    assert TIMES * len(bomb) < ALWAYS
    with pytest.raises(zlib.error, match="33,554,432 bytes"):
        decompress_bytes(bomb)


def test_a_bomb_is_a_problem_of_its_file() -> None:
    bomb = gzip.compress(bytes(ALWAYS + 1))
    reader = ProtoReader()
    assert reader.read(bomb, "a.hlo.pb.gz") is None
    parsed, problems = read_buffer_assignment_proto(bomb, "b.hlo.pb.gz")
    assert parsed is None
    for problem in (*reader.problems, *problems):
        assert "unpacks to more than" in problem.message


def test_what_is_packed_is_unpacked_and_what_is_cut_off_is_told() -> None:
    assert decompress_bytes(b"plain") == b"plain"
    assert decompress_bytes(gzip.compress(b"plain")) == b"plain"
    with pytest.raises(zlib.error):
        decompress_bytes(b"\x1f\x8bnothing of the kind")
