"""Messages are read by the numbers of their fields in a `.proto` file."""

import pytest

from xlareport.runtime.proto_schema import message_class


def test_a_message_has_the_fields_of_its_file() -> None:
    space = message_class("xlareport.readers", "memory_report", "Space")
    assert space(total_bytes=7, color=1).SerializeToString() == b"\x08\x07\x10\x01"
    with pytest.raises(ValueError, match="no_such"):
        space(no_such=1)


def test_a_class_is_made_once() -> None:
    wanted = ("xlareport.readers", "memory_report", "Space")
    assert message_class(*wanted) is message_class(*wanted)


def test_messages_of_one_name_in_two_files_are_two() -> None:
    ours = message_class("xlareport.hlo.protos", "hlo", "HloProto")
    other = message_class("xlareport.readers", "buffer_assignment", "HloProto")
    assert ours is not other
    assert "buffer_assignment" in other.DESCRIPTOR.fields_by_name
