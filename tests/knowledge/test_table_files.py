import pytest

from xlareport.knowledge import colors, kinds, opcodes
from xlareport.knowledge.table_files import read_table


def test_entries_keep_their_order_and_are_read_only() -> None:
    table = read_table("opcodes", opcodes.Opcode)
    assert next(iter(table)) == "abs"
    with pytest.raises(TypeError):
        table["abs"] = table["acos"]  # type: ignore[index]


def test_lists_become_tuples() -> None:
    assert isinstance(kinds.all_entries()["hlo-text"].flags, tuple)


def test_a_record_that_does_not_fit_its_table_is_refused() -> None:
    with pytest.raises(TypeError):
        read_table("opcodes", colors.ColorScheme)
