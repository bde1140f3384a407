"""Rules for matmuls and other heavy work: the same operands, apart from data movement.

Passes swap the operands of a dot, fold transposes into it, convert it to a library call or a
convolution, or split it; it still multiplies the same values, moved differently.
"""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.rules.heavy.told_apart import reach, reduced_over, summed_over
from xlareport.analysis.matching.search.alike import pairs_in_order
from xlareport.analysis.matching.search.nodes import (
    is_free,
    origin,
    read_at,
    same_shape,
    same_type,
    sole_user,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement, opened_root
from xlareport.analysis.matching.sides.leftovers import unread_heavy
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import Tokens
from xlareport.hlo.opcode_groups import REARRANGEMENTS, SAME_ORDER
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_MOVES = REARRANGEMENTS | {"broadcast", "convert", "pad", "reverse"}
"""Opcodes that hand their first operand on in another shape or type."""
_PRODUCTS = frozenset({"convolution", "dot"})
_LIBRARIES = ("__cublas", "__cudnn$conv", "__onednn")
_HEAVY = frozenset({"gather", "reduce", "reduce-window", "scatter", "select-and-scatter", "sort"})
_ORDERED_OPERANDS = 2


def same_work(search: Search) -> None:
    """Pair heavy work on the same values, if both sides do it equally often."""
    old, new = _open_work(search.before), _open_work(search.after)
    if not (old and new):
        return
    search.evaluate()
    ours, theirs = _by_essence(search, old, new, _MOVES)
    if any(len(nodes) > 1 and key in theirs for key, nodes in ours.items()):
        _link_alone(search, *_by_essence(search, old, new, _MOVES - {"reverse"}))
    for key, nodes in ours.items():
        left, others = [*filter(is_free, nodes)], [*filter(is_free, theirs.get(key, ()))]
        if len(left) == len(others):
            _link_by_dimensions(search, left, others)
            _link_all(search, [*filter(is_free, left)], [*filter(is_free, others)])


def _link_by_dimensions(search: Search, ours: list[Node], theirs: list[Node]) -> None:
    """Pair dots and sums of the same values that alone sum over the same dimensions of these."""
    if len(ours) == 1:
        return
    old = group_by_key((_taken_over(search.before, node), node) for node in ours)
    new = group_by_key((_taken_over(search.after, node), node) for node in theirs)
    for sums, nodes in old.items():
        others = new.get(sums, [])
        if sums is not None and len(nodes) == len(others) == 1:
            _link_all(search, nodes, others)


def _taken_over(side: Side, node: Node) -> Hashable:
    """Return the dimensions that a dot or a sum takes of its values; None if not known."""
    return summed_over(side, node) or reduced_over(side, node)


_Work = dict[Hashable, list[Node]]


def _by_essence(
    search: Search, old: list[Node], new: list[Node], moves: frozenset[str]
) -> tuple[_Work, _Work]:
    """Return the heavy work of each side by operation and operand values, ignoring `moves`."""
    return (
        _grouped(_Essence(search.before, search.tokens, moves), old),
        _grouped(_Essence(search.after, search.tokens, moves), new),
    )


def _link_alone(search: Search, old: _Work, new: _Work) -> None:
    """Pair work that alone has a key without reverses, where other work reverses the value."""
    for key, nodes in old.items():
        others = new.get(key, [])
        if len(nodes) == len(others) == 1:
            _link_all(search, nodes, others)


def _link_all(search: Search, ours: list[Node], theirs: list[Node]) -> None:
    alone = len(ours) == len(theirs) == 1
    reason = "the same work over the same values" if alone else "of several alike, in order"
    for node, other in pairs_in_order(search, ours, theirs):
        if is_free(node) and is_free(other):
            search.link(node, other, Grade.MATCHED if alone else Grade.GUESSED, reason)


def _open_work(side: Side) -> list[Node]:
    """Return the unpaired heavy nodes, without unread leftovers."""
    work = [node for node in side.open() if _kind(node) is not None]
    return [node for node in work if node.instruction not in unread_heavy(node.frame.computation)]


def _grouped(essence: "_Essence", work: list[Node]) -> dict[Hashable, list[Node]]:
    return group_by_key(((_kind(node), reach(node), essence.of(node)), node) for node in work)


def _kind(node: Node) -> str | None:
    """Return the kind of heavy work of a node; None for other nodes."""
    opcode = node.instruction.opcode
    if opcode in _HEAVY:
        return opcode
    if opcode == "custom-call":
        target = node.instruction.call_target
        return "product" if target.startswith(_LIBRARIES) else None
    return "product" if opcode in _PRODUCTS else None


class _Essence:
    """Value numbers of one side's nodes that ignore data movement."""

    def __init__(self, side: Side, tokens: Tokens, moves: frozenset[str]) -> None:
        self._side = side
        self._tokens = tokens
        self._moves = moves
        self._values: dict[Node, int] = {}
        for node in side.values.order:
            self._values[node] = self._derive(node)

    def of(self, node: Node) -> int:
        """Return the value number of a node; a kept move has that of its operand."""
        number = self._values.get(node)
        return self._of_kept(node) if number is None else number

    def _of_kept(self, node: Node) -> int:
        moved = self._moved(node)
        if moved is not None and moved[0].kept:
            self._values[node] = self._side.values.value_of(node)
            self._values[node] = self._read(moved)
        else:
            self._values[node] = self._side.values.value_of(node)
        return self._values[node]

    def _moved(self, node: Node) -> NodeElement | None:
        """Return the operand of a move or of the sum of a split dot; None for other nodes."""
        opcode = node.instruction.opcode
        if opcode not in self._moves and opcode != "reduce":
            return None
        moved = next(iter(self._side.graph.operands(node)), None)
        sums = moved is not None and _kind(moved[0]) == "product"
        return moved if opcode != "reduce" or sums else None

    def _derive(self, node: Node) -> int:
        moved = self._moved(node)
        if moved is not None:
            return self._read(moved)
        if node.partner is not None or not node.inputs:
            return node.token
        opened = opened_root(node)
        return self.of(opened) if opened is not None else self._tokens.of(self._expression(node))

    def _expression(self, node: Node) -> Hashable:
        operands = self._side.graph.operands(node)
        kind = _kind(node)
        if kind == "product":
            return (
                "product",
                *sorted(self._read(operand) for operand in operands[:_ORDERED_OPERANDS]),
            )
        return ("work", _action(node), *(self._read(operand) for operand in operands))

    def _read(self, operand: NodeElement) -> int:
        node, path = operand
        value = self.of(node)
        if not path or _kind(node) == "product":
            return value
        return self._tokens.of(("element", value, path))


def _action(node: Node) -> Hashable:
    """Return the operation of a node, without shapes and dimensions."""
    line = node.instruction
    attributes = line.attributes
    return (line.opcode, *(attributes.get(name, "") for name in _TELLING))


_TELLING = ("direction", "index", "slice", "custom_call_target")
"""Attributes that distinguish operations of the same opcode, in any layout."""


def split_sums(search: Search) -> None:
    """Add the sum of a split dot, and its convert to the type of the dot, to the pairing."""
    for before, after in list(_grown(search)):
        users = {user.instruction.opcode for user, _ in search.before.users.get(before, ())}
        for part in _sum_and_convert(search, after):
            back = same_type(before, part) or "convert" not in users
            if part.instruction.opcode != "convert" or back:
                search.extend(before, part)


def _grown(search: Search) -> Iterator[tuple[Node, Node]]:
    """Yield paired dots where the new one has one more dimension."""
    for link in search.links:
        if (
            _kind(link.before) == _kind(link.after) == "product"
            and link.before not in search.further
        ):
            old, new = link.before.instruction.shape, link.after.instruction.shape
            if (
                not new.elements
                and not old.elements
                and len(new.dimensions) == len(old.dimensions) + 1
            ):
                yield link.before, link.after


def _sum_and_convert(search: Search, product: Node) -> Iterator[Node]:
    """Yield the free sums that alone read a product, and the free converts that alone read these.

    Each fusion that reads the sum has a copy of it.
    """
    nodes, side = [product], search.after
    for opcode in ("reduce", "convert"):
        users = dict.fromkeys(user for node in nodes for user in _inner_users(side, node))
        forms = {search.forms.of(user.instruction) for user in users}
        alike = len(forms) == 1 and next(iter(users)).instruction.opcode == opcode
        if not alike or not all(map(is_free, users)):
            return
        nodes = [*users]
        yield from nodes


def _inner_users(side: Side, node: Node) -> Iterator[Node]:
    """Yield the users of a node but fusions and calls, whose contents use it."""
    for user, _ in side.users.get(node, ()):
        if user.instruction.name not in user.frame.callees:
            yield user


def split_complex(search: Search) -> None:
    """Add the real dots that a complex dot was split into to its pairing."""
    for link in list(search.links):
        node, other = link.before, link.after
        products = _kind(node) == _kind(other) == "product" and node not in search.further
        if products and _is_complex(node) and not _is_complex(other):
            for part in _summed_with(search.after, other):
                search.extend(node, part)


def split_windows(search: Search) -> None:
    """Add to the pairing of a dot that became a loop the further dots of the loop's sum.

    The SPMD partitioner passes shares of an operand round in a loop, and adds their products.
    """
    for link in list(search.links):
        node, other = link.before, link.after
        if _kind(node) == _kind(other) == "product" and _entered_loop(search, node, other):
            for part in _added_up(search.after, other):
                if is_free(part) and origin(part) == origin(other):
                    search.extend(node, part)


def _entered_loop(search: Search, node: Node, other: Node) -> bool:
    """Return whether a new loop alone runs a node, whose original no loop of its own ran."""
    home, now = node.frame.computation.name, other.frame.computation.name
    calls = [call.instruction.opcode for _, call in search.after.graph.call_sites(now)]
    return calls == ["while"] and search.computations.pairs.get(home, home) != now


def _added_up(side: Side, product: Node) -> list[Node]:
    """Return the other products that new additions add to one, in the same computation."""
    terms = [product]
    for term in terms:
        if len(terms) > _MOST_TERMS:
            break
        read = side.graph.operands(term) if _adds(term) else ()
        near = dict.fromkeys(node for node, _ in (*side.users.get(term, ()), *read))
        sums = [node for node in near if is_free(node) and node.frame is product.frame]
        terms += [node for node in sums if node not in terms and (_adds(node) or _multiplies(node))]
    return [term for term in terms[1:] if _multiplies(term)]


def _is_complex(node: Node) -> bool:
    return node.instruction.shape.element_type in {"c64", "c128"}


def _summed_with(side: Side, product: Node) -> list[Node]:
    """Return the free dots that are added to a dot, or to one that is added to it."""
    products = [product]
    for node in products:
        sums = [user for user, _ in side.users.get(node, ()) if _adds(user)]
        read = [operand for user in sums for operand, _ in side.graph.operands(user)]
        new = [other for other in read if _kind(other) == "product" and is_free(other)]
        products += [other for other in dict.fromkeys(new) if other not in products]
        if len(products) >= _PARTS_OF_COMPLEX:
            break
    return products[1:_PARTS_OF_COMPLEX]


def _adds(node: Node) -> bool:
    return node.instruction.opcode in {"add", "subtract"}


def _multiplies(node: Node) -> bool:
    return _kind(node) == "product"


_MOST_TERMS = 100
"""Limit on the terms of a sum that are followed."""
_PARTS_OF_COMPLEX = 4
"""Real products that a product of complex numbers takes at most."""


def split_reductions(search: Search) -> None:
    """Add a new second reduction to the pairing of a reduction that became a tree of two."""
    for link in list(search.links):
        node, other = link.before, link.after
        opcodes = {node.instruction.opcode, other.instruction.opcode}
        if opcodes == {"reduce"} and node not in search.further:
            further = _other_half(search, node, other)
            if further is not None:
                search.extend(node, further)


def _other_half(search: Search, node: Node, other: Node) -> Node | None:
    """Return the new reduction that a partner reads or that alone reads it, to the old shape."""
    half: Node | None
    if same_shape(search, node, other):
        half, total = _summed(search.after, other), other
    else:
        half = total = _lone_sum(search.after, other, read_at(search.before, node, 0))
    new = half is not None and half.instruction.opcode in _SUMS and is_free(half)
    if half is None or not new or not same_shape(search, node, total):
        return None
    return half if reducer(search.after, half) == reducer(search.after, other) else None


def reducer(side: Side, reduction: Node) -> str:
    """Return the opcode by which a reduction combines two values; empty where it is not known."""
    names = [name for _, name in reduction.instruction.called]
    computation = side.graph.module.by_name.get(names[0]) if names else None
    root = None if computation is None else computation.root
    return "" if root is None else root.opcode


_SUMS = frozenset({"reduce", "reduce-window"})


def _summed(side: Side, node: Node) -> Node | None:
    """Return the operand of a reduction, looking through a new reshape."""
    read = read_at(side, node, 0)
    behind = read is not None and is_free(read) and read.instruction.opcode in SAME_ORDER
    return read_at(side, read, 0) if behind and read is not None else read


def _lone_sum(side: Side, node: Node, moved: Node | None) -> Node:
    """Return the only user of a node, looking through a new or moved reshape; else the node."""
    for _ in range(2):
        user = sole_user(side, node)
        if user is None:
            return node
        node = user
        is_new = is_free(node) or (moved is not None and node.partner is moved)
        if node.instruction.opcode not in SAME_ORDER or not is_new:
            return node
    return node
