import zlib
from gzip import compress

import pytest

from xlareport.readers.table_protos import message_class
from xlareport.runtime.packed import decompress_bytes


def test_a_message_is_read_by_the_numbers_of_its_table() -> None:
    made = message_class("memory_report", "Space")(total_bytes=7, color=1)
    again = message_class("memory_report", "Space")()
    again.ParseFromString(made.SerializeToString())
    assert (again.total_bytes, again.color, list(again.allocations)) == (7, 1, [])
    assert made.SerializeToString() == b"\x08\x07\x10\x01"


def test_what_is_packed_is_unpacked_and_what_is_cut_off_is_told() -> None:
    assert decompress_bytes(b"plain") == b"plain"
    assert decompress_bytes(compress(b"plain")) == b"plain"
    with pytest.raises(zlib.error):
        decompress_bytes(b"\x1f\x8bnothing of the kind")
