"""Asynchronous instructions: start, done, and the instruction wrapped in them."""

from collections.abc import Iterator

from xlareport.analysis.matching.sides.graph import Frame, Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.runtime.whole_numbers import parse_whole_number

START, DONE = "-start", "-done"
_WRAPPING = "async-start"
_MOST_CALLS = 4


def is_start(node: Node) -> bool:
    """Return whether a node starts an asynchronous operation."""
    return node.instruction.opcode.endswith(START)


def is_done(node: Node) -> bool:
    """Return whether a node is the `done` of an asynchronous operation."""
    return node.instruction.opcode.endswith(DONE)


def wrapped(side: Side, start: Node) -> Node | None:
    """Return the root of the computation that an `async-start` calls; None for others."""
    return next(reversed([*wrapped_in_turn(side, start)]), None)


def wrapped_in_turn(side: Side, start: Node) -> Iterator[Node]:
    """Yield the roots of the computation that an `async-start` calls, and of nested calls."""
    line = start.instruction
    for _ in range(_MOST_CALLS if line.opcode == _WRAPPING else 0):
        home = side.homes.get(line.called[0][1]) if line.called else None
        root = None if home is None else home.computation.root
        if home is None or root is None:
            return
        yield home.node(root)
        if root.opcode != "call":
            return
        line = root


def start_of(side: Side, frame: Frame) -> Node | None:
    """Return the `async-start` that calls the computation of a frame; None where none does."""
    for computation, call in side.graph.call_sites(frame.computation.name):
        home = side.homes.get(computation.name)
        if call.instruction.opcode == _WRAPPING and home is not None:
            return home.node(call.instruction)
    return None


def dones_of(side: Side, start: Node) -> Iterator[Node]:
    """Yield the `done` nodes of a start."""
    return (user for user, _ in side.users.get(start, ()) if is_done(user))


def argument(side: Side, parameter: Node) -> list[tuple[Node, tuple[int, ...]]]:
    """Return the operand that an `async-start` passes to a parameter; empty if there is none."""
    start = start_of(side, parameter.frame)
    number = parse_whole_number(parameter.instruction.argument)
    operands = () if start is None else side.graph.operands(start)
    return [operands[number]] if number is not None and number < len(operands) else []
