"""A rule for combined collectives of several operands, and combined dots of several results.

The operands of the collective, or the readers of the dot's parts, are paired already and identify
the old instructions.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence

from xlareport.analysis.matching.rules.heavy.collectives import channel_of
from xlareport.analysis.matching.rules.heavy.merged_dots import DIMENSIONS
from xlareport.analysis.matching.search.nodes import is_free, node_before
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.elements import kept_elements
from xlareport.analysis.matching.sides.families import family_of, is_mark
from xlareport.analysis.matching.sides.graph import Node, NodeElement, opcode_of
from xlareport.analysis.matching.sides.halves import START, dones_of, is_done, start_of
from xlareport.analysis.matching.sides.pieces import piece_of, slices_of
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade

_COLLECTIVES = frozenset(
    {"all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter"}
)
_MOVES = REARRANGEMENTS | {"convert"}
_SUMMED = _MOVES | {"reduce"}
"""Opcodes that may occur between a dot that was also split and the slices of its result."""
_MOST_MOVES = 8
_MOST_READERS = 40
_MOST_SLICES = 160
"""Slices of a product, and slices of these, that are looked at."""
_FEWEST = 2


def joined(search: Search) -> None:
    """Pair collectives and dots with the one instruction that does the work of all of them."""
    old, new = search.before.open(), search.after.nodes
    if any(opcode_of(node) in _COLLECTIVES for node in old):
        for whole in new:
            if opcode_of(whole).removesuffix(START) in _COLLECTIVES and not whole.kept:
                _join_collectives(search, whole)
    if any(family_of(node.instruction) == "product" for node in old):
        known = Counter(link.after for link in search.links if link.relation is Relation.COMBINED)
        for whole in new:
            if family_of(whole.instruction) == "product" and not whole.kept:
                _join_products(search, whole, known[whole])


def _join_collectives(search: Search, whole: Node) -> None:
    pieces = _pieces(search.after, whole)
    if len(pieces) < _FEWEST:
        return
    start = start_of(search.after, whole.frame) if whole.frame.caller is None else None
    holder = whole if start is None else start
    opcode = opcode_of(whole).removesuffix(START)
    members = _members(search, pieces, opcode, holder)
    known = [member for member in members if member is not None]
    if len(set(known)) == len(known) >= _FEWEST:
        reason = f"%{holder.instruction.name} does it for {len(pieces)} operands"
        search.combine(members, holder, Grade.MATCHED, reason)
        for end in dones_of(search.after, holder):
            search.name_elements(members, end)
        if start is not None and is_free(whole):
            search.extend(known[0], whole)


def _members(
    search: Search, pieces: Sequence[NodeElement], opcode: str, holder: Node
) -> list[Node | None]:
    """Return the old collective of each piece; of a value sent several times, by what reads it.

    Else in order, where there are as many as pieces.
    """
    waiting = dict[NodeElement, deque[Node]]()
    for piece, count in Counter(pieces).items():
        sent = _sent_before(search, piece, opcode, holder)
        if len(sent) > count:
            sent = _by_channel(search, sent, count, holder)
        waiting[piece] = deque(sent)
    members = [
        _by_readers(search, waiting[piece], place, holder) for place, piece in enumerate(pieces)
    ]
    left = Counter(piece for piece, member in zip(pieces, members, strict=True) if member is None)
    for piece, count in left.items():
        if len(waiting[piece]) != count:
            waiting[piece].clear()
    return [
        waiting[piece].popleft() if member is None and waiting[piece] else member
        for piece, member in zip(pieces, members, strict=True)
    ]


def _by_readers(search: Search, sent: deque[Node], place: int, holder: Node) -> Node | None:
    """Take the one of several old collectives that the readers of an element of the new one read.

    None where no reader has a counterpart, or where they disagree.
    """
    if len(sent) < _FEWEST:
        return None
    now = {
        (node_before(search, user), position)
        for end in (holder, *dones_of(search.after, holder))
        for user, position in _readers(search.after, end, _MOVES, (place,))
    }
    read = [
        node
        for node in sent
        if any(reader in now for reader in _readers(search.before, node, _MOVES))
    ]
    if len(read) != 1:
        return None
    sent.remove(read[0])
    return read[0]


def _by_channel(search: Search, sent: list[Node], count: int, whole: Node) -> list[Node]:
    """Return which of the old collectives that sent one value the new one has combined.

    A combined collective keeps the channel of its first member.
    """
    own = [node for node in sent if channel_of(node) and channel_of(node) == channel_of(whole)]
    if len(own) == count:
        return own
    others = {
        channel_of(node)
        for node in search.after.nodes
        if opcode_of(node) == opcode_of(whole) and node is not whole
    }
    return [node for node in sent if channel_of(node) not in others]


def _pieces(side: Side, whole: Node) -> list[NodeElement]:
    """Return the values that a collective sends: its operands, or the pieces of its only one."""
    start = start_of(side, whole.frame) if whole.frame.caller is None else None
    operands = side.graph.operands(whole if start is None else start)
    if len(operands) != 1:
        return list(operands)
    node = _behind_moves(side, operands[0])[0]
    joins = opcode_of(node) == "concatenate" and is_free(node)
    return list(side.graph.operands(node)) if joins else []


def _behind_moves(side: Side, operand: NodeElement) -> NodeElement:
    """Return the operand behind a chain of unpaired data movement."""
    for _ in range(_MOST_MOVES):
        node, path = operand
        operands = side.graph.operands(node)
        piece = piece_of(side, node) if not path and is_free(node) else None
        if piece is None and (path or not operands or not _passes(node, _MOVES)):
            break
        operand = operands[0] if piece is None else piece
    return operand


def _sent_before(search: Search, piece: NodeElement, opcode: str, whole: Node) -> list[Node]:
    """Return the old collectives that sent the value of a piece and may be in a new one."""
    node, path = _behind_moves(search.after, piece)
    source = node_before(search, node)
    if source is None:
        return []
    if path and source.instruction.opcode == "while":
        number = kept_elements(search, source, node).origins.get(path[0])
        path = path if number is None else (number, *path[1:])
    readers = dict.fromkeys(user for user, _ in _readers(search.before, source, _MOVES, path))
    return [
        user
        for user in readers
        if opcode_of(user) == opcode and (is_free(user) or user.partner is whole)
    ]


def _readers(
    side: Side, node: Node, passing: frozenset[str], path: tuple[int, ...] = ()
) -> Iterator[tuple[Node, int]]:
    """Yield the users of a node with operand positions, looking through free data movement."""
    waiting = deque([node])
    seen = {node}
    while waiting and len(seen) < _MOST_READERS:
        source = waiting.popleft()
        for user, position in side.users.get(source, ()):
            if source is node and side.graph.operands(user)[position][1] != path:
                continue
            yield user, position
            slices = slices_of(side, user, position) if opcode_of(user) == "concatenate" else []
            for reader in [user] if _passes(user, passing) else slices:
                if reader not in seen and is_free(reader):
                    seen.add(reader)
                    waiting.append(reader)


def _join_products(search: Search, whole: Node, known: int) -> None:
    """Combine the products whose results a new one has, if these are more than are known to be."""
    members = _products_of_slices(search, whole) or _products_of_pieces(search, whole)
    if len(members) >= max(_FEWEST, known + 1):
        reason = f"%{whole.instruction.name} holds their {len(members)} results, side by side"
        search.combine(members, whole, Grade.MATCHED, reason)


def _products_of_slices(search: Search, whole: Node) -> list[Node]:
    """Return the old dots whose readers now read slices of one dot; empty if it was only one."""
    slices = list(dict.fromkeys(_slices_of(search.after, whole)))
    members = [_product_before(search, part, whole) for part in slices]
    inner = _inner_slices(search.after, slices)
    further = [_product_before(search, part, whole) for part in inner]
    known = [member for member in (*members, *further) if member is not None]
    if inner and all(_is_of_its_parts(search, member, whole) for member in known):
        members += further
    partner = [whole.partner] if whole.partner is not None and None in members else []
    products = dict.fromkeys(member for member in (*members, *partner) if member is not None)
    return list(products) if len(products) >= _FEWEST else []


def _slices_of(side: Side, node: Node) -> list[Node]:
    readers = _readers(side, node, _SUMMED)
    return [user for user, _ in readers if opcode_of(user) == "slice" and is_free(user)]


def _inner_slices(side: Side, slices: Sequence[Node]) -> list[Node]:
    """Return the free slices of slices, and of these: `dot-merger` merges two dots at a time."""
    waiting = [*slices]
    for node in waiting if len(slices) <= _MOST_READERS else ():
        new = [part for part in _slices_of(side, node) if part not in waiting]
        waiting += new if len(waiting) + len(new) <= _MOST_SLICES else []
    return waiting[len(slices) :]


def _is_of_its_parts(search: Search, member: Node, whole: Node) -> bool:
    """Return whether a dot is over the same dimensions as one of values joined from its own."""
    lines = member.instruction, whole.instruction
    if any(lines[0].attributes.get(name) != lines[1].attributes.get(name) for name in DIMENSIONS):
        return False
    former, reads = search.before.graph.operands(member), search.after.graph.operands(whole)
    return all(
        _behind_moves(search.before, was)[0]
        in {node_before(search, piece) for piece in _joined_pieces(search.after, now)}
        for was, now in zip(former, reads, strict=False)
    )


def _products_of_pieces(search: Search, whole: Node) -> list[Node]:
    """Return the old dots of the pieces of a concatenated operand with the other operand."""
    sides = [_behind_moves(search.after, operand) for operand in search.after.graph.operands(whole)]
    if len(sides) < _FEWEST:
        return []
    for (node, _), (other, _) in (sides[:2], sides[1::-1]):
        if opcode_of(node) == "concatenate" and is_free(node):
            pieces = _joined_pieces(search.after, (node, ()))
            values = [node_before(search, piece) for piece in pieces]
            shared = node_before(search, other) or _shared_factor(search, values, whole)
            members = [_product_of(search, (value, shared), whole) for value in values]
            known = list(dict.fromkeys(member for member in members if member is not None))
            nested = len(pieces) > len(search.after.graph.operands(node))
            agree = not nested or all(_is_of_its_parts(search, member, whole) for member in known)
            if len(known) == len(pieces) and agree:
                return known
    return []


def _joined_pieces(side: Side, operand: NodeElement) -> list[Node]:
    """Return the values that an operand was joined from, behind moves; itself if it was not."""
    pieces, waiting = list[Node](), [_behind_moves(side, operand)[0]]
    while waiting and len(pieces) + len(waiting) <= _MOST_READERS:
        node = waiting.pop()
        if opcode_of(node) == "concatenate" and is_free(node):
            operands = side.graph.operands(node)
            waiting += [_behind_moves(side, piece)[0] for piece in reversed(operands)]
        else:
            pieces.append(node)
    return pieces + waiting[::-1]


def _shared_factor(search: Search, values: list[Node | None], whole: Node) -> Node | None:
    """Return the other operand of the partner of a dot, if one operand is among `values`."""
    operands = () if whole.partner is None else search.before.graph.operands(whole.partner)
    factors = [_behind_moves(search.before, operand)[0] for operand in operands]
    others = [node for node in factors if node not in values]
    return others[0] if len(others) == 1 and len(factors) == _FEWEST else None


def _product_of(
    search: Search, factors: tuple[Node | None, Node | None], whole: Node
) -> Node | None:
    """Return the only old dot of two values; None if there are none or several."""
    known = [factor for factor in factors if factor is not None]
    if len(known) < len(factors):
        return None
    first, *others = (
        dict.fromkeys(
            user for user, _ in _readers(search.before, factor, _MOVES) if _may_join(user, whole)
        )
        for factor in known
    )
    return _only(search, [user for user in first if all(user in other for other in others)])


def _product_before(search: Search, part: Node, whole: Node) -> Node | None:
    """Return the product that the readers of a slice read before; None where they disagree."""
    products: dict[Node, None] = {}
    for user, position in _readers(search.after, part, _MOVES):
        reader = user.partner
        if reader is not None and not user.kept:
            operands = search.before.graph.operands(reader)
            places = operands if reader.commutes else operands[position : position + 1]
            sources = [_behind_moves(search.before, operand)[0] for operand in places]
            products_read = [source for source in sources if _may_join(source, whole)]
            # of a sum of two a pass keeps the order
            if len(products_read) == len(operands) == _FEWEST:
                products_read = products_read[position : position + 1]
            products |= dict.fromkeys(products_read)
    return _only(search, products)


def _only(search: Search, nodes: Collection[Node]) -> Node | None:
    """Return the only node; if all have the same value, a paired one of them."""
    values = {search.before.own_values.get(node, node) for node in nodes}
    ranked = sorted(nodes, key=lambda node: (is_free(node), node.instruction.name))
    return ranked[0] if len(values) == 1 else None


def _may_join(node: Node, whole: Node) -> bool:
    product = family_of(node.instruction) == "product"
    return product and (is_free(node) or node.partner is whole)


def _passes(node: Node, opcodes: frozenset[str]) -> bool:
    """Return whether a free node only moves, marks or sends its operand."""
    line = node.instruction
    if not is_free(node) or len(line.operands) != 1:
        return is_free(node) and line.opcode in opcodes
    sent = is_done(node) or family_of(line) == "collective"
    return line.opcode in opcodes or is_mark(line) or sent
