"""Expanded instructions: the last of several new instructions gives the old result.

An expansion reads only what the old instruction read, and constants; otherwise none is claimed.
A sum over devices of another framework op than the result's is no part of it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from xlareport.analysis.matching.account.passed_values import behind_transfers
from xlareport.analysis.matching.account.word_halves import written
from xlareport.analysis.matching.search.nodes import (
    is_free,
    is_root,
    node_after,
    same_shape,
    target_of,
)
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.facts import TRANSPARENT
from xlareport.analysis.matching.sides.families import JOIN, family_of, is_mark
from xlareport.analysis.matching.sides.graph import Node, NodeElement, opened_root
from xlareport.analysis.matching.sides.halves import is_done, is_start
from xlareport.analysis.matching.sides.inputs import behind
from xlareport.analysis.matching.sides.passed import passed_operand
from xlareport.hlo.opcode_groups import (
    BOUNDARIES,
    DEVICE_IDS,
    PLAIN,
    REARRANGEMENTS,
    REDUCING_COLLECTIVES,
    SAME_ORDER,
)
from xlareport.hlo.shape import ELEMENT_TYPES
from xlareport.knowledge.opcodes import opcode_work

_PASSING = PLAIN | TRANSPARENT
"""Opcodes that compute nothing or only wrap computations, so that they cannot be expanded."""
_MOVES = frozenset(
    {"concatenate", "dynamic-slice", "dynamic-update-slice", "gather", "pad", "slice"}
)
"""Opcodes that compute nothing but that passes do expand."""
_FILLS = frozenset({"broadcast", "constant"})
"""Opcodes that repeat a number: no work, not even on constants."""
_REARRANGED = frozenset({"reshape", "transpose"})
"""Opcodes that become a copy between bitcasts, once layouts are assigned."""
_DECOMPOSED = ("reduce-scatter", "all-reduce")
_WHOLE_WORD = 64
"""Bits of the integers that are computed as two halves."""
_CAST = "bitcast-convert"
_MOST_CASTS = 4
"""Casts and marks in a row that are looked behind."""
_JOINING = REARRANGEMENTS | {_CAST, "concatenate"}
_MOST_JOINED = 100
"""Parts, and parts of parts, that an operand was put together of."""
_MOST = 5000
"""Maximum number of new instructions in an expansion."""


def expansions(
    search: Search,
    gone: Mapping[Node, object],
    new: Mapping[Node, object],
    halves: Mapping[Node, Collection[Node]],
) -> Iterator[tuple[Node, Node, list[Node]]]:
    """Yield expanded nodes, the new node that gives the result, and the other new nodes.

    `gone` and `new` are the nodes without a counterpart; each new node is yielded once. `halves`
    are what 64-bit nodes became, which an expansion reads instead.
    """
    spoken_of: set[Node] = set()
    for node, (result, *arrays) in search.generated.items():
        if node in gone and result in new:
            known = [part for part in arrays if part in new]
            further = _constants(search, dict.fromkeys((result, *known)), new)
            own = _read_by_themselves(search, result, [*known, *further])
            spoken_of.update(own, (result,))
            yield node, result, own
    for node, result in _candidates(search, gone, new):
        if result in spoken_of or _is_folded(node, result) or not _may_expand(search, node):
            continue
        parts = _new_dependencies(search, node, result, new, halves)
        if parts is not None and _are_several(node, result, parts):
            own = [part for part in parts if part not in spoken_of]
            spoken_of.update(own, (result,))
            yield node, result, own


def _is_folded(node: Node, result: Node) -> bool:
    """Return whether a result is a constant, or made of constants where the node was not."""
    return result.constant and (not node.constant or result.instruction.opcode == "constant")


def _may_expand(search: Search, node: Node) -> bool:
    """Return whether a node does work by itself, unlike a start, a done, or a pad by nothing.

    The elements of a constant may be computed of an iota instead.
    """
    if node.instruction.opcode in _REARRANGED:
        return True
    if node.instruction.opcode == "constant":
        return bool(node.instruction.shape.dimensions)
    works = node.instruction.opcode not in _PASSING and not is_start(node) and not is_done(node)
    works = works and not is_mark(node.instruction)
    return works and passed_operand(search.before, node) is None


def _are_several(node: Node, result: Node, parts: Sequence[Node]) -> bool:
    """Return whether several new nodes do the work; moves alone cannot replace arithmetic."""
    working = [part for part in (result, *parts) if _works(part, result)]
    moved = all(part.instruction.opcode in _MOVES | _PASSING for part in working)
    if node.instruction.opcode in _REARRANGED:
        return len(working) > 1 and any(part.instruction.opcode == "copy" for part in working)
    may_move = node.instruction.opcode in _MOVES and not result.constant
    return len(working) > 1 and (may_move or not moved)


def _works(part: Node, result: Node) -> bool:
    """Return whether a part does work of an expansion, which may all be work on constants."""
    return part.instruction.opcode not in _FILLS if result.constant else not part.constant


def _candidates(
    search: Search, gone: Mapping[Node, object], new: Mapping[Node, object]
) -> Iterator[tuple[Node, Node]]:
    """Yield nodes with the node of another opcode that their users read instead."""
    for link in search.links:
        other = link.before.instruction.opcode != link.after.instruction.opcode
        if link.relation is Relation.REPLACED and other:
            result = _sliced(search, link) or _copied(search, link) or _reshaped(search, link, new)
            yield link.before, result if result is not None and result in new else link.after
    for node in gone:
        for user, position in search.before.users.get(node, ()):
            read = () if user.partner is None else search.after.graph.operands(user.partner)
            now, path = read[position] if position < len(read) else (None, ())
            if now is not None and _is_brought(now):
                now = behind_transfers(search.after, now)
            if now is not None and now in new and _may_give(node, now, path):
                yield node, now
                break


def _may_give(node: Node, result: Node, path: Sequence[int]) -> bool:
    """Return whether a new result may be the old value, in view of their element types.

    Floats may be rounded, and 64-bit integers are made of halves. A loop that carries fewer
    values gives each of the others at another place. A result may be one element of a new loop.
    """
    old, new = node.instruction.shape, result.instruction.shape
    if not old.elements and len(path) == 1 and path[0] < len(new.elements):
        new = new.elements[path[0]]
    if old.elements or old.element_type == new.element_type:
        return True
    known, now = ELEMENT_TYPES.get(old.element_type), ELEMENT_TYPES.get(new.element_type)
    if known is None or now is None:
        return False
    return (known.is_float and now.is_float) or known.bits == 2 * (now.bits or 0) == _WHOLE_WORD


def _sliced(search: Search, link: NodePair) -> Node | None:
    """Return what takes a device's share of the all-reduce that took a reduce-scatter's place."""
    if (link.before.instruction.opcode, link.after.instruction.opcode) != _DECOMPOSED:
        return None
    users = [user for user, _ in search.after.users.get(link.after, ())]
    sliced = len(users) == 1 and users[0].instruction.opcode == "dynamic-slice"
    return users[0] if sliced and same_shape(search, link.before, users[0]) else None


def _copied(search: Search, link: NodePair) -> Node | None:
    """Return the copy to the layout of a reshape or transpose that alone reads its counterpart."""
    if link.before.instruction.opcode not in _REARRANGED:
        return None
    users = [user for user, _ in search.after.users.get(link.after, ())]
    copied = len(users) == 1 and users[0].instruction.opcode == "copy"
    return (
        users[0] if copied and users[0].instruction.shape == link.before.instruction.shape else None
    )


def _reshaped(search: Search, link: NodePair, new: Mapping[Node, object]) -> Node | None:
    """Return the reshape to the former shape that alone reads its counterpart.

    None where that reads nothing new either: it does the work alone.
    """
    users = [user for user, _ in search.after.users.get(link.after, ())]
    moves = link.after.instruction.opcode in REARRANGEMENTS
    if moves or len(users) != 1 or users[0].instruction.opcode not in SAME_ORDER:
        return None
    read = (operand for operand, _ in search.after.graph.operands(link.after))
    several = any(operand in new and not operand.constant for operand in read)
    return users[0] if several and same_shape(search, link.before, users[0]) else None


def _new_dependencies(
    search: Search,
    node: Node,
    result: Node,
    new: Mapping[Node, object],
    halves: Mapping[Node, Collection[Node]],
) -> list[Node] | None:
    """Return the new nodes that a result depends on; None if they read anything unrelated."""
    operands = search.before.graph.operands(node)
    known = {node_after(search, operand) for operand, _ in operands}
    known |= {node_after(search, moved) for moved, path in _moved(search, operands) if not path}
    known.update(part for operand in written(node) for part in halves.get(operand, ()))
    sources = _joined(search, operands) if is_free(node) else ()
    joined = {now for now in (node_after(search, source) for source in sources) if now is not None}
    values = search.after.own_values if joined else {}
    again = {values.get(source) for source in joined if source in values}
    parts: dict[Node, None] = {result: None}
    waiting = [result]
    read: set[Node | None] = set()
    for part in waiting:
        for operand, _ in search.after.graph.operands(part):
            read.add(operand)
            if operand in parts or operand in known or _is_fill(operand):
                continue
            if operand in joined or values.get(operand) in again:
                continue
            if operand not in new and operand.instruction.opcode in DEVICE_IDS:
                continue  # it reads nothing: a pass may take the one that stands there
            if operand not in new and operand is not node.partner:
                return None
            parts[operand] = None
            waiting.append(operand)
        if len(waiting) > _MOST:
            return None
    if not all(_is_read(search, operand, read, halves) for operand in operands):
        return None
    own = [part for part in [*parts][1:] if not _is_beside(node, part, result)]
    return _read_by_themselves(search, result, [*own, *_constants(search, parts, new)])


def _is_read(
    search: Search,
    operand: NodeElement,
    read: Collection[Node | None],
    halves: Mapping[Node, object],
) -> bool:
    """Return whether what an old node read is read now, and was not computed once more."""
    moved, path = _behind(search, operand)
    if path or _is_fill(operand[0]) or moved in halves or operand[0] in halves:
        return True
    sources = (operand[0], moved, *_joined(search, [operand]))
    after = (node_after(search, source) for source in sources)
    return any(source is not None and source in read for source in after)


def _moved(search: Search, operands: Iterable[NodeElement]) -> Iterator[NodeElement]:
    """Yield what is behind the moves of operands."""
    return (_behind(search, operand) for operand in operands)


def _joined(search: Search, operands: Iterable[NodeElement]) -> Iterator[Node]:
    """Yield the continued nodes of which operands were put together, by what is gone."""
    waiting = [node for node, path in operands if not path and is_free(node)]
    for node in waiting:
        if not is_free(node):
            yield node
        elif node.instruction.opcode in _JOINING and len(waiting) < _MOST_JOINED:
            sources = search.before.graph.operands(node)
            waiting += [source for source, path in sources if not path]


def _is_fill(node: Node) -> bool:
    """Return whether a node is made of constants alone, such as a fill that the step kept."""
    line = node.instruction
    if node.constant or line.opcode in {"constant", "iota"}:
        return True
    source = node.frame.computation.operand(line) if line.opcode == "broadcast" else None
    return source is not None and source.opcode == "constant"


def _behind(search: Search, operand: NodeElement) -> NodeElement:
    """Return what is behind moves, and behind unpaired marks and casts of the same bits."""
    for _ in range(_MOST_CASTS):
        node, path = operand = behind(search.before.graph, operand, REARRANGEMENTS)
        operands = search.before.graph.operands(node)
        cast = node.instruction.opcode == _CAST or is_mark(node.instruction)
        if path or not (is_free(node) and cast and len(operands) == 1):
            break
        operand = operands[0]
    return operand


def _read_by_themselves(search: Search, result: Node, parts: Sequence[Node]) -> list[Node]:
    """Return the parts whose every user is the result or such a part; others serve more."""
    own = {result, *parts}
    waiting = [*parts]
    for part in waiting:
        users = (user for user, _ in search.after.users.get(part, ()) if _is_reader(user, part))
        if part in own and any(user not in own for user in users):
            own.discard(part)
            waiting += [operand for operand, _ in search.after.graph.operands(part)]
    return [part for part in parts if part in own]


def _is_reader(user: Node, part: Node) -> bool:
    """Return whether a user does more than hand a part on, as an opened fusion does."""
    result = opened_root(user)
    if result is not None:
        return is_root(user) and result is part
    return user.instruction.opcode not in BOUNDARIES or is_root(user)


def _is_beside(node: Node, part: Node, result: Node) -> bool:
    """Return whether another pass put a part there: the partitioner, or one that schedules.

    What works element by element is not expanded into communication between devices, nothing into
    copies to another memory.
    """
    line = part.instruction
    if _is_brought(part):
        return True
    sends = family_of(line) == _COLLECTIVE or is_start(part) or is_done(part)
    alone = sends and node.instruction.opcode in _ELEMENTWISE
    return alone or _is_of_another_op(part, result)


def _is_brought(node: Node) -> bool:
    """Return whether a node is of a copy to another memory that runs meanwhile."""
    return node.instruction.opcode in _BRINGING or target_of(node) == JOIN


_BRINGING = frozenset({"copy-done", "copy-start", "slice-done", "slice-start"})
_COLLECTIVE = "collective"
_ELEMENTWISE = opcode_work().by_element


def _is_of_another_op(part: Node, result: Node) -> bool:
    """Return whether a part combines partial results of an op that the result only reads."""
    if part.instruction.opcode not in REDUCING_COLLECTIVES:
        return False
    names = part.instruction.metadata.op_name, result.instruction.metadata.op_name
    return all(names) and names[0] != names[1]


def _constants(
    search: Search, parts: Mapping[Node, object], new: Mapping[Node, object]
) -> Iterator[Node]:
    """Yield new constant nodes that the nodes of an expansion read, directly or indirectly."""
    seen: set[Node] = set()
    waiting = [*parts]
    for part in waiting:
        for operand, _ in search.after.graph.operands(part):
            if operand in new and operand not in parts and operand not in seen:
                seen.add(operand)
                waiting.append(operand)
                yield operand
