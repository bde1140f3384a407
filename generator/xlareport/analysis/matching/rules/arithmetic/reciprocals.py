"""A rule for divisions that became products with a reciprocal: x / y as x * (1 / y).

The reciprocal and what repeats it are new: they do not continue the divisor, in spite of their
framework op.
"""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.runtime.grouping import sole_pairs

_REPEATS = REARRANGEMENTS | {"broadcast", "convert"}
_ENDS = frozenset({"constant", "divide"})
_MOST_MOVES = 8
_ONES = frozenset({"1", "1.0"})


def mark_reciprocals(search: Search) -> None:
    """Mark the other factor of the only product of what was divided as new."""
    divisions, products = _open(search.before, "divide"), _open(search.after, "multiply")
    if not (divisions and products):
        return
    search.evaluate()
    both = _both(search)
    old = _keyed(search, search.before, divisions)
    for division, product in sole_pairs(old, _keyed(search, search.after, products)):
        key = next(_keyed(search, search.before, [division]))[0]
        if key not in both and not _was_product(search, product):
            search.without_origin.update(_reciprocal(search.after, product))


def split_quotients(search: Search) -> None:
    """Let a reciprocal be made of the quotient that became a product with it, and what repeats it.

    Not so a constant, which was computed then, nor what is shared with another quotient.
    """
    for link in search.links:
        codes = link.before.instruction.opcode, link.after.instruction.opcode
        if codes == ("divide", "multiply") and link.before not in search.further:
            *moves, end = _reciprocal(search.after, link.after) or [link.after]
            if end.instruction.opcode == "divide" and _divides_by(search, end, link.before):
                parts = [end, *moves]  # with values of their own
                search.further[link.before] = parts
                for node in parts:
                    node.partner = link.before


def _divides_by(search: Search, reciprocal: Node, division: Node) -> bool:
    """Return whether one is divided by what a division divided by, before that was repeated."""
    (unit, _), divisor = search.after.graph.operands(reciprocal)
    line = unit.frame.computation.behind(unit.instruction, _REPEATS, _MOST_MOVES)
    if line is None or line.opcode != "constant" or line.argument not in _ONES:
        return False
    read = search.before.graph.operands(division)[1]
    for _ in range(_MOST_MOVES):
        if search.before.value_of(read) == search.after.value_of(divisor):
            return True
        if read[0].instruction.opcode not in _REPEATS:
            break
        read = search.before.graph.operands(read[0])[0]
    return False


def _open(side: Side, opcode: str) -> list[Node]:
    return [node for node in side.open() if node.instruction.opcode == opcode]


def _both(search: Search) -> set[Hashable]:
    """Return the keys of what is still divided after, or was multiplied before."""
    divided = _keyed(search, search.after, _open(search.after, "divide"))
    multiplied = _keyed(search, search.before, _open(search.before, "multiply"))
    return {key for key, _ in (*divided, *multiplied)}


def _was_product(search: Search, product: Node) -> bool:
    """Return whether a product has the name of a product that was in its computation before."""
    frame = search.before.frames.get(product.frame.number)
    line = None if frame is None else frame.computation.by_name.get(product.instruction.name)
    return line is not None and line.opcode == product.instruction.opcode


def _keyed(search: Search, side: Side, nodes: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield operations with frame, shape, and what they divide or multiply."""
    for node in nodes:
        shape = search.forms.of(node.instruction).shape
        yield (node.frame.number, shape, *side.values.read(node)[:1]), node


def _reciprocal(side: Side, product: Node) -> list[Node]:
    """Return the new reciprocal or constant that a product multiplies by, and what repeats it."""
    nodes = list[Node]()
    waiting = [*side.graph.operands(product)[-1:]]
    for node, path in waiting:
        if path or not is_free(node) or len(nodes) == _MOST_MOVES:
            return []
        nodes.append(node)
        if node.instruction.opcode in _ENDS:
            return nodes
        if node.instruction.opcode in _REPEATS:
            waiting += side.graph.operands(node)[:1]
    return []
