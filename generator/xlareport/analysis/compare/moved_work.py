"""Work of instructions without op_name that two modules count with different operations.

What XLA inserts is counted with what it reads or feeds, which may be another op in the other
module: the same work would be a saving of one operation and the slowdown of another.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isclose

from msgspec.structs import replace

from xlareport.analysis.compare.module_facts import Facts
from xlareport.analysis.compare.operations import (
    Operation,
    OperationChange,
    OperationKey,
    UnnamedWork,
    align_operations,
)

_ROUNDING = 1e-15
"""Seconds; what sums of times leave of nothing is less."""
_Parts = tuple[tuple[OperationKey, float, int], ...]
_Moved = tuple[UnnamedWork, _Parts, OperationKey]
"""Work of the head with the parts and the main key that it has in the base."""


def align_facts(base: Facts, head: Facts) -> tuple[OperationChange, ...]:
    """Pair the operations of two modules; work without op_name is where the base counts it."""
    changes = align_operations(base.operations, head.operations)
    names = {
        change.base.key: change.head.key
        for change in changes
        if change.base is not None and change.head is not None
    }
    moved = list(_find_moved(base.unnamed, head.unnamed, names))
    if not moved:
        return changes
    return align_operations(base.operations, _count_as_base(head.operations, moved))


def _find_moved(
    base: Sequence[UnnamedWork],
    head: Sequence[UnnamedWork],
    names: Mapping[OperationKey, OperationKey],
) -> Iterator[_Moved]:
    """Yield the work that both modules have under different keys; `names` are the head's keys."""
    ours: dict[tuple[str, str, int], list[tuple[_Parts, OperationKey, float]]] = defaultdict(list)
    for work in base:
        parts = tuple((names.get(key, key), seconds, size) for key, seconds, size in work.parts)
        ours[_mark(work)].append((parts, names.get(work.main, work.main), work.seconds))
    rest = []
    for work in head:
        waiting = ours[_mark(work)]
        same = next(
            (item for item in waiting if _operation_keys(item[0]) == _operation_keys(work.parts)),
            None,
        )
        if same is None:
            rest.append(work)
        else:
            waiting.remove(same)
    for work in rest:
        waiting = ours[_mark(work)]
        same = next((item for item in waiting if isclose(item[2], work.seconds)), None)
        if same is not None:
            waiting.remove(same)
            yield work, same[0], same[1]


def _mark(work: UnnamedWork) -> tuple[str, str, int]:
    return work.opcode, work.shape, sum(size for _, _, size in work.parts)


def _operation_keys(parts: _Parts) -> set[OperationKey]:
    return {key for key, _, _ in parts}


def _count_as_base(operations: Sequence[Operation], moved: Iterable[_Moved]) -> list[Operation]:
    by_key = {operation.key: operation for operation in operations}
    for work, parts, main in moved:
        if not _operation_keys(work.parts) | {work.main} <= by_key.keys():
            continue  # an operation that was left out
        for key, seconds, size in work.parts:
            _add(by_key, key, -seconds, -size)
        for key, seconds, size in parts:
            _add(by_key, key, seconds, size)
        _add_instruction(by_key, work.main, work, -1)
        _add_instruction(by_key, main, work, 1)
    return [row for row in by_key.values() if row.opcodes or row.seconds or row.kernels]


def _add(
    by_key: dict[OperationKey, Operation], key: OperationKey, seconds: float, size: int
) -> None:
    operation = by_key.get(key) or Operation(key, 0.0, 0, 0, 0, (), ())
    total = operation.seconds + seconds
    by_key[key] = replace(
        operation,
        seconds=0.0 if abs(total) < _ROUNDING else total,
        bytes=operation.bytes + size,
    )


def _add_instruction(
    by_key: dict[OperationKey, Operation], key: OperationKey, work: UnnamedWork, number: int
) -> None:
    operation = by_key.get(key) or Operation(key, 0.0, 0, 0, 0, (), ())
    opcodes = Counter(dict(operation.opcodes))
    opcodes[work.opcode] += number
    by_key[key] = replace(
        operation,
        kernels=operation.kernels + number * work.is_kernel,
        opcodes=tuple(sorted((+opcodes).items())),
    )
