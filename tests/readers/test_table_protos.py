from xlareport.readers.table_protos import message_class


def test_a_message_is_read_by_the_numbers_of_its_table() -> None:
    made = message_class("memory_report", "Space")(total_bytes=7, color=1)
    again = message_class("memory_report", "Space")()
    again.ParseFromString(made.SerializeToString())
    assert (again.total_bytes, again.color) == (7, 1)
    assert made.SerializeToString() == b"\x08\x07\x10\x01"
