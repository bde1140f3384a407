"""The source lines of ops that one program has more of, as a comparison of both files shows them.

Lines move when a file is edited, and the file may have another name. So lines are aligned by the
ops on them, as texts are by their words, and only lines without a counterpart are candidates.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from msgspec import Struct, field

from xlareport.analysis.compare.moved_operations import GivenOperation
from xlareport.runtime.whole_numbers import parse_whole_number

_MOST = 2_000
"""Lines of a program; with more, none is named."""


class OpLine(Struct, frozen=True):
    """A source line with the ops of a program on it."""

    file: str
    number: int
    name: str
    """`model.py:12`."""
    ops: Counter[str] = field(default_factory=Counter)
    """Instructions of each op; those without op_name are `tanh (opcode)`."""
    opcodes: Counter[str] = field(default_factory=Counter)

    @property
    def content(self) -> tuple[tuple[str, int], ...]:
        """The ops and opcodes in an order that two programs share."""
        return (*sorted(self.ops.items()), *sorted(self.opcodes.items()))

    def count(self, name: str) -> int:
        """Return the instructions of an op, or of an opcode where no op has the name."""
        return self.ops[name] or self.opcodes[name]


def find_changed_lines(
    base: Sequence[GivenOperation],
    head: Sequence[GivenOperation],
    gone: Collection[str],
    new: Collection[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the source lines with more ops in the base, and those with more in the head.

    The lines with most of these ops come first. Both are empty where the programs have no lines or
    too many.
    """
    ours, theirs = _read_lines(base), _read_lines(head)
    if max(len(ours), len(theirs)) > _MOST:
        return (), ()
    ours, theirs = _in_file_order(ours, theirs), _in_file_order(theirs, ours)
    before, after = Counter[str](), Counter[str]()
    for old, other in _changed_blocks(ours, theirs):
        before.update(_more(old, other, gone))
        after.update(_more(other, old, new))
    return _names(before), _names(after)


def _read_lines(operations: Sequence[GivenOperation]) -> list[OpLine]:
    lines: dict[str, OpLine] = {}
    for operation in operations:
        name = operation.key.line
        if name:
            file, _, number = name.rpartition(":")
            line = lines.setdefault(name, OpLine(file, parse_whole_number(number) or 0, name))
            line.opcodes.update(dict(operation.opcodes))
            line.ops.update(dict(_count_ops(operation)))
    return list(lines.values())


def _count_ops(operation: GivenOperation) -> Iterator[tuple[str, int]]:
    if operation.key.op:
        yield operation.key.op, operation.count
    else:
        yield from ((f"{name} (opcode)", count) for name, count in operation.opcodes)


def _in_file_order(lines: Sequence[OpLine], others: Sequence[OpLine]) -> list[OpLine]:
    """Return lines as they are in their files, files of both programs first."""
    shared = {line.file for line in others}
    return sorted(lines, key=lambda line: (line.file not in shared, line.file, line.number))


def _changed_blocks(
    base: Sequence[OpLine], head: Sequence[OpLine]
) -> Iterator[tuple[Sequence[OpLine], Sequence[OpLine]]]:
    """Yield runs of lines that only one side has or that differ.

    Of a run with equal lines beside it, it is not known which are the changed ones: all are given.
    """
    contents = [line.content for line in base], [line.content for line in head]
    matcher = SequenceMatcher(None, *contents, autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            ours = _widen(contents[0], start, end)
            theirs = _widen(contents[1], first, last)
            yield base[slice(*ours)], head[slice(*theirs)]


def _widen(contents: Sequence[Hashable], start: int, end: int) -> tuple[int, int]:
    inside = set(contents[start:end])
    while start > 0 and contents[start - 1] in inside:
        start -= 1
    while end < len(contents) and contents[end] in inside:
        end += 1
    return start, end


def _more(
    lines: Sequence[OpLine], others: Sequence[OpLine], ops: Collection[str]
) -> Mapping[str, int]:
    """Return the lines whose number of an op no line of the other side has, with that number."""
    counts = Counter[str]()
    for op in ops:
        equal = Counter(line.count(op) for line in others)
        for line in lines:
            number = line.count(op)
            if number and equal[number]:
                equal[number] -= 1
            elif number:
                counts[line.name] += number
    return counts


def _names(counts: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda name: -counts[name]))
