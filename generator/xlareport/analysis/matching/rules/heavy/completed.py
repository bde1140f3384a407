"""Rules for the operands of a combined collective that no value has identified.

A pass may have promoted what they send to another element type, or turned it, before another
combined them: its operands are as many as what it combines.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

from xlareport.analysis.matching.rules.heavy.collectives import devices_of
from xlareport.analysis.matching.rules.heavy.products import reducer
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node, opcode_of
from xlareport.analysis.matching.sides.halves import START, is_done
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade

_REDUCED = "all-reduce"
_GATHERED = "all-gather"
_FEWEST = 2
_MOST_MOVES = 4
"""Moves in a row that are looked behind."""


def read_now(search: Search) -> None:
    """Pair all-gathers with the combined one whose element their user reads now, moved or not.

    Layout assignment turns what is gathered before a pass combines it.
    """
    known = Counter(link.after for link in search.links if link.relation is Relation.COMBINED)
    for node in search.before.open() if known else ():
        if opcode_of(node) != _GATHERED or len(node.instruction.operands) != 1:
            continue
        for user, position in search.before.users.get(node, ()):
            whole = _read_whole(search, node, user, position)
            if whole is not None and known[whole] >= _FEWEST:
                reason = f"%{whole.instruction.name} gives an element to its user"
                _complete(search, [node], whole, reason)
                break


def _read_whole(search: Search, node: Node, user: Node, position: int) -> Node | None:
    """Return the collective whose element a user reads now, behind moves, in place of a node."""
    graph = search.after.graph
    read = () if user.partner is None else graph.operands(user.partner)
    alike = len(read) == len(search.before.graph.operands(user))
    now, path = read[position] if alike else (None, ())
    for _ in range(_MOST_MOVES):
        if now is None or path or opcode_of(now) not in REARRANGEMENTS:
            break
        now, path = graph.operands(now)[0]
    if now is None or len(path) != 1:
        return None
    whole = graph.operands(now)[0][0] if is_done(now) else now
    sent = graph.operands(whole)
    if opcode_of(whole).removesuffix(START) != _GATHERED or path[0] >= len(sent):
        return None
    sizes, others = map(
        _unordered_sizes, (search.before.graph.operands(node)[0][0], sent[path[0]][0])
    )
    return whole if sizes == others and devices_of(node) == devices_of(whole) else None


def completed(search: Search) -> None:
    """Pair the all-reduces that are left with the combined one that lacks as many of their size."""
    left: dict[Hashable, list[Node]] = defaultdict(list)
    for node in search.before.open():
        if opcode_of(node) == _REDUCED and len(node.instruction.operands) == 1:
            left[_reduction_key(search.before, node, _unordered_sizes(node))].append(node)
    if left:
        lacking = _lacking(search)
        for key, nodes in left.items():
            wholes = lacking.get(key, [])
            if len(set(wholes)) == 1 and len(wholes) == len(nodes) and wholes[0].partner:
                reason = f"%{wholes[0].instruction.name} has as many operands of their size besides"
                _complete(search, nodes, wholes[0], reason)


def _complete(search: Search, nodes: Sequence[Node], whole: Node, reason: str) -> None:
    for node in nodes:
        node.partner = whole
        link = NodePair(node, whole, Grade.MATCHED, reason, equal=False, relation=Relation.COMBINED)
        search.links.append(link)


def _lacking(search: Search) -> dict[Hashable, list[Node]]:
    """Return by kind and size the new collectives with an operand of it that none is known for."""
    members: dict[Node, list[Node]] = defaultdict(list)
    for link in search.links:
        if link.relation is Relation.COMBINED:
            members[link.after].append(link.before)
    result: dict[Hashable, list[Node]] = defaultdict(list)
    for whole in search.after.nodes:
        if opcode_of(whole).removesuffix(START) != _REDUCED or whole.kept:
            continue
        known = members[whole]
        if whole.partner is not None and len(known) < _FEWEST:
            continue
        operands = search.after.graph.operands(whole)
        sizes = Counter(_unordered_sizes(node) for node, path in operands if not path)
        sizes.subtract(map(_unordered_sizes, known))
        for size, count in sizes.items():
            result[_reduction_key(search.after, whole, size)] += [whole] * count
    return result


def _unordered_sizes(node: Node) -> tuple[int, ...]:
    """Return the dimensions of a value in any order: turned and with others of size 1."""
    return tuple(sorted(size or 0 for size in node.instruction.shape.dimensions if size != 1))


def _reduction_key(side: Side, node: Node, size: tuple[int, ...]) -> Hashable:
    """Return how a collective reduces, over which devices, and values of which size."""
    return reducer(side, node), devices_of(node), size
