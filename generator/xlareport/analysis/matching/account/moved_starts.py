"""Start values of loops that were moved behind them: what the loop adds up is added to them there.

XLA does so where it moves a sum over devices out of a loop: each device starts from zeros.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free, node_after, node_before, read_at
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS, REDUCING_COLLECTIVES

_MOVES = REARRANGEMENTS | {"convert"}
_MOST_MOVES = 4
"""Moves and converts in a row that are looked behind."""
_ZEROS = frozenset("{}, 0.-")
"""Characters of a literal of zeros."""


def list_moved_starts(search: Search) -> dict[Node, str]:
    """Return why new adds behind loops, and new start values of the loops, were added."""
    reasons: dict[Node, str] = {}
    if search.parted is None:
        for node in search.after.open():
            if node.instruction.opcode == "add" and is_free(node):
                reasons.update(_reasons_of_sum(search, node))
    return reasons


def _reasons_of_sum(search: Search, node: Node) -> Iterator[tuple[Node, str]]:
    """Yield the reasons of an add of a former start value and of the new start value."""
    for position, other in enumerate((1, 0)):
        given = read_at(search.after, node, position)
        loop, number = _element_sent(search.after, node, other)
        former = node_before(search, loop) if loop is not None else None
        if given is None or loop is None or former is None:
            continue
        start, before = _start(loop, number), _start(former, number)
        known = node_after(search, before) if before is not None else None
        if start is None or known is not given or start is given or not _is_alike(former, loop):
            continue
        names = given.instruction.name, loop.instruction.name
        yield (
            node,
            (
                f"it adds %{names[0]}, from which the loop started before; "
                f"%{names[1]} starts from {_written(start)} now"
            ),
        )
        if is_free(start):
            yield start, f"%{names[1]} starts from it instead of %{names[0]}"


def _element_sent(side: Side, node: Node, position: int) -> tuple[Node | None, int]:
    """Return the loop, and the number of its element, that an operand sums over devices."""
    operands = side.graph.operands(node)
    sent = _behind_moves(side, operands[position]) if position < len(operands) else None
    if sent is None or sent[0].instruction.opcode not in REDUCING_COLLECTIVES or sent[1]:
        return None, 0
    read = side.graph.operands(sent[0])
    loop, path = _behind_moves(side, read[0]) if len(read) == 1 else (node, ())
    is_element = loop.instruction.opcode == "while" and len(path) == 1
    return (loop, path[0]) if is_element else (None, 0)


def _behind_moves(side: Side, read: NodeElement) -> NodeElement:
    """Return what a value is made of, behind moves and converts."""
    for _ in range(_MOST_MOVES):
        operands = side.graph.operands(read[0])
        if read[0].instruction.opcode not in _MOVES or not operands:
            break
        read = operands[0]
    return read


def _start(loop: Node, number: int) -> Node | None:
    """Return the value of an element with which a loop starts; None where no tuple has it."""
    home = loop.frame.computation
    given = home.operand(loop.instruction)
    names = [*given.operand_names] if given is not None and given.opcode == "tuple" else []
    line = home.by_name.get(names[number]) if number < len(names) else None
    return None if line is None else loop.frame.node(line)


def _is_alike(loop: Node, other: Node) -> bool:
    """Return whether two loops have as many elements, so that their numbers correspond."""
    ours, theirs = loop.instruction.shape.elements, other.instruction.shape.elements
    return loop.instruction.opcode == "while" and len(ours) == len(theirs)


def _written(start: Node) -> str:
    """Return the name of a start value, and that it is zero where its text says so."""
    line, home = start.instruction, start.frame.computation
    zero = "zeros, " if _is_zero(line, home) else ""
    return f"{zero}%{line.name}"


def _is_zero(line: Instruction, home: Computation) -> bool:
    filled = home.operand(line) if line.opcode == "broadcast" else line
    text = filled.argument if filled is not None and filled.opcode == "constant" else ""
    return "0" in text and _ZEROS.issuperset(text)
