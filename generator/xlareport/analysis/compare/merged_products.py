"""Operations whose matmuls are one in only one of two modules, as dot-merger makes them.

The merged matmul has the op_name of one of them: the same work would be a saving of the others and
a slowdown of that one.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import isclose

from msgspec.structs import replace

from xlareport.analysis.compare.operations import Operation, OperationChange, add_up

PRODUCTS = ("convolution", "custom-call", "dot")
"""Opcodes of matmuls, and of calls that may be some."""
_NEARLY = 1e-4
"""Share of FLOPs that element-wise work in the same operations may add."""


def count_products(operation: Operation) -> int:
    """Count the matmuls of an operation, with the custom calls that may be some."""
    return sum(count for opcode, count in operation.opcodes if opcode in PRODUCTS)


def join_merged(changes: Sequence[OperationChange]) -> tuple[OperationChange, ...]:
    """Return the changes, what changed most first; operations merged in one module are one."""
    joined: dict[int, OperationChange] = {}
    gone: set[int] = set()
    for taker, givers in _merged(changes):
        places = {taker, *givers}
        if not places & (gone | joined.keys()):
            first = max(places, key=lambda place: _most_seconds(changes[place]))
            joined[first] = _join([changes[first], *(changes[at] for at in places - {first})])
            gone |= places - {first}
    rows = (joined.get(place, change) for place, change in enumerate(changes) if place not in gone)
    return tuple(sorted(rows, key=lambda change: (-abs(change.seconds), -abs(change.bytes))))


def _merged(changes: Sequence[OperationChange]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the operations that have the FLOPs of others in one module, and these others."""
    for sign in (1, -1):
        givers = [place for place, change in enumerate(changes) if _gives(change, sign)]
        for taker, change in enumerate(changes) if givers else ():
            growth = sign * _flops(change)
            if not _has_products(change) or growth <= 0:
                continue
            near = [place for place in givers if _beside(changes[place], change)]
            for some in (*((place,) for place in near), tuple(near)):
                lost = -sign * sum(_flops(changes[place]) for place in some)
                if some and isclose(growth, lost, rel_tol=_NEARLY):
                    yield taker, some
                    break


def _gives(change: OperationChange, sign: int) -> bool:
    """Return whether an operation has matmuls only in the base, or only in the head."""
    if change.base is None or change.head is None or sign * _flops(change) >= 0:
        return False
    before, after = (change.base, change.head)[::sign]
    return bool(count_products(before)) and not count_products(after)


def _has_products(change: OperationChange) -> bool:
    sides = change.base, change.head
    return all(side is not None and count_products(side) for side in sides)


def _flops(change: OperationChange) -> int:
    return (change.head.flops if change.head else 0) - (change.base.flops if change.base else 0)


def _beside(change: OperationChange, other: OperationChange) -> bool:
    """Return whether two operations are of one phase and one scope, einsums left out."""
    places = [(item.key.phase, item.key.scope.rpartition("/")[0]) for item in (change, other)]
    return places[0] == places[1]


def _most_seconds(change: OperationChange) -> float:
    return max(side.seconds if side else 0.0 for side in (change.base, change.head))


def _join(changes: Sequence[OperationChange]) -> OperationChange:
    first, *others = changes
    return replace(
        first,
        base=add_up(_present(change.base for change in changes)),
        head=add_up(_present(change.head for change in changes)),
        merged=tuple(change.key for change in others),
    )


def _present(operations: Iterable[Operation | None]) -> list[Operation]:
    return [operation for operation in operations if operation is not None]
