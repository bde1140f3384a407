"""What the parts of a split or asynchronous instruction have that the whole had not."""

from collections.abc import Iterable

from msgspec.structs import replace

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.destinations import destination
from xlareport.analysis.steps.details import SYNCHRONOUS, Difference, ShapeChange
from xlareport.analysis.steps.differences import compare
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.replacements import target
from xlareport.analysis.steps.shape_changes import shortened
from xlareport.hlo.backend_config import is_synchronous
from xlareport.hlo.model import Instruction
from xlareport.runtime import english


def with_partial_types(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; parts of another type, target or config than the whole are said so."""
    detailed = {Kind.ASYNC: _with_wrapped, Kind.SPLIT: _with_types}
    return [
        detailed[change.kind](matching, change) if change.kind in detailed else change
        for change in changes
    ]


def _with_wrapped(matching: Matching, change: Change) -> Change:
    """Return the change, with what else is changed of what a start and a done run now."""
    old = None if change.before is None else matching.before.find(*change.before)
    parts = [part for place in change.members if (part := matching.after.find(*place))]
    if any(map(is_synchronous, parts)):
        return replace(change, details=(SYNCHRONOUS,))
    same = next((part for part in parts if old and part.opcode == old.opcode), None)
    if old is None or same is None:
        return change
    differences = compare(old, same, matching.computations)
    kinds = [kind for kind in (Kind.ATTRIBUTES, Kind.CONFIG) if kind in differences]
    details = tuple(differences[kind] for kind in kinds)
    return replace(change, details=details) if details else change


def _with_types(matching: Matching, change: Change) -> Change:
    old = None if change.before is None else matching.before.find(*change.before)
    new = None if change.after is None else matching.after.find(*change.after)
    if old is None or new is None:
        return change
    lines = [line for place in change.members if (line := matching.after.find(*place))]
    named = _targets(old, lines) or _device_groups(old, lines)
    if named:
        return replace(change, kinds=(Kind.SPLIT, Kind.ATTRIBUTES), details=(named,))
    loop = _loop_of_parts(matching, change)
    if loop:
        return replace(change, kinds=(Kind.SPLIT, Kind.SUNK), details=(loop,))
    whole, part = old.shape, new.shape
    if whole.elements or part.elements or whole.element_type == part.element_type:
        return change
    shapes = ShapeChange(whole.text, part.text)
    return replace(change, kinds=(Kind.SPLIT, Kind.TYPE), details=(shapes,))


def _loop_of_parts(matching: Matching, change: Change) -> Difference:
    """Return which loop all parts are in now, and the whole was not; '' if there is none."""
    here, there = change.before, change.after
    home = None if here is None else matching.computations.get(here.computation, here.computation)
    if here is None or there is None or there.computation == home:
        return ""
    if {part.computation for part in change.members} != {there.computation}:
        return ""
    return destination(matching, here, there, change.opcodes[1]).get(Kind.SUNK, "")


def _targets(old: Instruction, parts: Iterable[Instruction]) -> str:
    """Return the targets of a custom call and of its parts; '' where they are the same."""
    news = [*dict.fromkeys(filter(None, map(target, parts)))] if target(old) else []
    return f"{target(old)} → {english.listing(news)}" if news and news != [target(old)] else ""


def _device_groups(old: Instruction, parts: Iterable[Instruction]) -> str:
    """Return the device groups of a collective and of its parts; '' where they are the same."""
    former = old.attributes.get(_GROUPS, "")
    alike = (part for part in parts if part.opcode == old.opcode)
    news = [*dict.fromkeys(part.attributes.get(_GROUPS, "") for part in alike)]
    is_other = former and news and all(news) and news != [former]
    return f"{_GROUPS}: {shortened(former, english.listing(news))}" if is_other else ""


_GROUPS = "replica_groups"
