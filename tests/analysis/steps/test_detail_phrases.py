"""Phrases that are counted by details."""

from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.detail_phrases import carried, taken
from xlareport.analysis.steps.details import ElementsChange, TakenIn
from xlareport.analysis.steps.groups import grouped
from xlareport.analysis.steps.kinds import Kind


def _loop(name: str, before: int, after: int) -> Change:
    return replace(change(Kind.CARRIED, name), details=(ElementsChange(before, after),))


def _copy(name: str, reader: str, opcode: str) -> Change:
    moved = replace(change(Kind.TAKEN, name), opcodes=("copy", ""))
    return replace(moved, details=(TakenIn(reader, opcode),))


def test_loops_that_lose_and_loops_that_gain_elements_are_told_apart() -> None:
    loops = (_loop("while.1", 5, 3), _loop("while.2", 9, 8), _loop("while.3", 2, 4))
    words = "dropped 3 elements of 2 loops and added 2 elements to 1 loop"
    assert carried(grouped(loops)) == words


def test_one_reader_is_named_once() -> None:
    copies = (_copy("copy.1", "dot.1", "dot"), _copy("copy.2", "dot.1", "dot"))
    assert taken(grouped(copies)) == "folded 2 copies into a dot"


def test_readers_of_several_opcodes_are_all_named() -> None:
    copies = (_copy("copy.1", "dot.1", "dot"), _copy("copy.2", "convolution.1", "convolution"))
    assert taken(grouped(copies)) == "folded 2 copies into dots and convolutions"
