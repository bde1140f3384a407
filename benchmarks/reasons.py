"""What the reasons of changes say of uses, held against the lines of both snapshots."""

import re
from collections import deque
from collections.abc import Collection, Iterator

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import HloModule

_NAME = r"%([\w.\-]+)"
_INSTEAD = re.compile(rf"{_NAME} uses (?:another )?{_NAME}(?:#\d+)? (?:instead|now)\b")
_REMOVED_USER = re.compile(rf"^its user {_NAME} was removed")
_NEW_USE = re.compile(rf"^(?:an operand of the new|gives a value to|used by) {_NAME}")
_BETWEEN = re.compile(rf"^inserted between {_NAME} and {_NAME}")
_OPERAND = re.compile(rf"^operand (\d+) of {_NAME}, whose")
_FORMER_USER = re.compile(rf"^the only unmatched user of {_NAME} ")


def reason_failures(before: HloModule, after: HloModule, step: StepChange) -> Iterator[str]:
    """Yield the changes whose reasons or details name a use that is not in the texts."""
    new = {
        change.after
        for change in step.changes
        if change.after and (change.before is None or change.kind in _COPIES)
    }
    for change in step.changes:
        for text in map(str, (change.reason, *change.details)):
            held = [*_uses_that_hold(before, after, change, text)]
            held += _places_that_hold(after, change, text, new)
            if not all(held):
                yield f"{change.kind} {change.before or change.after}: {text}"
        opcodes = _opcodes(before, after, change)
        if change.kind in _OF_ONE_OPCODE and len(opcodes) > 1:
            yield f"{change.kind} {change.before}: {' to '.join(opcodes)}"


_CALLING = frozenset({"call", "fusion", "while"})
_EDGES = _CALLING | {"get-tuple-element", "parameter", "tuple"}
"""Opcodes that only pass values on."""
_COPIES = frozenset({Kind.CLONED, Kind.PARAMETER, Kind.UNUSED})
_OF_ONE_OPCODE = frozenset({Kind.CLONED, Kind.COPIED, Kind.MERGED, Kind.UNIFIED})


def _opcodes(before: HloModule, after: HloModule, change: Change) -> list[str]:
    """Return the distinct opcodes of a change and of what it names on both sides."""
    places = (before, change.before), (after, change.after)
    lines = [module.find(*place) for module, place in places if place is not None]
    return [*dict.fromkeys((*change.opcodes, *(line.opcode for line in lines if line)))]


def _uses_that_hold(
    before: HloModule, after: HloModule, change: Change, text: str
) -> Iterator[bool]:
    """Yield for each use that a text names whether it is in the lines."""
    for user, read in _INSTEAD.findall(text):
        yield _reads(after, user, read)
    if change.before is not None:
        old = change.before.instruction
        for user in _REMOVED_USER.findall(text):
            yield _reads(before, user, old)
        for number, user in _OPERAND.findall(text):
            yield _reads(before, user, old, int(number))
        for source in _FORMER_USER.findall(text):
            yield _reads(before, old, source)
    if change.after is not None:
        new = change.after.instruction
        for user in _NEW_USE.findall(text):
            yield _reads(after, user, new)


def _places_that_hold(
    after: HloModule, change: Change, text: str, new: Collection[Place]
) -> Iterator[bool]:
    """Yield for each two instructions that a text puts a new one between whether it is there.

    Between it and either there may be others of the step, as in a chain of new instructions, and
    what passes values on: calls, fusions, loops, tuples and parameters.
    """
    if change.after is None:
        return
    for source, user in _BETWEEN.findall(text):
        name = change.after.instruction
        yield _leads(after, user, name, new) and _leads(after, name, source, new)


def _leads(module: HloModule, user: str, name: str, new: Collection[Place]) -> bool:
    """Return whether a value gets to a user, directly or through new instructions alone."""
    homes = [home for home in module.computations if user in home.by_name]
    given = (Place(home.name, read) for home in homes for read in home.by_name[user].operand_names)
    waiting = deque(Place(home.name, user) for home in homes)
    waiting.extend(read for read in given if read in new)
    seen = set(waiting)
    if _reads(module, user, name):
        return True
    while waiting:
        for read in _read_at(module, waiting.popleft()):
            if read.instruction == name:
                return True
            if read not in seen and (read in new or _opcode(module, read) in _EDGES):
                seen.add(read)
                waiting.append(read)
    return False


def _read_at(module: HloModule, place: Place) -> Iterator[Place]:
    """Yield what an instruction reads: a call, its root; its parameters, what it is given."""
    line = module.find(*place)
    if line is None:
        return
    if line.opcode in _CALLING:
        for _, callee in line.called:
            root = module.by_name[callee].root
            if root is not None:
                yield Place(callee, root.name)
    elif line.opcode == "parameter":
        number = int(line.argument)
        for home in module.computations:
            for caller in home.instructions:
                if any(callee == place.computation for _, callee in caller.called):
                    given = [*caller.operand_names][number : number + 1]
                    yield from (Place(home.name, name) for name in given)
    else:
        yield from (Place(place.computation, name) for name in line.operand_names)


def _opcode(module: HloModule, place: Place) -> str:
    line = module.find(*place)
    return "" if line is None else line.opcode


def _reads(module: HloModule, user: str, name: str, number: int | None = None) -> bool:
    """Return whether an instruction of any computation reads another, as an operand of a number."""
    readers = (computation.by_name.get(user) for computation in module.computations)
    read = ([*reader.operand_names] for reader in readers if reader is not None)
    if number is None:
        return any(name in names for names in read)
    return any(names[number : number + 1] == [name] for names in read)
