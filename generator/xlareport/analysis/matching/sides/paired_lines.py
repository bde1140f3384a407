"""The corresponding lines of two computations with equal contents, in whatever order."""

from collections.abc import Mapping

from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime.grouping import group_by_key


def pair_lines(computation: Computation, copy: Computation) -> Mapping[str, Instruction]:
    """Return the lines of a copy by the names of the lines that they correspond to.

    Both are followed from their results to what these read; dead code is paired in order.
    """
    pairs = _followed(computation, copy)
    taken = {line.name for line in pairs.values()}
    left = group_by_key(
        (_copy_key(line), line) for line in reversed(copy.instructions) if line.name not in taken
    )
    for line in computation.instructions:
        if line.name not in pairs and left.get(_copy_key(line)):
            pairs[line.name] = left[_copy_key(line)].pop()
    return pairs


def _followed(computation: Computation, copy: Computation) -> dict[str, Instruction]:
    pairs: dict[str, Instruction] = {}
    waiting = [(computation.root, copy.root)]
    while waiting:
        line, other = waiting.pop()
        if line is None or other is None or line.opcode != other.opcode or line.name in pairs:
            continue
        pairs[line.name] = other
        read = zip(line.operand_names, other.operand_names, strict=False)
        waiting += [(computation.by_name.get(old), copy.by_name.get(new)) for old, new in read]
    return pairs


def _copy_key(line: Instruction) -> tuple[str, str]:
    """Return what dead code has in common with its copy, and a parameter with its own."""
    return line.opcode, line.argument if line.opcode == "parameter" else ""
