"""The words of the table of operations."""

from msgspec.structs import replace

from xlareport.analysis.compare.operations import Operation, OperationChange, OperationKey
from xlareport.analysis.compare.placed_collectives import (
    CollectiveChange,
    PlacedCollective,
    find_resized,
)
from xlareport.analysis.source.scopes import Phase
from xlareport.pages.compare.operations import tabulate_operations, what_changed

KEY = OperationKey(Phase.BACKWARD, "while/body/mlp/td,dk->tk", "dot_general", "m.py:1")
ROW = Operation(KEY, 1e-5, 2048, 10, 1, (("dot", 1),), (("dot", "f32"),))


def words(base: Operation, head: Operation) -> list[str]:
    return list(what_changed(OperationChange(base.key, base, head)))


def test_an_operation_of_the_same_instructions_says_what_it_accesses() -> None:
    assert words(ROW, replace(ROW, bytes=4096)) == ["+2.0 KiB accessed"]
    assert words(replace(ROW, bytes=4096), ROW) == ["\N{MINUS SIGN}2.0 KiB accessed"]
    assert words(ROW, replace(ROW, seconds=2e-5)) == ["not known"]


def test_a_type_that_only_the_base_has_beside_another_is_named() -> None:
    both = replace(ROW, types=(("dot", "bf16"), ("dot", "f32")))
    assert words(both, ROW) == ["all in f32, before partly bf16"]


def test_a_merged_matmul_names_with_what() -> None:
    apart = replace(ROW, opcodes=(("dot", 2),))
    gate = replace(KEY, scope="while/body/mlp/td,d->t")
    change = OperationChange(KEY, apart, ROW, (gate, replace(KEY, scope="")))
    wanted = "1 matmul, not 2: merged with td,d->t/dot_general, dot_general"
    assert list(what_changed(change)) == [wanted]
    (split,) = what_changed(OperationChange(KEY, ROW, apart, (gate,)))
    assert split == "2 matmuls, not 1: merged in the base with td,d->t/dot_general"


def test_a_collective_that_only_one_side_has_comes_first() -> None:
    place = Phase.BACKWARD, "mlp/td,dk->tk/dot_general"
    gone = PlacedCollective("all-reduce", *place, "f32[8]", "r", 2e-4, 96 * 2**20, 4)
    change = OperationChange(KEY, ROW, replace(ROW, seconds=3e-5))
    (row,) = tabulate_operations(
        [change], "", [CollectiveChange(in_head=False, collective=gone)]
    ).rows
    assert row[3] == "\N{MINUS SIGN}1 all-reduce: 96.0 MiB sent, 200 µs"
    key = replace(KEY, line="f.py:3")
    change = replace(change, key=key)
    for other in (replace(gone, path="mlp/up/dot_general"), replace(gone, line="f.py:4")):
        (row,) = tabulate_operations(
            [change], "", [CollectiveChange(in_head=False, collective=other)]
        ).rows
        assert row[3] == "not known"


def test_a_collective_that_sends_other_bytes_is_named() -> None:
    before = PlacedCollective(
        *("all-reduce", Phase.BACKWARD, "mlp/td,dk->tk/dot_general", "f32[8]", "r", 2e-4, 2**21, 1),
        line="m.py:1",
    )
    after = replace(before, sent_bytes=2**20)
    elsewhere = replace(before, line="m.py:2")
    resized = find_resized([before, elsewhere], [after, elsewhere])
    assert [(each.base_bytes, each.head_bytes) for each in resized] == [(2**21, 2**20)]
    assert not find_resized([before], [after, after])
    change = OperationChange(KEY, ROW, replace(ROW, seconds=3e-5))
    assert list(what_changed(change, (), resized)) == ["all-reduce: 1.0 MiB sent, not 2.0 MiB"]
    other = replace(change, key=replace(KEY, line="m.py:2"))
    assert list(what_changed(other, (), resized)) == ["not known"]


def test_the_opcodes_of_a_collective_that_is_named_are_left_out() -> None:
    gather = PlacedCollective(
        "all-gather", Phase.BACKWARD, "mlp/td,dk->tk/dot_general", "f32[8]", "r", 2e-4, 96
    )
    opcodes = (("all-gather-done", 1), ("all-gather-start", 1), ("copy", 1), *ROW.opcodes)
    change = OperationChange(KEY, ROW, replace(ROW, kernels=4, opcodes=opcodes))
    only_head = [CollectiveChange(in_head=True, collective=gather)]
    assert list(what_changed(change, only_head)) == ["+1 all-gather: 96 B sent, 200 µs", "+1 copy"]
