"""Values that a step copies to another memory space while other work runs: prefetches, evictions.

XLA's memory space assignment adds them: a prefetch goes from the default memory space to a smaller
and faster one, an eviction goes back.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from xlareport.analysis.cost.layout_spaces import space_of
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps import wording
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

_COPIES = frozenset({"copy", "dynamic-slice", "slice"})
"""Opcodes that an `async-start` of a prefetch runs."""
_DEFAULT = 0
_HOST = 5
_PARTS = 2
"""Elements of the tuple of a start: the operands and the result, in an order by its opcode."""


class SpaceCopy(Struct, frozen=True):
    """An asynchronous copy of a value, or of a slice of it, to another memory space."""

    source: Place
    opcode: str
    """What is done asynchronously: `copy` or `slice`."""
    size: int
    """Bytes of the result; 0 where not known."""
    spaces: tuple[int, int]
    """The numbers of the memory spaces, from and to: `S(3)` is 3."""


def describe_prefetches(after: HloModule, changes: Iterable[Change]) -> tuple[str, ...]:
    """Return a sentence for each pair of memory spaces between which a step adds copies."""
    copies = group_by_key((copy.spaces, copy) for copy in _added_copies(after, changes))
    return tuple(_sentence(*spaces, copies[spaces]) for spaces in sorted(copies))


def _added_copies(after: HloModule, changes: Iterable[Change]) -> Iterator[SpaceCopy]:
    for change in changes:
        place = change.after
        if change.kind is Kind.ADDED and place and change.opcodes[1].endswith("-start"):
            start = after.find(*place)
            copy = _read_copy(after, place.computation, start) if start else None
            if copy is not None and copy.spaces[0] != copy.spaces[1]:
                yield copy


def _read_copy(after: HloModule, computation: str, start: Instruction) -> SpaceCopy | None:
    """Return the copy that a start begins; None for other work."""
    opcode = _copy_opcode(after, start)
    elements = start.shape.elements or ()
    if not opcode or len(elements) < _PARTS or not start.operand_names:
        return None
    result, operand = elements[:_PARTS] if start.opcode == "copy-start" else elements[1::-1]
    operand = operand.elements[0] if operand.elements else operand
    source = Place(computation, start.operand_names[0])
    return SpaceCopy(source, opcode, result.byte_size or 0, (_space(operand), _space(result)))


def _copy_opcode(after: HloModule, start: Instruction) -> str:
    """Return what a start does if it only copies; empty otherwise."""
    if start.opcode == "copy-start":
        return "copy"
    roots = [callee.root.opcode for callee in after.callees(start) if callee.root]
    return roots[0] if start.opcode == "async-start" and _COPIES.issuperset(roots[:1]) else ""


def _space(shape: Shape) -> int:
    return space_of(shape.text) or _DEFAULT


def _sentence(source: int, target: int, copies: list[SpaceCopy]) -> str:
    by_source = group_by_key((copy.source, copy) for copy in copies)
    (home, name), first = max(by_source.items(), key=lambda pair: _bytes(pair[1]))
    opcode = first[0].opcode
    several = len(first) > 1
    how = f" by {units.plural(len(first), f'asynchronous {opcode}')}" if several else ""
    among = f" (one of {len(by_source):,})" if len(by_source) > 1 else ""
    example = f"{wording.name(name)} in {wording.code(wording.short(home))}"
    return (
        f"{_word(source, target)} of {units.plural(len(by_source), 'value')}, "
        f"{units.byte_size(_bytes(copies))}, S({source}) → S({target}): {example}{how}{among}."
    )


def _bytes(copies: Iterable[SpaceCopy]) -> int:
    return sum(copy.size for copy in copies)


def _word(source: int, target: int) -> str:
    if _HOST in (source, target):
        return "Asynchronous host copies"
    return "Prefetches" if source == _DEFAULT else "Evictions" if target == _DEFAULT else "Copies"
