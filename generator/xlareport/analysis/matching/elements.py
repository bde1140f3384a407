"""Pairs the elements of a loop's carried tuple when a pass added, dropped or reordered some."""

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING

from xlareport.analysis.matching.graph import Node
from xlareport.analysis.matching.grouping import group_by_key
from xlareport.analysis.matching.values import UNKNOWN

if TYPE_CHECKING:
    from xlareport.analysis.matching.search import Search
    from xlareport.analysis.matching.side import Side


def kept_elements(search: "Search", before: Node, after: Node) -> Mapping[int, int]:
    """Return the old index of each new tuple element, as far as it is known.

    Elements with equal shape, initial value and result are paired in order if as many remain.
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
        for number, origin in zip(numbers, old[key], strict=True)
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
    return side.values.read(single)


def _makers(side: "Side", loop: Node) -> dict[int, str]:
    """Return the opcode of each element of the tuple that a loop body returns."""
    body = side.graph.module.by_name.get(dict(loop.instruction.called).get("body", ""))
    root = None if body is None else body.root
    if body is None or root is None or root.opcode != "tuple":
        return {}
    lines = [body.by_name.get(name.partition("#")[0]) for name in root.operands]
    return {number: line.opcode for number, line in enumerate(lines) if line is not None}
