"""What new copies copy, asynchronous ones too, and from which memory space to which.

The TPU compiler also copies an array in slices, which a `ConcatBitcast` joins.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.layout_spaces import space_of
from xlareport.analysis.matching.account.led_to import led_to
from xlareport.analysis.matching.sides.families import JOIN
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import Computation, HloModule, Instruction

_START, _DONE = "copy-start", "copy-done"
_SLICE_STARTS = frozenset({"async-start", "slice-start"})
_COPIES = frozenset({"copy", "dynamic-slice", "slice"})
"""Opcodes that an `async-start` of a copy runs."""
_SLICE_DONES = frozenset({"async-done", "slice-done"})
_PARTS = 2
"""Elements of the shape of a start: result, operand and context; of slices the operand is first."""


def reason_of_copy_start(side: Side, node: Node) -> str:
    """Return what a new start copies, with its done and what that leads to; '' of other nodes."""
    elements, names = node.instruction.shape.elements, [*node.instruction.operand_names]
    users = side.users.get(node, ())
    if node.instruction.opcode != _START or len(elements) < _PARTS or not (names and users):
        return ""
    done, position = users[0]
    if done.instruction.opcode != _DONE:
        return ""
    spaces = _spaces(elements[1].text, elements[0].text)
    led = led_to(side, done, position)
    return f"copies %{names[0]}{spaces} until %{done.instruction.name}{led}"


def reason_of_sliced_copy(node: Node) -> str:
    """Return of which array a new start copies a slice, or a new `ConcatBitcast` joins slices."""
    line, computation = node.instruction, node.frame.computation
    for join in _joins(computation, line):
        starts = [*_starts(computation, join)]
        sources = {name for start in starts for name in start.operand_names}
        elements = starts[0].shape.elements if starts else ()
        if len(starts) < len(join.operands) or len(sources) != 1 or len(elements) < _PARTS:
            return ""
        spaces, source = _spaces(elements[0].text, elements[1].text), sources.pop()
        if line is join:
            return f"joins {len(starts)} slices of %{source}, copied{spaces}"
        return f"copies a slice of %{source}{spaces}; %{join.name} joins {len(starts)} of them"
    return ""


def between_spaces(module: HloModule, node: Node) -> str:
    """Return from which memory space to which a copy or its done copied; '' of other nodes."""
    line, home = node.instruction, node.frame.computation
    start = home.operand(line) if line.opcode in {_DONE, *_SLICE_DONES} else line
    if start is None or not _copies(module, start):
        return ""
    source = home.operand(start)
    if source is None or source.shape.elements or line.shape.elements:
        return ""
    return _spaces(source.shape.text, line.shape.text)


def _copies(module: HloModule, line: Instruction) -> bool:
    """Return whether an instruction, or what it starts, is a copy of an array or of its slice."""
    roots = [callee.root.opcode for callee in module.callees(line) if callee.root]
    runs = line.opcode == "async-start" and _COPIES.issuperset(roots[:1])
    return runs or line.opcode in {"copy", _START, "slice-start"}


def _joins(computation: Computation, line: Instruction) -> Iterator[Instruction]:
    """Yield the `ConcatBitcast` that an instruction is or whose slice it starts to copy."""
    if line.call_target == JOIN:
        yield line
    for done in computation.users.get(line.name, ()) if line.opcode in _SLICE_STARTS else ():
        readers = computation.users.get(done.name, ()) if done.opcode in _SLICE_DONES else ()
        yield from (reader for reader in readers if reader.call_target == JOIN)


def _starts(computation: Computation, join: Instruction) -> Iterator[Instruction]:
    """Yield the starts of the copies that a `ConcatBitcast` joins."""
    for name in join.operand_names:
        done = computation.by_name.get(name)
        given = next(iter(done.operand_names), "") if done and done.opcode in _SLICE_DONES else ""
        start = computation.by_name.get(given)
        if start is not None and start.opcode in _SLICE_STARTS:
            yield start


def _spaces(before: str, after: str) -> str:
    """Return words for the memory spaces of two shapes if they differ."""
    source, target = space_of(before) or 0, space_of(after) or 0
    return f" from S({source}) to S({target})" if source != target else ""
