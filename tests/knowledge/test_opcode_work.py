from itertools import combinations

from xlareport.knowledge.opcode_work import opcode_work


def test_an_opcode_counts_in_one_way() -> None:
    table = opcode_work()
    for one, other in combinations((table.elementwise, table.transcendental, table.movement), 2):
        assert not one & other
    assert not table.free & table.bookkeeping
    assert table.free | table.bookkeeping <= table.movement
