"""What a whole compilation made of an instruction: the new ones of its op_name and Python stack.

Passes that expand an operation give its metadata to what they make of it. Of several instructions
with one op_name and stack, such as the parts of a split, the matched user of the new ones says
which of them they belong to.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from xlareport.analysis.matching.rules.shares import place_key
from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.work_pairs import MOVES, spans_partitioned_compilation
from xlareport.analysis.matching.sides.graph import Node, opcode_of
from xlareport.analysis.matching.sides.side import Side
from xlareport.runtime.grouping import group_by_key

_UNCOUNTED = MOVES | {"constant", "get-tuple-element", "parameter", "tuple"}
_LONGEST = 20
"""Moves in a row that are looked behind."""
_ByPlace = Mapping[Hashable, Sequence[Node]]


def stack_expansions(
    search: Search, gone: Mapping[Node, object], new: Mapping[Node, object]
) -> Iterator[tuple[Node, Sequence[Node]]]:
    """Yield removed nodes with the new nodes of their op_name and stack, the result first.

    Moves are left out.
    """
    modules = search.before.graph.module, search.after.graph.module
    if not spans_partitioned_compilation(*modules):
        return
    ours = _by_place(search.before.values.order)
    theirs = _by_place(node for node in search.after.values.order if node in new)
    several = {place for place in theirs if len(ours.get(place, ())) > 1}
    led_to = _led_to(search, several) if several else {}
    for place, nodes in theirs.items():
        for old, parts in _parts_of(ours.get(place, ()), nodes, led_to):
            if old in gone:
                yield old, parts[::-1]


def _by_place(nodes: Iterable[Node]) -> _ByPlace:
    work = (node for node in nodes if opcode_of(node) not in _UNCOUNTED)
    return group_by_key((place_key(node), node) for node in work)


def _parts_of(
    ours: Sequence[Node], theirs: Sequence[Node], led_to: Mapping[Node, frozenset[Node]]
) -> Iterable[tuple[Node, Sequence[Node]]]:
    """Return the old nodes of a place with the new nodes that belong to one of them alone."""
    if len(ours) == 1:
        return [(ours[0], theirs)]
    places = frozenset(ours)
    known = ((led_to.get(node, frozenset()) & places, node) for node in theirs)
    return group_by_key((next(iter(old)), node) for old, node in known if len(old) == 1).items()


def _led_to(search: Search, places: Iterable[Hashable]) -> Mapping[Node, frozenset[Node]]:
    """Return what old users read in the place of new nodes, of the matched users of these.

    Between a node and its matched user are moves, and nodes of its own op_name and stack.
    """
    side, known = search.after, frozenset(places)
    keys = {node: place_key(node) for node in side.values.order if is_free(node)}
    led_to: dict[Node, frozenset[Node]] = {}
    for node in reversed(side.values.order):
        key = keys.get(node)
        if key in known or opcode_of(node) in MOVES:
            users = [user for user, _ in side.users.get(node, ()) if not _is_opened(user)]
            led_to[node] = frozenset(
                old
                for user in users
                for old in _read_instead(search, user, led_to, is_inner=keys.get(user) == key)
            )
    return led_to


def _read_instead(
    search: Search, user: Node, led_to: Mapping[Node, frozenset[Node]], *, is_inner: bool
) -> Iterable[Node]:
    if user.partner is not None:
        return _read_by(search.before, user.partner)
    return led_to.get(user, ()) if is_inner or opcode_of(user) in MOVES else ()


def _read_by(side: Side, user: Node) -> Iterator[Node]:
    """Yield the operands of a node, behind moves."""
    for node, _ in side.graph.operands(user):
        read = node
        for _ in range(_LONGEST):
            operands = side.graph.operands(read) if opcode_of(read) in MOVES else ()
            if not operands:
                break
            read = operands[0][0]
        yield read


def _is_opened(node: Node) -> bool:
    return node.instruction.name in node.frame.callees
