"""Pairs the elements of a loop's carried tuple when a pass added, dropped or reordered some."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from xlareport.analysis.matching.graph import Node
from xlareport.analysis.matching.grouping import group_by_key
from xlareport.analysis.matching.values import UNKNOWN
from xlareport.hlo.model import Computation, Instruction

if TYPE_CHECKING:
    from xlareport.analysis.matching.search import Search
    from xlareport.analysis.matching.side import Side


def kept_elements(search: "Search", before: Node, after: Node) -> Mapping[int, int]:
    """Return the old index of each new tuple element, as far as it is known.

    Elements with equal shape, initial value and result are paired in order if as many remain, or
    if all are duplicates, of which a pass leaves one.
    """
    loop, other = _loop(search.before, before), _loop(search.after, after)
    if loop is None or other is None:
        return {}
    old = group_by_key(_keyed(search, search.before, loop))
    new = group_by_key(_keyed(search, search.after, other))
    return {
        number: origin
        for key, numbers in new.items()
        if len(numbers) == len(old.get(key, ()))
        or (key in old and len(numbers) == 1 and _are_duplicates(search.before, loop, old[key]))
        for number, origin in zip(numbers, old[key], strict=False)
    }


def _loop(side: "Side", node: Node) -> Node | None:
    """Return a loop, of its body's parameter too; None of anything else."""
    if node.instruction.opcode == "while":
        return node
    sites = side.graph.call_sites(node.frame.computation.name)
    if node.instruction.opcode != "parameter" or len(sites) != 1:
        return None
    computation, call = sites[0]
    home = side.homes.get(computation.name)
    is_loop = home is not None and call.instruction.opcode == "while"
    return home.node(call.instruction) if is_loop and home is not None else None


def _keyed(search: "Search", side: "Side", loop: Node) -> Iterator[tuple[Hashable, int]]:
    """Yield the index of each loop-carried element, with a key of shape, start value and result."""
    starts = _starts(side, loop)
    makers = _makers(side, loop)
    shapes = [search.forms.shape(shape) for shape in loop.instruction.shape.elements]
    for number, shape in enumerate(shapes):
        start = starts[number] if number < len(starts) else UNKNOWN
        yield (shape, start, makers.get(number, "")), number


def _starts(side: "Side", loop: Node) -> list[int]:
    """Return the value numbers of a loop's initial values."""
    operands = side.graph.operands(loop)
    single = operands[0][0] if len(operands) == 1 else None
    if single is None or single.instruction.opcode != "tuple":
        return []
    values = side.values
    for operand, _ in side.graph.operands(single):
        values.value_of(operand)  # kept lines that only a kept tuple reads have no value yet
    return values.read(single)


def _are_duplicates(side: "Side", loop: Node, numbers: Sequence[int]) -> bool:
    """Whether a loop computes elements in the same way, each from its own former value."""
    body = _body(side, loop)
    root = None if body is None else body.root
    if body is None or root is None or root.opcode != "tuple" or len(root.operands) <= max(numbers):
        return False
    names = list(root.operand_names)
    lines = [(number, body.by_name.get(names[number])) for number in numbers]
    makers = {line and (line.opcode, *_read(body, line, number)) for number, line in lines}
    return len(makers) == 1 and None not in makers


def _read(body: Computation, line: Instruction, number: int) -> Iterator[str]:
    """Yield the operands of a line; empty for the element of a number of what the body is given."""
    for name in line.operand_names:
        operand = body.by_name.get(name)
        own = operand is not None and operand.opcode == "get-tuple-element"
        given = own and body.by_name.get(next(iter(operand.operand_names), "")) if operand else None
        taken = given and given.opcode == "parameter" and operand
        yield "" if taken and taken.attributes.get("index") == str(number) else name


def _body(side: "Side", loop: Node) -> Computation | None:
    return side.graph.module.by_name.get(dict(loop.instruction.called).get("body", ""))


def _makers(side: "Side", loop: Node) -> dict[int, str]:
    """Return the opcode of each element of the tuple that a loop body returns."""
    body = _body(side, loop)
    root = None if body is None else body.root
    if body is None or root is None or root.opcode != "tuple":
        return {}
    lines = [body.by_name.get(name.partition("#")[0]) for name in root.operands]
    return {number: line.opcode for number, line in enumerate(lines) if line is not None}
