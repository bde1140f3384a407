"""The rules that link by value, name and origin, from the most to the least certain.

Each rule looks at the nodes that are still unpaired.
"""

from collections.abc import Callable, Collection, Hashable, Iterator

from xlareport.analysis.matching.rules.doubles import Doubles
from xlareport.analysis.matching.rules.fusion_elements import are_other_results, give_other_results
from xlareport.analysis.matching.rules.replaced_constants import replaces_another
from xlareport.analysis.matching.rules.rival_shares import RivalShares
from xlareport.analysis.matching.search.alike import pairs_of_one_op
from xlareport.analysis.matching.search.nodes import (
    Names,
    are_other_fills,
    as_many,
    is_free,
    is_root,
    name_in_computation,
    origin,
    paired_users,
    read_at,
    same_form,
    same_leaf,
    same_shape,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.contents import stem
from xlareport.analysis.matching.sides.facts import literal_of
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Node, element_taken, opcode_of
from xlareport.analysis.matching.sides.renumbered import is_another
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES, REARRANGEMENTS, TUPLES
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key, sole_pairs


def same_value(search: Search) -> None:
    """Pair nodes that compute the same expression over the same values."""
    search.evaluate()
    names = Names(search.after)
    old_names = Names(search.before)
    new = grouped(search.after, value_of)
    for value, ours in grouped(search.before, value_of).items():
        theirs = new.get(value, [])
        if theirs:
            _pair_names(search, ours, theirs)
            if (
                len(ours) == len(theirs) == 1
                and not names.claim_copy(ours[0])
                and not names.claim_by_user(ours[0])
                and not old_names.claim_by_user(theirs[0], equal=ours[0])
                and not is_leaf(ours[0])
                and not (search.divided and ours[0].constant)
                and not is_other_move(ours[0], theirs[0])
                and not are_other_fills(ours[0], theirs[0])
                and not (ours[0].constant and replaces_another(search, ours[0], theirs[0]))
            ):
                reason = "the same expression over the same values"
                known = _of_one_framework_op(ours[0], theirs[0])
                now = _of_one_framework_op(theirs[0], known)
                search.link(known, now, Grade.EXACT, reason)


def _of_one_framework_op(node: Node, other: Node) -> Node:
    """Return the element of a tuple of an element that has the framework op of the other.

    A pass that reads what was put into a tuple directly leaves out the first of the two, and one
    that gives a loop another tuple puts it before.
    """
    home = node.frame.computation
    if opcode_of(node) != "get-tuple-element" or origin(node) or not origin(other):
        return node
    for line in home.users.get(node.instruction.name, ()):
        for reader in home.users.get(line.name, ()) if line.opcode == "tuple" else ():
            known = node.frame.node(reader)
            put = enumerate(line.operand_names)
            taken = [name for number, name in put if (number,) == element_taken(reader)]
            itself = taken == [node.instruction.name]
            if itself and origin(known) == origin(other) and is_free(known):
                return known
    return node


def is_other_move(node: Node, other: Node) -> bool:
    """Return whether two moves of one value have other layouts and other framework ops.

    Of an iota another layout says enough: where layouts are normalized, its dimensions are numbered
    anew, and another one may have its former number.
    """
    if opcode_of(node) == "iota":
        return node.instruction.shape != other.instruction.shape
    if opcode_of(node) not in REARRANGEMENTS or node.instruction.shape == other.instruction.shape:
        return False
    return bool(origin(node) and origin(other)) and origin(node) != origin(other)


def value_of(node: Node) -> Hashable:
    """Return the value number; for values of constants alone, with the computation."""
    return (node.token, node.frame.number) if node.constant else node.token


def is_leaf(node: Node) -> bool:
    """Return whether a node has no operands."""
    return not node.instruction.operands


def _pair_names(search: Search, ours: list[Node], theirs: list[Node]) -> None:
    """Pair nodes with equal values that have the same name in the same computation."""
    names = {name_in_computation(node): node for node in reversed(theirs)}
    for node in list(ours):
        other = names.get(name_in_computation(node))
        if other is not None and not is_another(node, other, theirs):
            del names[name_in_computation(node)]
            search.link(node, other, Grade.EXACT, "the same name and expression")
    for nodes in (ours, theirs):
        nodes[:] = [node for node in nodes if node.partner is None]


def same_leaf_read(search: Search) -> None:
    """Pair what reads nothing with its equal that the reader's partner reads.

    In a loop that was made anew, its frame may have no partner.
    """
    search.evaluate()
    for node in search.before.open():
        other = same_leaf(search.before, search.after, node) if is_leaf(node) else None
        if other is not None and is_free(other) and opcode_of(node) == opcode_of(other):
            reason = "the same expression, read by an instruction with a known counterpart"
            search.link(node, other, Grade.EXACT, reason)


def same_name(search: Search) -> None:
    """Pair nodes with the same name and opcode in the same computation.

    One that reads the same operands goes first: a pass that numbers anew gives names to others.
    Not so where name, framework op and users say that the other went on: what it read was bypassed.
    """
    open_after = search.after.open()
    names = Names(search.before)
    others = {name_in_computation(node): node for node in reversed(open_after)}
    written = {_as_written(node): node for node in reversed(open_after)}
    for node in search.before.open():
        other = others.get(name_in_computation(node))
        named = other is not None and (
            _reads_the_same(search, node, other) or _is_same_element(node, other)
        )
        twin = written.get(_as_written(node)) if _is_arithmetic(node) and not named else None
        bypassed = twin is not None and opcode_of(twin) in _CHAINED and names.claim_by_user(twin)
        if twin is not None and not bypassed and _reads_the_same(search, node, twin):
            search.link(node, twin, Grade.MATCHED, "the same opcode over the same operands")
        elif other is not None and other.partner is None and _speaks_for(search, node, other):
            search.link(node, other, Grade.MATCHED, "the same name and opcode")


_CHAINED = TUPLES | {"clamp"}
"""Opcodes of which one that reads another can give the same: passes bypass the inner one."""


def _is_arithmetic(node: Node) -> bool:
    """Return whether a node computes with operands: the names of moves and calls say more."""
    line = node.instruction
    return bool(line.operands) and not line.called and line.opcode not in MOVES


def _is_same_element(node: Node, other: Node) -> bool:
    """Return whether two nodes take one element of whatever tuple they read."""
    return bool(node.element) and node.element == other.element and is_free(other)


def _as_written(node: Node) -> Hashable:
    line = node.instruction
    return (node.frame.program, node.frame.number, line.opcode, *line.operands)


def _reads_the_same(search: Search, node: Node, other: Node) -> bool:
    """Return whether an open node has the form of another and reads the same values."""
    if other.partner is not None or not same_form(search, node, other):
        return False
    ours, theirs = search.before.graph.operands(node), search.after.graph.operands(other)
    return len(ours) == len(theirs) and all(
        a.token == b.token and path == other_path
        for (a, path), (b, other_path) in zip(ours, theirs, strict=True)
    )


def _speaks_for(search: Search, node: Node, other: Node) -> bool:
    """Return whether more than the name supports a pair."""
    if node.instruction.opcode != other.instruction.opcode:
        return False
    if node.instruction.opcode == "constant":
        return not _are_other_constants(node, other)
    if same_form(search, node, other) or not node.instruction.operands:
        return True
    return origin(node) == origin(other) or _share_operand(search, node, other)


def _share_operand(search: Search, node: Node, other: Node) -> bool:
    ours, theirs = search.before.graph.operands(node), search.after.graph.operands(other)
    return any(a.token == b.token for (a, _), (b, _) in zip(ours, theirs, strict=False))


def name_taken_over(search: Search) -> None:
    """Pair nodes with the same name and shape in the same computation, of any opcode."""
    others = {name_in_computation(node): node for node in reversed(search.after.open())}
    for node in search.before.open():
        other = others.get(name_in_computation(node))
        if other is None or other.partner is not None or _are_other_constants(node, other):
            continue
        if same_shape(search, node, other):
            search.link(node, other, Grade.MATCHED, "another instruction of its name and shape")


def _are_other_constants(node: Node, other: Node) -> bool:
    """Return whether two nodes are constants of different values: no pass changes them in place."""
    ours, theirs = literal_of(node.instruction), literal_of(other.instruction)
    return ours[0] == theirs[0] == "constant" and ours != theirs


def moved_name(search: Search) -> None:
    """Pair nodes with the same name, or the same stem, form and origin, in other computations.

    The stem says nothing about instructions that only build or read tuples.
    """
    for naming, staying in ((_bare_name, _BOUND), (_bare_stem, _BOUND | TUPLES)):

        def key(
            node: Node,
            naming: Callable[[Node], str] = naming,
            staying: Collection[str] = staying,
        ) -> Hashable:
            form = search.forms.of(node.instruction)
            if form.opcode in staying:
                return None
            line = node.instruction
            value = line.argument if form.opcode == "constant" else ""
            value = line.attributes.get("dimensions", "") if form.opcode == "transpose" else value
            return (naming(node), form.opcode, form.shape, value, origin(node))

        reason = "the same name but for its number, opcode and shape elsewhere"
        _pair_unique(search, key, reason, RivalShares(search).has_any)


_BOUND = frozenset({"parameter"})


def _bare_name(node: Node) -> str:
    return node.instruction.name


def _bare_stem(node: Node) -> str:
    return stem(node.instruction.name)


def same_origin(search: Search) -> None:
    """Pair two nodes if no other unpaired node on their sides has this form and op_name.

    A tuple that its computation returns is paired with such a tuple only.
    """

    def key(node: Node) -> Hashable:
        form = search.forms.of(node.instruction)
        message = origin(node) if form.opcode != "parameter" else ""
        is_result = form.opcode == "tuple" and is_root(node)
        return (form, message, is_result) if message else None

    doubles, rivals = Doubles(search), RivalShares(search)

    def parted(node: Node, other: Node) -> bool:
        others = doubles.are_of_another(node, other) or are_other_results(search, node, other)
        return others or rivals.has_any(node, other)

    _pair_unique(search, key, "the only one of its form and framework op", parted)


def same_first_operand(search: Search) -> None:
    """Pair arithmetic with the only other operation on the same value: x / y as x * (1/y).

    Both are elementwise, with the same shape.
    """
    search.evaluate()

    def key(side: Side, node: Node) -> Hashable:
        if node.instruction.opcode not in _EXCHANGED or node.constant:
            return None
        read = side.values.read(node)
        shape = search.forms.of(node.instruction).shape
        return (node.frame.number, shape, read[0]) if len(read) == _OPERANDS else None

    old = keyed(search.before, lambda node: key(search.before, node))
    new = keyed(search.after, lambda node: key(search.after, node))
    for node, other in sole_pairs(old, new):
        search.link(node, other, Grade.MATCHED, "the only arithmetic on the same value")


_EXCHANGED = frozenset({"add", "divide", "multiply", "power", "remainder", "subtract"})
_OPERANDS = 2


def same_operation(search: Search) -> None:
    """Pair the rest by framework op and opcode if counts are equal, in any shape.

    Where several heavy nodes are left, `structure` has paired those that can be paired.
    Known copies of others are none of them.
    """
    new = grouped(search.after, lambda node: None if node in search.copies else _operation(node))
    for value, nodes in grouped(search.before, _operation).items():
        ours, theirs = as_many(search, nodes, new.get(value, []))
        if value is None or len(ours) != len(theirs):
            continue
        if len(ours) > 1 and family_of(ours[0].instruction) is not None:
            continue
        for node, other, grade, reason in pairs_of_one_op(search, ours, theirs):
            if len(ours) > 1 and node.constant and node.frame.number != other.frame.number:
                continue  # fusions have constant values of their own, in any order
            same_state = search.before.is_called(node) == search.after.is_called(other)
            same_state = same_state and node.constant == other.constant
            same_state = same_state and not give_other_results(node, other)
            same_state = same_state and not are_other_results(search, node, other)
            if same_state and _may_be_same_move(search, node, other):
                search.link(node, other, grade, reason)


def _may_be_same_move(search: Search, node: Node, other: Node) -> bool:
    """Return whether two nodes are no moves, or moves with a continued operand or user.

    A framework op has many moves, and nothing else distinguishes them.
    """
    if node.instruction.opcode not in MOVES:
        return True
    if node.instruction.shape.element_type != other.instruction.shape.element_type:
        return False
    if _share_operand(search, node, other):
        return True
    readers = {user.partner for user, _ in search.before.users.get(node, ())}
    return any(user in readers for user, _ in search.after.users.get(other, ()))


def _operation(node: Node) -> Hashable:
    message = origin(node)
    return (node.instruction.opcode, message) if message else None


def _pair_unique(
    search: Search,
    key: Callable[[Node], Hashable],
    reason: str,
    parted: Callable[[Node, Node], bool] = lambda _node, _other: False,
) -> None:
    for node, other in sole_pairs(keyed(search.before, key), keyed(search.after, key)):
        if search.before.is_called(node) != search.after.is_called(other):
            continue
        apart = _is_apart(search, node, other) or give_other_results(node, other)
        apart = apart or _is_replaced(search, node, other)
        if not _is_beside(node, other) and not apart and not parted(node, other):
            search.link(node, other, Grade.MATCHED, reason)


def _is_replaced(search: Search, node: Node, other: Node) -> bool:
    """Return whether paired users of a move read something else than its namesake now."""
    if opcode_of(node) not in MOVES:
        return False
    reads = [read_at(search.after, partner, place) for _, partner, place in paired_users(node)]
    return any(read is not None for read in reads) and other not in reads


def _is_beside(node: Node, other: Node) -> bool:
    """Return whether only opcode and shape support a pair in one computation."""
    named = node.instruction.name == other.instruction.name or origin(node)
    return node.frame.number == other.frame.number and not named


def _is_apart(search: Search, node: Node, other: Node) -> bool:
    """Return whether only the opcode supports a pair of computations that continue as others."""
    line, home = node.instruction, node.frame.computation.name
    if origin(node) or stem(line.name) != line.opcode or line.name == other.instruction.name:
        return False
    there = other.frame.computation.name
    known = search.computations
    return known.pairs.get(home, there) != there or known.partners.get(there, home) != home


def grouped(side: Side, key: Callable[[Node], Hashable]) -> dict[Hashable, list[Node]]:
    """Return the unpaired nodes of a side by a key."""
    return group_by_key(keyed(side, key))


def keyed(side: Side, key: Callable[[Node], Hashable]) -> Iterator[tuple[Hashable, Node]]:
    """Yield the unpaired nodes of a side, each with its key."""
    return ((key(node), node) for node in side.open())
