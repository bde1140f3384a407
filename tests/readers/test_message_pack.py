"""Values of MessagePack by its specification, and what is cut off or nested without end."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.readers.parsers import Parser, without_problems

from xlareport.readers.message_pack import read_message_pack

PARSERS = (
    Parser(
        without_problems(read_message_pack),
        b"\x81\xa1a\x92\x01\xa1x",
        (b"\x91", b"\xdf"),
        says=False,
    ),
)
"""For `tests/properties/test_parsers.py`."""


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"\x07", 7),
        (b"\xff", -1),
        (b"\xc0", None),
        (b"\xc3", True),
        (b"\xcd\x01\x00", 256),
        (b"\xd1\xff\xfe", -2),
        (b"\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00", 1.0),
        (b"\xa3abc", "abc"),
        (b"\xd9\x03abc", "abc"),
        (b"\xc4\x02ab", "ab"),
        (b"\x92\x01\xa1x", [1, "x"]),
        (b"\xdc\x00\x01\x05", [5]),
        (b"\x81\xa1k\x02", {"k": 2}),
        (b"\xde\x00\x01\xa1k\x02", {"k": 2}),
        (b"\xa3ab", None),
        (b"\xdb\xff\xff\xff\xffab", None),
        (b"\xd4\x00\x00", None),
        (b"\x91" * 100, None),
        (b"", None),
    ],
)
def test_values(data: bytes, value: Any) -> None:
    """Each form of the specification; what cannot be read is None."""
    assert read_message_pack(data) == value


@given(some.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    """Any bytes are read or are None: there is no error."""
    read_message_pack(data)
