"""A rule for operations whose operands are computed in one way, several operations deep.

Random bits and other long chains of arithmetic are recognized so, where what they begin with was
rewritten and what reads them too.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import literal_of
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import SAME_ORDER
from xlareport.knowledge.grades import Grade
from xlareport.knowledge.opcodes import opcode_work
from xlareport.runtime.grouping import group_by_key

_FEWEST = 20
"""Open operations of either side; fewer are told apart by what is around them."""
_DEPTHS = (16, 8)
"""Operations that are followed to operands, from the surest."""
_LEAST_DEPTH = 4
"""Operations in a row that must be alike."""
_ELEMENTWISE = opcode_work().by_element
_MOST_MOVES = 4
"""Moves in a row that are looked behind."""


def deep_forms(search: Search) -> None:
    """Pair operations of which each side has one value with a form, many operations deep."""
    sides = search.before, search.after
    nodes = [[node for node in side.open() if _computes(node)] for side in sides]
    if min(map(len, nodes)) < _FEWEST:
        return
    read = [_read_behind_moves(side, known) for side, known in zip(sides, nodes, strict=True)]
    deep = [_deep(known, _LEAST_DEPTH) for known in read]
    if not all(deep):
        return
    search.evaluate()
    numbers: dict[Hashable, int] = {}
    forms = [
        _by_form(search, side, operands, known, numbers)
        for side, operands, known in zip(sides, read, deep, strict=True)
    ]
    for depth in _DEPTHS:
        old, new = (known[depth] for known in forms)
        for number, ours in old.items():
            theirs = new.get(number, [])
            if theirs and _are_one(sides[0], ours) and _are_one(sides[1], theirs):
                _link(search, ours[0], theirs[0], depth)


def _link(search: Search, node: Node, other: Node, depth: int) -> None:
    if is_free(node) and is_free(other):
        reason = f"the same operation on values computed alike, {depth} operations deep"
        search.link(node, other, Grade.MATCHED, reason)


def _computes(node: Node) -> bool:
    """Return whether a node is arithmetic on other values than constants alone."""
    return node.instruction.opcode in _ELEMENTWISE and not node.constant


def _are_one(side: Side, nodes: Sequence[Node]) -> bool:
    """Return whether nodes are one, or copies of one."""
    return len(nodes) == 1 or len({side.own_values.get(node) for node in nodes}) == 1


def _read_behind_moves(side: Side, nodes: Sequence[Node]) -> dict[Node, list[NodeElement]]:
    """Return what nodes read, and what the open ones among these read, behind moves."""
    read: dict[Node, list[NodeElement]] = {}
    waiting = [*nodes]
    for node in waiting:
        if node not in read and is_free(node):
            read[node] = [_behind_moves(side, item) for item in side.graph.operands(node)]
            waiting += [operand for operand, _ in read[node]]
    return read


def _by_form(
    search: Search,
    side: Side,
    read: Mapping[Node, Sequence[NodeElement]],
    nodes: Collection[Node],
    numbers: dict[Hashable, int],
) -> Mapping[int, Mapping[int, list[Node]]]:
    """Return nodes by depth, and by the number of the form of what they compute so deep."""

    def number_of(key: Hashable) -> int:
        return numbers.setdefault(key, len(numbers))

    own = {node: number_of(_own_form(search, side, (node, ()))) for node in read}
    known = {
        item: number_of(_own_form(search, side, item))
        for operands in read.values()
        for item in operands
        if item[1] or item[0] not in read
    }
    forms, result = own, {}
    for depth in range(1, max(_DEPTHS) + 1):
        last, forms = forms, {}
        for node, operands in read.items():
            parts = [known[item] if item in known else last[item[0]] for item in operands]
            forms[node] = number_of((own[node], *(sorted(parts) if node.commutes else parts)))
        if depth in _DEPTHS:
            result[depth] = group_by_key((forms[node], node) for node in nodes)
    return result


def _deep(read: Mapping[Node, Sequence[NodeElement]], least: int) -> Collection[Node]:
    """Return the nodes whose value is computed by so many open operations in a row, in order."""
    deep = dict.fromkeys(read)
    for _ in range(least):
        deep = dict.fromkeys(
            node
            for node, operands in read.items()
            if _computes(node) and any(operand in deep for operand, _ in operands)
        )
    return deep


def _own_form(search: Search, side: Side, item: NodeElement) -> Hashable:
    """Return the operation, type and size of an open node; the value of what is known."""
    node, path = item
    line = node.instruction
    if not line.operands and line.opcode != "parameter":
        return literal_of(line)
    if not is_free(node) or path:
        return "value", side.value_of(item)
    form = search.forms.of(line)
    return line.opcode, line.shape.element_type, line.shape.element_count, form.attributes


def _behind_moves(side: Side, item: NodeElement) -> NodeElement:
    """Return what is behind the open moves of a value that keep its elements in order."""
    for _ in range(_MOST_MOVES):
        node, path = item
        if path or not is_free(node) or node.instruction.opcode not in SAME_ORDER:
            break
        operands = side.graph.operands(node)
        if len(operands) != 1:
            break
        item = operands[0]
    return item
