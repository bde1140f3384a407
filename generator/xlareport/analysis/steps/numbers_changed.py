"""Steps that may change the numbers that a program computes: types, precision, order of sums.

The first place to look when a loss drifts after an upgrade.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xlareport.analysis.matching.pairing import Grade
from xlareport.analysis.matching.result import Matching
from xlareport.analysis.steps import wording
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.differences import Kind
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import Instruction

TYPE = "element type"
PRECISION = "precision or algorithm"
ORDER = "order of a sum"

_SUMS = frozenset(
    {"all-reduce", "convolution", "dot", "reduce", "reduce-scatter", "reduce-window", "scatter"}
)
_LISTS = re.compile(r"\{[^{}]*\}")
_FLOATS = ("f", "bf", "c")
_GONE_OR_NEW = frozenset({Kind.ADDED, Kind.REMOVED})


@dataclass(frozen=True, slots=True)
class NumbersChanged:
    """What may change numbers in a step, of one kind."""

    what: str
    """`element type`, `precision or algorithm`, `order of a sum`."""
    count: int
    example: str
    """Words, with names in backticks."""
    grade: Grade
    """The least sure of the changes."""


_ELSEWHERE = frozenset(
    {
        Kind.ABSORBED,
        Kind.COMBINED,
        Kind.FUSED,
        Kind.INLINED,
        Kind.MERGED,
        Kind.OUTLINED,
        Kind.PART,
        Kind.REWIRED,
    }
)
"""Kinds that compute what was computed before, in another place."""
_PASSED_ON = frozenset({"bitcast", "get-tuple-element", "tuple"})

_SURENESS = (Grade.EXACT, Grade.MATCHED, Grade.GUESSED)


def numbers_changed(change: StepChange) -> tuple[NumbersChanged, ...]:
    """Return what a step did to numbers, one record for each kind; integers are left out."""
    if change.matching is None:
        return ()
    result: dict[str, list[tuple[str, Grade]]] = {}
    for what, text, grade in _found(change.changes, change.matching):
        result.setdefault(what, []).append((text, grade))
    return tuple(
        NumbersChanged(
            what, len(some), some[0][0], max((item[1] for item in some), key=_SURENESS.index)
        )
        for what, some in result.items()
    )


def _found(changes: Iterable[Change], matching: Matching) -> Iterator[tuple[str, str, Grade]]:
    for change in changes:
        if change.kind in _ELSEWHERE or _passes_on(change, matching):
            continue
        old = matching.before.find(*change.before) if change.before else None
        new = matching.after.find(*change.after) if change.after else None
        if not any(_is_float(line) for line in (old, new)):
            continue
        lines = dict.fromkeys(line.name for line in (old, new) if line)
        names = " became ".join(wording.name(name) for name in lines)
        where = f" in {wording.code(wording.short(change.scope))}"
        what = _what(change, old, new)
        if what is not None:
            yield what[0], f"{names}{where}: {wording.coded(what[1])}", change.grade


def _passes_on(change: Change, matching: Matching) -> bool:
    """Say whether an instruction only has the type of what it is given."""
    if change.opcodes == ("parameter", "parameter"):
        entry = matching.after.entry
        return change.after is not None and (
            entry is None or change.after.computation != entry.name
        )
    return change.opcodes[0] in _PASSED_ON and change.opcodes[0] == change.opcodes[1]


def _what(
    change: Change, old: Instruction | None, new: Instruction | None
) -> tuple[str, str] | None:
    """Return the kind and what was and is; None where numbers stay."""
    if old is not None and new is not None:
        types = old.shape.element_type, new.shape.element_type
        if types[0] == types[1]:
            return _precision(change) or _order(change)
        both = all(_is_float(line) for line in (old, new))
        return (TYPE, f"{types[0]} → {types[1]}") if both else None
    if change.kind in _GONE_OR_NEW and "convert" in change.opcodes:
        return TYPE, "a convert was added" if new else "a convert was removed"
    return None


def _precision(change: Change) -> tuple[str, str] | None:
    for detail in change.details:
        if "operand_precision:" in detail or "algorithm:" in detail:
            return PRECISION, detail
    return None


def _order(change: Change) -> tuple[str, str] | None:
    """Return how a sum is made otherwise: by another operation, or over dimensions in new order."""
    before, after = change.opcodes
    if before != after:
        return (ORDER, f"{before} → {after}") if {before, after} <= _SUMS else None
    if before not in _SUMS:
        return None
    result = (part for detail in change.details for part in detail.split("; "))
    return next(((ORDER, part) for part in result if _reorders(part)), None)


def _reorders(detail: str) -> bool:
    """Say whether an attribute that changed can reorder a sum; one dimension has one order."""
    name, _, message = detail.partition(": ")
    if name in ("dimensions", "lhs_contracting_dims", "rhs_contracting_dims"):
        return any("," in item for item in _LISTS.findall(message))
    return name in ("window", "replica_groups")


def _is_float(line: Instruction | None) -> bool:
    return line is not None and line.shape.element_type.startswith(_FLOATS)
