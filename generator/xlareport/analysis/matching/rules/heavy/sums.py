"""Rules for all-reduces whose results were added, and that became one all-reduce of the sum.

Likewise for those of a maximum, a minimum or a product, and for one that each iteration of a loop
adds up.
"""

from collections.abc import Hashable, Sequence

from xlareport.analysis.matching.rules.heavy.products import reducer
from xlareport.analysis.matching.search.nodes import (
    is_free,
    node_before,
    same_count,
    same_type,
    sole_user,
)
from xlareport.analysis.matching.search.reasons import AfterLoop
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.families import JOINED
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.halves import START
from xlareport.analysis.matching.sides.leftovers import unread_heavy
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade

_ALL_REDUCE = "all-reduce"
_MOVES = REARRANGEMENTS | {"convert", "pad"}
"""Opcodes that a sum can be moved through; the padding is equal on every device."""
_PART = "dynamic-slice"
"""Likewise what takes a device's share, if it is the same of each term."""
_MOST_TERMS = 100
_FEWEST = 2


def reassociated(search: Search) -> None:
    """Pair all-reduces that were added with the one all-reduce of the sum."""
    if not any(node.instruction.opcode == _ALL_REDUCE for node in search.before.open()):
        return
    wholes = [
        (_summed(search, node, opcode), node, opcode)
        for node in search.after.nodes
        if _may_be_whole(node) and (opcode := reducer(search.after, node)) in JOINED
    ]
    for members, whole, opcode in sorted(wholes, key=lambda known: -len(known[0])):
        guesses = [link for link in search.links if _is_guess(link, members, whole)]
        guessed = {link.before for link in guesses}
        free = [
            node for node in members if is_free(node) or node.partner is whole or node in guessed
        ]
        if len(free) == len(members) >= _FEWEST:
            search.unlink(guesses)
            sent = f"the {JOINED[opcode]} of what {len(free)} sent"
            reason = f"%{whole.instruction.name} sends {sent}"
            search.combine(free, whole, Grade.MATCHED, reason)


def accumulated(search: Search) -> None:
    """Pair all-reduces in loops with those that follow the loops and reduce what these add up."""
    if not any(node.instruction.opcode == _ALL_REDUCE for node in search.before.open()):
        return
    for node in search.after.open():
        opcode = reducer(search.after, node) if _may_be_whole(node) else ""
        total = _added_up(search, node) if opcode in JOINED else None
        terms = [] if total is None else _terms(search.before, total, opcode)
        if len(terms) == 1 and is_free(terms[0]) and _are_of_one_size(terms[0], node):
            search.link(terms[0], node, Grade.MATCHED, AfterLoop())


def _added_up(search: Search, node: Node) -> Node | None:
    """Return what the body of a loop gave, of which a node reduces the last value now."""
    loop, path = search.after.graph.operands(node)[0]
    known = node_before(search, loop)
    if known is None or known.instruction.opcode != "while" or len(path) != 1:
        return None
    graph = search.before.graph
    body = graph.module.callee(known.instruction, "body")
    root = None if body is None else body.root
    if body is None or root is None or root.opcode != "tuple":
        return None
    given = graph.operands(graph.home(body).node(root))
    same = len(given) == len(loop.instruction.shape.elements) and path[0] < len(given)
    return given[path[0]][0] if same and not given[path[0]][1] else None


def _are_of_one_size(node: Node, other: Node) -> bool:
    """Return whether two results have one element type and as many elements."""
    return same_type(node, other) and same_count(node, other)


def _is_guess(link: NodePair, members: Sequence[Node], whole: Node) -> bool:
    """Return whether a link of a term to another node is only a guess."""
    return link.grade is Grade.GUESSED and link.after is not whole and link.before in members


def _may_be_whole(node: Node) -> bool:
    line = node.instruction
    known = line.opcode.removesuffix(START) == _ALL_REDUCE and len(line.operands) == 1
    return known and not node.kept and line not in unread_heavy(node.frame.computation)


def _summed(search: Search, whole: Node, opcode: str) -> list[Node]:
    """Return the all-reduces whose results were added in the sum that a node reduces."""
    total = _behind_moves(search.after, whole)
    if total is not None and total.instruction.opcode == opcode:
        before = node_before(search, total)
        if before is not None:
            return _terms(search.before, before, opcode)
    term = whole.partner
    return [] if term is None else _terms(search.before, _whole_sum(search, term, opcode), opcode)


def _whole_sum(search: Search, term: Node, opcode: str) -> Node:
    """Return the sum that a node is a term of, through nested sums; else the node itself."""
    for _ in range(_MOST_TERMS):
        user = sole_user(search.before, term)
        if user is None or not (user.instruction.opcode in (opcode, _PART) or _moves(user)):
            return term
        term = user
    return term


def _moves(node: Node) -> bool:
    return node.instruction.opcode in _MOVES


def _behind_moves(side: Side, node: Node) -> Node | None:
    """Return the first operand of a node behind free data movement."""
    for _ in range(_MOST_TERMS):
        operands = side.graph.operands(node)
        if not operands or operands[0][1]:
            return None
        node = operands[0][0]
        if not (is_free(node) and _moves(node)):
            return node
    return None


def _terms(side: Side, total: Node, joining: str) -> list[Node]:
    """Return the all-reduces among the terms of a sum, through sums of sums; each once.

    Those that stay as they are do not count: they were not joined. None are known where devices
    add up different shares.
    """
    waiting, terms, shares = [total], dict[Node, None](), set[Hashable]()
    for _ in range(_MOST_TERMS):
        if not waiting:
            break
        for operand, path in _summands(side, waiting.pop()):
            opcode = operand.instruction.opcode
            if opcode == _ALL_REDUCE and not path:
                terms[operand] = None
            elif opcode == joining or _moves(operand):
                waiting.append(operand)
            elif opcode == _PART:
                waiting.append(operand)
                shares.add(_share(side, operand))
    return [term for term in terms if not term.kept] if len(shares) < _FEWEST else []


def _summands(side: Side, node: Node) -> Sequence[NodeElement]:
    """Return the operands of a sum or of what moves one; of a share, not where it starts."""
    operands = side.graph.operands(node)
    return operands[:1] if node.instruction.opcode == _PART else operands


def _share(side: Side, node: Node) -> Hashable:
    """Return which share a dynamic-slice takes: the values of its starts, and its sizes."""
    starts = map(side.value_of, side.graph.operands(node)[1:])
    return (*starts, node.instruction.shape.dimensions)
