import re
from itertools import combinations

from xlareport.knowledge import colors, opcodes
from xlareport.knowledge.opcodes import opcode_work


def test_the_133_opcodes_of_2026_are_there() -> None:
    in_use = [entry for entry in opcodes.all_entries().values() if entry.until is None]
    assert len(in_use) == 133


def test_an_opcode_is_found_by_its_spelling() -> None:
    dot = opcodes.find("dot")
    assert dot is not None
    assert dot.color == "dark-blue"
    assert opcodes.find("kDot") is None


def test_only_async_wrappers_among_those_in_use_have_no_color() -> None:
    plain = {
        entry.name
        for entry in opcodes.all_entries().values()
        if entry.color is None and entry.until is None
    }
    assert plain == {"async-start", "async-update", "async-done"}


def test_every_color_is_a_scheme() -> None:
    used = {entry.color for entry in opcodes.all_entries().values()} - {None}
    assert used <= set(colors.all_entries())


def test_an_opcode_that_is_gone_says_since_when() -> None:
    gone = opcodes.find("cross-replica-sum")
    assert gone is not None
    assert gone.until == "2018-12"
    for entry in opcodes.all_entries().values():
        assert entry.until is None or re.fullmatch(r"20\d\d(-\d\d)?", entry.until), entry.name


def test_an_opcode_counts_in_one_way() -> None:
    table = opcode_work()
    for one, other in combinations((table.elementwise, table.transcendental, table.movement), 2):
        assert not one & other
    assert not table.free & table.bookkeeping
    assert table.free | table.bookkeeping <= table.movement


def test_each_collective_begins_once() -> None:
    parts = ("all-reduce", "all-gather-start", "all-gather-done", "async-start", "add")
    assert [opcodes.begins_collective(part) for part in parts] == [True, True, False, False, False]
