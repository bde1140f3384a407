"""The table of operations of both sides: more expensive, new, or fused differently."""

from collections.abc import Iterator, Sequence

from xlareport.analysis.compare.operations import Operation, OperationChange
from xlareport.analysis.source.scopes import Phase
from xlareport.pages.tables import Cell, Column, Table
from xlareport.runtime import units

_MICROSECONDS = 1e6
_OPERATION = (
    "Named scopes and the framework's op; numbers of layers as *. What passes inserted without "
    "an op_name, by kind"
)
_FLOATS = ("f64", "f32", "f16", "bf16")


def operations_table(changes: Sequence[OperationChange], address: str = "") -> Table:
    """Return the table, the largest change first; its rows lead to `address` if there is one."""
    columns = (
        Column("Operation", "link" if address else "text", _OPERATION),
        Column("Phase"),
        Column("Source line"),
        Column("What changed"),
        Column("Slower by µs", "float", "estimated time per run; negative where faster"),
        Column("Base µs", "float"),
        Column("Head µs", "float"),
        Column("Bytes more", "int", "bytes accessed per run; those of a fusion are its root's"),
    )
    return Table(
        columns, [_row(change, address) for change in changes], empty="No operation changed."
    )


def _row(change: OperationChange, address: str) -> list[Cell]:
    key = change.key
    name = "/".join(filter(None, (key.scope, key.op)))
    name = name or "no op_name, nor of what it reads or feeds"
    return [
        [name, address] if address else name,
        str(key.phase),
        key.line or None,
        "; ".join(what_changed(change)),
        change.seconds * _MICROSECONDS,
        change.base.seconds * _MICROSECONDS if change.base else None,
        change.head.seconds * _MICROSECONDS if change.head else None,
        change.bytes,
    ]


def what_changed(change: OperationChange) -> Iterator[str]:
    """Yield the changes of an operation, in a few words each."""
    base, head = change.base, change.head
    if base is None or head is None:
        recomputed = change.key.phase is Phase.RECOMPUTED
        appeared = "recomputed" if recomputed else "only in the head"
        yield appeared if base is None else "only in the base"
        return
    yield from _types(base, head)
    more = sum(count for _, count in head.opcodes) - sum(count for _, count in base.opcodes)
    if more:
        sign = "+" if more > 0 else "\N{MINUS SIGN}"
        yield f"{sign}{units.plural(abs(more), 'instruction')}"
    elif base.kernels != head.kernels:
        outside = f"{units.plural(head.kernels, 'instruction')} outside fusions"
        yield f"fused differently: {outside}, not {base.kernels}"
    elif base.opcodes != head.opcodes:
        yield "other opcodes"


def _types(base: Operation, head: Operation) -> Iterator[str]:
    """Yield which floating-point type took the place of which, where like instructions agree.

    How many instructions have a type says nothing: fusions hold clones.
    """
    ours, theirs = _floats_by_opcode(base), _floats_by_opcode(head)
    pairs = {
        (*ours[opcode], *theirs[opcode])
        for opcode in ours.keys() & theirs.keys()
        if ours[opcode].isdisjoint(theirs[opcode])
    }
    for pair in pairs if len(pairs) == 1 else ():
        if len(pair) == _BOTH:
            old, new = pair
            wider = _FLOATS.index(new) < _FLOATS.index(old)
            yield f"{'upcast to' if wider else 'in'} {new} instead of {old}"


_BOTH = 2
"""One type on either side."""


def _floats_by_opcode(operation: Operation) -> dict[str, set[str]]:
    """Return the floating-point types of the results of each opcode; converts have any."""
    names_of: dict[str, set[str]] = {}
    for opcode, name in operation.types:
        if name in _FLOATS and opcode != "convert":
            names_of.setdefault(opcode, set()).add(name)
    return names_of
