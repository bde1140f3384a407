"""Constants and iotas whose names a pass numbered anew: a name says nothing of which one it is.

Who reads them tells, and what the program calls them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from xlareport.analysis.matching.sides.facts import literal_of
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.model import Computation, Instruction

_MOST_READERS = 4
"""Readers that are asked what they read now."""


def renumbered(
    old: Computation, new: Computation, shared: Iterable[Instruction]
) -> Iterator[Instruction]:
    """Yield the lines without operands that have the name of another of the same value now.

    Not those with metadata of their own: it is the same line, which what read its equal reads now.
    """
    for line in shared:
        is_leaf = not line.operands and line.opcode != "parameter"
        if is_leaf and _is_another(line, old, new) and _is_like_all_read(line, old, new):
            yield line


def _is_like_all_read(line: Instruction, old: Computation, new: Computation) -> bool:
    """Return whether a line has the metadata of all that what reads it now read before."""
    readers = new.users.get(line.name, ())[:_MOST_READERS]
    read = (_read_there(reader, line, old) for reader in readers)
    return all(known is None or known.metadata == line.metadata for known in read)


def _read_there(reader: Instruction, line: Instruction, there: Computation) -> Instruction | None:
    """Return what a reader's namesake reads there in the place of a line; None if not known."""
    now = there.by_name.get(reader.name)
    if now is None or len(now.operands) != len(reader.operands):
        return None
    return there.operand(now, reader.operand_names.index(line.name))


def _is_another(line: Instruction, old: Computation, new: Computation) -> bool:
    """Return whether no reader of a line is left, and readers read an equal one on the other side.

    Its readers, or what reads it now: one of both may have another name.
    """
    readers, others = old.users.get(line.name, ()), new.users.get(line.name, ())
    if not readers or not others or readers[0] is others[0]:
        return False
    names = {other.name for other in others}
    if any(reader.name in names for reader in readers):
        return False
    return any(_reads_equal(reader, line, new) for reader in readers[:_MOST_READERS]) or any(
        _reads_equal(reader, line, old) for reader in others[:_MOST_READERS]
    )


def _reads_equal(reader: Instruction, line: Instruction, there: Computation) -> bool:
    """Return whether what has a reader's name there reads another line of that value."""
    now, other = there.by_name.get(reader.name), _read_there(reader, line, there)
    if now is None or now.opcode != reader.opcode or other is None:
        return False
    return other.name != line.name and literal_of(other) == literal_of(line)


def is_another(node: Node, other: Node, others: Sequence[Node]) -> bool:
    """Return whether two equal leaves of one name are not the same one.

    `others` are all of that value that `node` may be now.
    """
    line, known = node.instruction, other.instruction
    if line.operands or line.opcode == "parameter":
        return False
    if _is_another(line, node.frame.computation, other.frame.computation):
        return True
    same = [item for item in others if item.frame.number == node.frame.number]
    return known.metadata != line.metadata and _is_single(line, [n.instruction for n in same])


def _is_single(line: Instruction, others: Collection[Instruction]) -> bool:
    """Return whether exactly one of several lines has the metadata of a line, if it has any."""
    if not line.metadata.op_name:
        return False
    return sum(other.metadata == line.metadata for other in others) == 1
