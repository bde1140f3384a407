"""Messages taken apart where they lie in a file; whatever is no message ends in one error."""

from io import BytesIO

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from xlareport.readers.wire import fields, pieces, value_of

MESSAGE = b"\x08\x96\x01" + b"\x12\x03abc" + b"\x1d\x01\x02\x03\x04" + b"\x21" + b"\x05" * 8
"""A number, three bytes, and two fixed numbers."""


def test_fields_are_found_where_they_lie() -> None:
    file = BytesIO(b"before" + MESSAGE + b"after")
    found = list(fields(file, 6, 6 + len(MESSAGE)))
    assert [one.number for one in found] == [1, 2, 3, 4]
    assert [value_of(file, one) for one in found][1:3] == [b"abc", b"\x01\x02\x03\x04"]


@pytest.mark.parametrize("size", [1, 5, 8, 100])
def test_pieces_are_whole_fields(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("xlareport.readers.wire._PIECE", size)
    found = list(pieces(BytesIO(MESSAGE * 3), 0, 3 * len(MESSAGE)))
    assert b"".join(found) == MESSAGE * 3
    assert all(list(fields(BytesIO(one), 0, len(one))) for one in found)


def test_a_field_that_is_longer_than_the_message() -> None:
    with pytest.raises(DecodeError):
        list(fields(BytesIO(b"\x12\x7fabc"), 0, 5))
    with pytest.raises(DecodeError):
        list(pieces(BytesIO(b"\x12\x7fabc"), 0, 5))


def test_fields_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlareport.readers.wire._MOST_FIELDS", 10)
    assert len(list(fields(BytesIO(b"\x0a\x00" * 10), 0, 20))) == 10
    with pytest.raises(DecodeError, match="more than 10 fields"):
        list(fields(BytesIO(b"\x0a\x00" * 11), 0, 22))


@given(st.binary(max_size=200))
def test_anything_ends(data: bytes) -> None:
    for read in (fields, pieces):
        try:
            assert len(list(read(BytesIO(data), 0, len(data)))) <= len(data)
        except DecodeError:
            continue
