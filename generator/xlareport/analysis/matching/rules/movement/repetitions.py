"""A rule for work on repeated data that is done before the data is repeated now.

`f(broadcast(x), broadcast(y))` became `broadcast(f(x, y))`; the former work may be left unread.
"""

from collections.abc import Iterator, Mapping

from xlareport.analysis.matching.search.nodes import is_free, node_after
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past, PastBroadcast
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade

_BROADCAST = "broadcast"
_MOST_PAIRS = 100
_MOST_MOVES = 4
_REASON = "the same operation, past a broadcast"
_COPY = PastBroadcast(of_copy=True)
_PASSED = frozenset({_BROADCAST, *REARRANGEMENTS})
_Pairs = list[tuple[Node, Node]]


def unrepeated(search: Search) -> None:
    """Pair removed work with the same work on data that is repeated after it, else note a copy."""
    new = any(_repeats(node) for node in search.after.open())
    if not new and not any(_repeats(link.after) for link in search.links):
        return
    search.evaluate()
    linked: dict[Node, _Pairs] = {}
    for link in list(search.links):
        for (read, path), (now, other) in zip(
            search.before.graph.operands(link.before),
            search.after.graph.operands(link.after),
            strict=False,
        ):
            if path or other or _repeats(read):
                continue
            if is_free(now) and (_repeats(now) or _has_fewer(link.after, link.before)):
                pairs = _same_work(search, read, now) or _beside_left(search, read, now)
                _note_copies(search, pairs)
            elif now.partner is read and _repeats(now):
                linked[now] = _work_repeated(search, read, now)
            elif now.partner is not None and _repeats(now) and _reads(search, read, now.partner):
                _note_copies(search, _work_repeated(search, read, now))
    _link_work(search, {now: pairs for now, pairs in linked.items() if pairs})


def _reads(search: Search, node: Node, repeated: Node) -> bool:
    """Return whether work read what repeats its result now."""
    return any(operand is repeated for operand, _ in _operands(search, 0, node))


def _work_repeated(search: Search, read: Node, repeated: Node) -> _Pairs:
    """Return pairs of what an old value is computed with, and a new value that is repeated."""
    operands = _operands(search, 1, repeated)
    element = operands[0] if len(operands) == 1 else None
    return _same_work(search, read, element[0]) if element and not element[1] else []


def _link_work(search: Search, linked: Mapping[Node, _Pairs]) -> None:
    """Pair operations with the work on fewer elements, not with the broadcasts of its results."""
    known = [link for link in search.links if link.after in linked] if linked else []
    search.unlink(known)
    for link in known:
        (read, work), *further = linked[link.after]
        if is_free(work) and search.link(read, work, Grade.MATCHED, _REASON):
            _note_copies(search, further)
            _link_broadcast(search, read, link.after)
        else:
            search.links.append(link)
            link.before.partner, link.after.partner = link.after, link.before


def _link_broadcast(search: Search, read: Node, repeated: Node) -> None:
    """Pair what repeats the result of an operation with what repeated an operand, if unpaired."""
    former = [node for node, _ in _operands(search, 0, read) if _repeats(node) and is_free(node)]
    former.sort(key=lambda node: node.constant)
    for node in former[:1]:
        reason = Past(read.instruction.name)
        search.link(node, repeated, Grade.MATCHED, reason, Relation.SWAPPED)


def _repeats(node: Node) -> bool:
    return node.instruction.opcode == _BROADCAST


def _has_fewer(node: Node, other: Node) -> bool:
    """Return whether a node has fewer elements than another: what is repeated later has."""
    count, former = node.instruction.shape.element_count, other.instruction.shape.element_count
    return count is not None and former is not None and count < former


def _note_copies(search: Search, pairs: _Pairs) -> None:
    for node, other in pairs:
        if not is_free(other) or other in search.copies:
            continue
        if not is_free(node) or not search.link(node, other, Grade.MATCHED, _REASON):
            search.copies[other] = node, _COPY


def _beside_left(search: Search, read: Node, now: Node) -> _Pairs:
    """Return the pair of an operation with that whose data is repeated after it; else none.

    The original goes on with other operands, which repeat what the other one reads.
    """
    left, work = node_after(search, read), _behind_moves(search, now)
    if left is None or not _does_the_same(left, work) or search.after.users.get(left):
        return []
    operands = search.after.graph.operands(left), search.after.graph.operands(work)
    repeated = [
        search.after.graph.operands(node)[:1] if _repeats(node) and not path else ()
        for node, path in operands[0]
    ]
    values = [[search.after.value_of(item) for item in items] for items in repeated]
    wanted = [[search.after.value_of(item)] for item in operands[1]]
    return [(read, work)] if values == wanted else []


def _same_work(search: Search, read: Node, now: Node) -> _Pairs:
    """Return pairs of what a value is computed with on both sides; empty if they do not agree."""
    pairs: dict[tuple[Node, Node], None] = {}
    waiting = [(read, now)]
    for node, other in waiting:
        if _is_source(search, node, other):
            continue
        work = _behind_moves(search, other)
        if _is_known(search, node, work):
            continue
        both = _operands(search, 0, node), _operands(search, 1, work)
        alike = _does_the_same(node, work) and len(both[0]) == len(both[1])
        if not alike or len(waiting) > _MOST_PAIRS:
            return []
        pairs[node, work] = None
        for mine, theirs in zip(*both, strict=True):
            following = mine[0], theirs[0]
            if mine[1] or theirs[1]:
                return []
            if following not in waiting:
                waiting.append(following)
    return list(pairs)


def _is_known(search: Search, node: Node, work: Node) -> bool:
    """Return whether work on fewer elements is what an old node became, or a copy of it."""
    copied = search.copies.get(work)
    return work.partner is node or (copied is not None and copied[0] is node)


def _operands(search: Search, here: int, node: Node) -> tuple[NodeElement, ...]:
    return (search.before, search.after)[here].graph.operands(node)


def _behind_moves(search: Search, node: Node) -> Node:
    """Return the work whose result free moves and broadcasts hand on to a node."""
    for _ in range(_MOST_MOVES):
        operands = _operands(search, 1, node)
        if not is_free(node) or node.instruction.opcode not in _PASSED or len(operands) != 1:
            return node
        node = operands[0][0]
    return node


def _is_source(search: Search, node: Node, other: Node) -> bool:
    """Return whether an old node broadcasts the value of a new node, or of what that moves.

    Before it is repeated, the value may be moved, and be the only element of an array.
    """
    repeated = {search.before.value_of(item) for item in _repeated(search, node)}
    for _ in range(_MOST_MOVES if repeated else 0):
        if search.after.values.value_of(other) in repeated:
            return True
        operands = _operands(search, 1, other)
        if other.instruction.opcode not in _PASSED or len(operands) != 1 or operands[0][1]:
            return False
        other = operands[0][0]
    return False


def _repeated(search: Search, node: Node) -> Iterator[NodeElement]:
    """Yield what an old broadcast repeats: its operand, and what that moves or repeats."""
    for number in range(_MOST_MOVES):
        operands = _operands(search, 0, node)
        if not (_repeats(node) if number == 0 else node.instruction.opcode in _PASSED):
            return
        if len(operands) != 1:
            return
        yield operands[0]
        if operands[0][1]:
            return
        node = operands[0][0]


def _does_the_same(node: Node, other: Node) -> bool:
    """Return whether two nodes are the same operation, the second on fewer elements."""
    line, known = node.instruction, other.instruction
    alike = line.opcode == known.opcode and line.opcode not in _PASSED and not line.called
    attributes = line.attributes.get("direction") == known.attributes.get("direction")
    count = len(line.operands) == len(known.operands) > 0
    return alike and attributes and count and _has_fewer(other, node) and is_free(other)
