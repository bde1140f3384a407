"""The table of operations of both sides: more expensive, new, or fused differently."""

from collections.abc import Callable, Iterator, Sequence

from xlareport.analysis.compare.merged_products import PRODUCTS, count_products
from xlareport.analysis.compare.operations import Operation, OperationChange
from xlareport.analysis.compare.placed_collectives import (
    CollectiveChange,
    ResizedCollectives,
    is_of,
)
from xlareport.analysis.source.scopes import Phase
from xlareport.knowledge.opcodes import is_collective
from xlareport.pages.tables import Column, Table, tabulate
from xlareport.runtime import units

_MICROSECONDS = 1e6
_OPERATION = (
    "Named scopes and the framework's op; numbers of layers as *. What passes inserted without "
    "an op_name, by kind"
)
_MOST_OPCODES = 3
"""Opcodes of a row that are named."""
_ASYNC = frozenset({"async-start", "async-update", "async-done"})
_FLOATS = ("f64", "f32", "f16", "bf16")


def tabulate_operations(
    changes: Sequence[OperationChange],
    address: str = "",
    collectives: Sequence[CollectiveChange] = (),
    resized: Sequence[ResizedCollectives] = (),
) -> Table:
    """Return the table, the largest change first; its rows lead to `address` if there is one.

    `collectives` are those that only one side has, `resized` those that send other bytes.
    """
    return tabulate(
        changes,
        {
            Column("Operation", "link" if address else "text", _OPERATION): lambda row: (
                [_operation_name(row), address] if address else _operation_name(row)
            ),
            Column("Phase"): lambda row: str(row.key.phase),
            Column("Source line"): lambda row: row.key.line or None,
            Column("What changed"): lambda row: "; ".join(what_changed(row, collectives, resized)),
            Column(
                "Slower by µs", "float", "estimated time per run; negative where faster"
            ): lambda row: row.seconds * _MICROSECONDS,
            Column("Base µs", "float"): lambda row: (
                row.base.seconds * _MICROSECONDS if row.base else None
            ),
            Column("Head µs", "float"): lambda row: (
                row.head.seconds * _MICROSECONDS if row.head else None
            ),
            Column(
                "Bytes more", "int", "bytes accessed per run; those of a fusion are its root's"
            ): lambda row: row.bytes,
        },
        empty="No operation changed.",
    )


def _operation_name(change: OperationChange) -> str:
    name = "/".join(filter(None, (change.key.scope, change.key.op)))
    return name or "no op_name, nor of what it reads or feeds"


def what_changed(
    change: OperationChange,
    collectives: Sequence[CollectiveChange] = (),
    resized: Sequence[ResizedCollectives] = (),
) -> Iterator[str]:
    """Yield the changes of an operation, in a few words each.

    `collectives` are those that only one side has, `resized` those that send other bytes.
    """
    base, head = change.base, change.head
    if base is None or head is None:
        recomputed = change.key.phase is Phase.RECOMPUTED
        appeared = "recomputed" if recomputed else "only in the head"
        yield appeared if base is None else "only in the base"
        return
    sent = [
        *(_collective(item) for item in collectives if is_of(item.collective, change.key)),
        *(_resized(item) for item in resized if is_of(item.base, change.key)),
    ]
    words = [*_merged(change, base, head), *sent, *_types(base, head)]
    if not change.merged:
        words += _instructions(base, head, is_told=_is_of_collective if sent else None)
    yield from words or _accessed(change)


def _merged(change: OperationChange, base: Operation, head: Operation) -> Iterator[str]:
    if change.merged:
        scopes = ((key.scope.rpartition("/")[2], key.op) for key in change.merged)
        names = ", ".join("/".join(filter(None, scope)) for scope in scopes)
        before, after = count_products(base), count_products(head)
        matmuls = units.plural(after, "matmul")
        merged = "merged" if after < before else "merged in the base"
        yield f"{matmuls}, not {before:,}: {merged} with {names}"


def _collective(change: CollectiveChange) -> str:
    collective = change.collective
    sent = units.byte_size(collective.sent_bytes)
    one_more = units.signed(1 if change.in_head else -1)
    return f"{one_more} {collective.kind}: {sent} sent, {units.seconds(collective.seconds)}"


def _resized(change: ResizedCollectives) -> str:
    sent, before = units.byte_size(change.head_bytes), units.byte_size(change.base_bytes)
    return f"{change.base.kind}: {sent} sent, not {before}"


def _is_of_collective(opcode: str) -> bool:
    return is_collective(opcode) or opcode in _ASYNC


def _instructions(
    base: Operation, head: Operation, is_told: Callable[[str], bool] | None = None
) -> Iterator[str]:
    """Yield how the op is fused otherwise, then the opcodes with more or fewer instructions.

    Opcodes that `is_told` accepts are left out.
    """
    ours, theirs = dict(base.opcodes), dict(head.opcodes)
    more = {name: theirs.get(name, 0) - ours.get(name, 0) for name in {**ours, **theirs}}
    if head.kernels - base.kernels not in (0, sum(more.values())):
        outside = f"{units.plural(head.kernels, 'instruction')} outside fusions"
        yield f"fused differently: {outside}, not {base.kernels}"
    untold = (name for name in more if more[name] and not (is_told and is_told(name)))
    named = sorted(untold, key=lambda name: (-abs(more[name]), name))
    for name in named[:_MOST_OPCODES]:
        yield f"{units.with_sign(more[name], units.count)} {name}"
    if len(named) > _MOST_OPCODES:
        yield f"{units.plural(len(named) - _MOST_OPCODES, 'other opcode')}"


def _accessed(change: OperationChange) -> Iterator[str]:
    """Yield what is left to tell of an operation with the same instructions."""
    if change.bytes:
        yield f"{units.with_sign(change.bytes, units.byte_size)} accessed"
    elif change.seconds:
        yield "not known"


def _types(base: Operation, head: Operation) -> Iterator[str]:
    """Yield which floating-point type took the place of which, where like instructions agree.

    How many instructions have a type says nothing: fusions hold clones.
    """
    ours, theirs = _floats_by_opcode(base), _floats_by_opcode(head)
    both = ours.keys() & theirs.keys()
    if ("reduce" in dict(base.opcodes)) != ("reduce" in dict(head.opcodes)):
        both -= {*PRODUCTS}  # of a matmul by split-K, the partial sums have another type
    pairs = {
        (*ours[opcode], *theirs[opcode])
        for opcode in both
        if ours[opcode].isdisjoint(theirs[opcode])
    }
    for pair in pairs if len(pairs) == 1 else ():
        if len(pair) == _BOTH:
            old, new = pair
            wider = _FLOATS.index(new) < _FLOATS.index(old)
            yield f"{'upcast to' if wider else 'in'} {new} instead of {old}"
    counts = dict(base.opcodes), dict(head.opcodes)
    # Of fewer instructions, those of the other type may be the ones that are gone.
    as_many = {name for name in both if counts[0].get(name) == counts[1].get(name)}
    gone = {kind for name in as_many for kind in ours[name] - theirs[name]}
    left = {kind for opcode in both for kind in theirs[opcode]}
    if not pairs and gone and len(left) == 1:
        yield f"all in {left.pop()}, before partly {' and '.join(sorted(gone - left))}"


_BOTH = 2
"""One type on either side."""


def _floats_by_opcode(operation: Operation) -> dict[str, set[str]]:
    """Return the floating-point types of the results of each opcode; converts have any."""
    names_of: dict[str, set[str]] = {}
    for opcode, name in operation.types:
        if name in _FLOATS and opcode != "convert":
            names_of.setdefault(opcode, set()).add(name)
    return names_of
