"""The text difference of two snapshots, aligned by instruction instead of by line.

Only computations that differ are looked at. A line of which only numbers in names changed, its own
or those of what it reads, is shown as unchanged and counted.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.headers import header_line
from xlareport.analysis.steps.numbering import without_number
from xlareport.analysis.steps.sequence import Alignment, alignments
from xlareport.hlo.model import Computation, HloModule, Instruction

CONTEXT = 2
"""Unchanged lines shown around a change."""

_NAME = re.compile(r"[\w.\-]+")
_MARKED = re.compile(r"(?<=%)[\w.\-]+")


class DiffLine(Struct):
    """One line of a difference; never modified, but not frozen for speed, as there are millions."""

    sign: str
    """`+` added, `-` removed, `~` changed, space unchanged.

    `<` and `>` are earlier and later in the schedule, changed or not.
    """
    text: str
    """As it was before; of a line that is only after, as it is."""
    other: str = ""
    """The new text of a changed line; for a moved line, the other position."""
    renumbered: bool = False
    """Only numbers in names changed."""
    places: tuple[int, int] | None = None
    """Of `<` and `>`, the positions in the computation before and after, from 0."""


class Hunk(Struct, frozen=True):
    """Lines that follow one another."""

    start: int
    """The number of the first line in its computation, from 0, before (after if it is new)."""
    lines: tuple[DiffLine, ...]


class ComputationDiff(Struct, frozen=True):
    """A computation that differs, or the headers of both modules."""

    before: str | None
    after: str | None
    hunks: tuple[Hunk, ...]
    renumbered: int


class TextDiff(Struct, frozen=True):
    """The difference between two snapshots, computation by computation."""

    computations: tuple[ComputationDiff, ...]

    @property
    def renumbered(self) -> int:
        """Lines of which only numbers in names changed."""
        return sum(computation.renumbered for computation in self.computations)


def text_diff(matching: Matching, *, header: bool = False) -> TextDiff:
    """Return the text difference of two matched snapshots; `header` is true if headers differ."""
    computation_diffs = [_headers(matching)] if header else []
    computation_diffs += [_compared(matching, alignment) for alignment in alignments(matching)]
    paired = matching.computations
    before, after = matching.before, matching.after
    computation_diffs += [
        _one_sided_hunk(computation, "+", matching)
        for computation in _different(after, before)
        if computation.name not in paired.values()
    ]
    computation_diffs += [
        _one_sided_hunk(computation, "-", matching)
        for computation in _different(before, after)
        if computation.name not in paired
    ]
    return TextDiff(
        tuple(
            computation_diff
            for computation_diff in computation_diffs
            if computation_diff.hunks or computation_diff.renumbered
        )
    )


def _headers(matching: Matching) -> ComputationDiff:
    """Return the header lines of both texts as a hunk of their own."""
    before, after = matching.before, matching.after
    line = DiffLine("~", header_line(before), header_line(after))
    title = f"HloModule {before.name}"
    return ComputationDiff(title, title, (Hunk(0, (line,)),), 0)


def _different(module: HloModule, other: HloModule) -> list[Computation]:
    return [
        computation
        for computation in module.computations
        if other.by_name.get(computation.name) is not computation
    ]


def _one_sided_hunk(computation: Computation, sign: str, matching: Matching) -> ComputationDiff:
    """Return a computation that is only on one side as one hunk."""
    lines = [DiffLine(sign, computation.header)]
    lines += [_lone(matching, computation, line, sign) for line in computation.instructions]
    return ComputationDiff(
        before=computation.name if sign == "-" else None,
        after=computation.name if sign == "+" else None,
        hunks=(Hunk(0, tuple(lines)),),
        renumbered=0,
    )


def _lone(matching: Matching, computation: Computation, line: Instruction, sign: str) -> DiffLine:
    place = Place(computation.name, line.name)
    partner = matching.partner_before(place) if sign == "+" else matching.partner_after(place)
    return DiffLine(sign, line.text, str(partner) if partner else "")


def _compared(matching: Matching, alignment: Alignment) -> ComputationDiff:
    lines = list(_lines(matching, alignment))
    before, after = alignment.before, alignment.after
    renumbered = sum(line.renumbered for line in lines)
    return ComputationDiff(before.name, after.name, tuple(_hunks(lines)), renumbered)


def _lines(matching: Matching, alignment: Alignment) -> Iterator[DiffLine]:
    """Yield all lines of two computations in one order; moved lines are at their new position."""
    old, new = alignment.before, alignment.after
    ends = ((len(old.instructions), len(new.instructions)),)
    moved = {after: before for before, after in alignment.moved}
    left = {before for before, _ in alignment.moved}
    here = there = 0
    for next_here, next_there in (*alignment.steady, *ends):
        for number in range(here, next_here):
            if number not in left:
                yield _lone(matching, old, old.instructions[number], "-")
        for number in range(there, next_there):
            if number in moved:
                yield _moved_line(matching, alignment, moved[number], number)
            else:
                yield _lone(matching, new, new.instructions[number], "+")
        if next_here < len(old.instructions):
            first, second = old.instructions[next_here], new.instructions[next_there]
            if first is second:
                yield DiffLine(" ", first.text)
            else:
                yield _pair(matching, (old.name, first), (new.name, second))
        here, there = next_here + 1, next_there + 1


def _moved_line(matching: Matching, alignment: Alignment, before: int, after: int) -> DiffLine:
    """Return a line that is elsewhere; an order that is no schedule has no effect."""
    old, new = alignment.before, alignment.after
    first, second = old.instructions[before], new.instructions[after]
    line = _pair(matching, (old.name, first), (new.name, second))
    if before == after or not (matching.before.is_scheduled and matching.after.is_scheduled):
        return line
    sign = "<" if after < before else ">"
    return DiffLine(sign, line.text, line.other, places=(before, after))


def _pair(
    matching: Matching, before: tuple[str, Instruction], after: tuple[str, Instruction]
) -> DiffLine:
    old, new = before[1], after[1]
    if old.text == new.text:
        return DiffLine(" ", old.text)
    names = _continued(matching, before[0], old, after[0])
    numbering = old.name == new.name or without_number(old.name) == without_number(new.name)
    if names and numbering and _renamed(old.text, names) == new.text:
        return DiffLine(" ", old.text, new.text, renumbered=True)
    return DiffLine("~", old.text, new.text)


def _continued(matching: Matching, here: str, line: Instruction, there: str) -> Mapping[str, str]:
    """Return the new names of the names in a line, where they changed.

    These are its own name and those of its operands and callees.
    """
    result = {}
    for name in (line.name, *line.operand_names):
        partner = matching.name_after(here, name, there)
        if partner is not None:
            result[name] = partner
    for _, callee in line.called:
        result[callee] = matching.computations.get(callee, callee)
    return {name: now for name, now in result.items() if name != now}


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a line with other names; where names are marked by `%`, nothing else is a name."""
    pattern = _MARKED if "%" in text else _NAME
    return pattern.sub(lambda match: names.get(match[0], match[0]), text)


def _hunks(lines: Sequence[DiffLine]) -> Iterator[Hunk]:
    """Yield the changed lines with their context; hunks that meet are one."""
    start = end = 0
    for number, line in enumerate(lines):
        if line.sign != " ":
            first = max(number - CONTEXT, 0)
            if end and first > end:
                yield Hunk(start, tuple(lines[start:end]))
                start = first
            elif not end:
                start = first
            end = number + 1 + CONTEXT
    if end:
        yield Hunk(start, tuple(lines[start:end]))
