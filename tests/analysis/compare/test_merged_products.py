"""Operations whose matmuls are one in only one of two modules."""

from xlareport.analysis.compare.merged_products import count_products, join_merged
from xlareport.analysis.compare.operations import Operation, OperationChange, OperationKey
from xlareport.analysis.source.scopes import Phase

QKV = OperationKey(Phase.FORWARD, "body/td,dk->tk", "dot_general", "m.py:1")
GATE = OperationKey(Phase.FORWARD, "body/td,d->t", "dot_general", "m.py:2")


def operation(key: OperationKey, flops: int, seconds: float) -> Operation:
    opcodes = (("dot", 1), ("slice", 2)) if flops else (("slice", 2),)
    return Operation(key, seconds, 8, flops, int(flops > 0), opcodes, (("dot", "f32"),))


APART = [operation(QKV, 900, 2.0), operation(GATE, 100, 1.0)]
TOGETHER = [operation(QKV, 0, 0.0), operation(GATE, 1000, 4.0)]


def changes(base: list[Operation], head: list[Operation]) -> list[OperationChange]:
    return [
        OperationChange(before.key, before, after) for before, after in zip(base, head, strict=True)
    ]


def test_operations_that_are_merged_in_the_head_are_one_row() -> None:
    (change,) = join_merged(changes(APART, TOGETHER))
    assert change.base is not None
    assert change.head is not None
    assert (change.key, change.merged) == (GATE, (QKV,))
    assert (change.base.seconds, change.head.seconds, change.seconds) == (3.0, 4.0, 1.0)
    assert (count_products(change.base), count_products(change.head)) == (2, 1)
    assert change.base.flops == change.head.flops


def test_operations_that_are_merged_in_the_base_are_one_row() -> None:
    (change,) = join_merged(changes(TOGETHER, APART))
    assert change.seconds == -1.0


def test_a_matmul_that_is_gone_is_not_merged_with_one_that_did_not_grow_by_it() -> None:
    grown = [operation(QKV, 0, 0.0), operation(GATE, 500, 4.0)]
    assert len(join_merged(changes(APART, grown))) == 2
    assert len(join_merged(changes(APART, APART))) == 2


def test_matmuls_of_several_operations_are_merged_with_one() -> None:
    more = OperationKey(Phase.FORWARD, "body/td,dv->tv", "dot_general", "m.py:3")
    base = [*APART, operation(more, 50, 1.0)]
    head = [operation(QKV, 0, 0.0), operation(GATE, 1050, 4.0), operation(more, 0, 0.0)]
    (change,) = join_merged(changes(base, head))
    assert {*change.merged} == {QKV, more}
