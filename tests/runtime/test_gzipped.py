import gzip
import zlib

import pytest

from xlareport.hlo.proto import ProtoReader
from xlareport.readers.buffer_assignment_proto import read_buffer_assignment_proto
from xlareport.runtime.gzipped import ALWAYS, TIMES, decompress_bytes


def test_packed_or_not_the_content_is_the_same() -> None:
    assert decompress_bytes(b"content") == decompress_bytes(gzip.compress(b"content")) == b"content"


def test_what_unpacks_to_far_more_than_it_is_is_refused() -> None:
    bomb = gzip.compress(bytes(ALWAYS + 1))
    assert TIMES * len(bomb) < ALWAYS
    with pytest.raises(zlib.error, match="33,554,432 bytes"):
        decompress_bytes(bomb)


def test_a_bomb_is_a_problem_of_its_file() -> None:
    bomb = gzip.compress(bytes(ALWAYS + 1))
    reader = ProtoReader()
    assert reader.read(bomb, "a.hlo.pb.gz") is None
    found, problems = read_buffer_assignment_proto(bomb, "b.hlo.pb.gz")
    assert found is None
    for problem in (*reader.problems, *problems):
        assert "unpacks to more than" in problem.message
