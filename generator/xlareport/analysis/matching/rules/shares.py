"""Rules for work that is divided: the SPMD partitioner's, and marks of how it is to be.

A device gathers, exchanges or slices the shares of its operands, so that the operation is neither
the user of their counterparts nor of the same shape.
"""

from collections.abc import Callable, Hashable

from xlareport.analysis.matching.rules.sources import COLLECTIVE, sent_from
from xlareport.analysis.matching.search.nodes import (
    has_same_origin,
    is_free,
    node_after,
    origin,
    read_at,
    sharding,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.families import family_of, is_mark
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.parameters import is_part
from xlareport.analysis.matching.sides.stacks import stack_of
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_PASSING = REARRANGEMENTS | {"dynamic-slice"}
_MOST_ALIKE = 64
"""Operations of one framework op and opcode that are compared with each other."""
_NO_WORK = frozenset({"get-tuple-element", "parameter", "tuple"})


def shared_work(search: Search) -> None:
    """Pair operations with the only one of their framework op that has the same operands."""
    if not search.divided:
        return
    after = group_by_key((_operation(node), node) for node in search.after.open())
    for key, ours in group_by_key(
        (_operation(node), node) for node in search.before.open()
    ).items():
        theirs = after.get(key, ())
        if key is None or not 0 < len(ours) * len(theirs) <= _MOST_ALIKE**2:
            continue
        for node in ours:
            fits = [other for other in theirs if _is_share(search, node, other)]
            if len(fits) == 1 and not _is_claimed(search, node, fits[0], ours):
                reason = "the same operation, with operands behind collectives or slices"
                search.link(node, fits[0], Grade.MATCHED, reason)


def constraints(search: Search) -> None:
    """Pair sharding constraints with the only copy of their operand and of their framework op."""
    ours = group_by_key((_origin_of_mark(node), node) for node in search.before.open())
    if not ours.keys() - {None}:
        return
    theirs = group_by_key((_origin_of_copy(node), node) for node in search.after.open())
    for key, marks in ours.items():
        copies = theirs.get(key, ()) if key is not None else ()
        for mark in marks if 0 < len(marks) * len(copies) <= _MOST_ALIKE**2 else ():
            read = node_after(search, search.before.graph.operands(mark)[0][0])
            fits = [copy for copy in copies if read_at(search.after, copy, 0) is read is not None]
            if len(fits) == 1 and is_free(fits[0]):
                reason = "a copy of what the sharding constraint marked"
                search.link(mark, fits[0], Grade.MATCHED, reason)


def is_resharding(search: Search, node: Node, other: Node) -> bool:
    """Return whether a new move only prepares a change of sharding, and the old one's is left.

    The SPMD partitioner changes it by a move without a sharding and a collective. What the old move
    became reads what was sent, and has its sharding.
    """
    opcode = node.instruction.opcode
    if not search.divided or opcode not in REARRANGEMENTS or not sharding(node) or sharding(other):
        return False
    families = {family_of(user.instruction) for user, _ in search.after.users.get(other, ())}
    return families == {COLLECTIVE} and any(
        sharding(known) == sharding(node) and is_free(known) and has_same_origin(node, known)
        for known in other.frame.nodes.values()
    )


def _origin_of_mark(node: Node) -> Hashable:
    """Return the framework op of a sharding constraint; None of anything else."""
    line = node.instruction
    return (origin(node) or None) if is_mark(line) and len(line.operands) == 1 else None


def _origin_of_copy(node: Node) -> Hashable:
    return (origin(node) or None) if node.instruction.opcode == "copy" else None


def _operation(node: Node) -> Hashable:
    opcode, message = node.instruction.opcode, origin(node)
    if not message or opcode in _NO_WORK or not node.instruction.operands:
        return None
    return opcode, message


def _is_claimed(search: Search, node: Node, other: Node, alike: list[Node]) -> bool:
    """Return whether a new operation may be the share of another old one too."""
    return any(_is_share(search, rival, other) for rival in alike if rival is not node)


def _is_share(search: Search, node: Node, other: Node) -> bool:
    """Return whether two operations read the same values, and one may be a share of the other."""
    if not (is_free(node) and is_free(other)) or not may_be_share(node, other):
        return False
    ours, theirs = search.before.graph.operands(node), search.after.graph.operands(other)
    if len(ours) != len(theirs):
        return False
    places = list(zip(ours, theirs, strict=True))
    known = [(node_after(search, operand), read) for (operand, _), read in places]
    paired = [(partner, read) for partner, read in known if partner is not None]
    return bool(paired) and all(
        partner in sent_from(search.after, read, _PASSING) for partner, read in paired
    )


def may_be_share(node: Node, other: Node) -> bool:
    """Return whether the result of a node may be a device's share of that of another."""
    whole, part = node.instruction.shape, other.instruction.shape
    return whole.element_type == part.element_type and is_part(whole, part)


def place_keys(search: Search) -> tuple[Callable[[Node], Hashable], ...]:
    """Return what tells work of one op_name apart where it is divided; nothing elsewhere.

    The slices of a padded array have one op_name, and each is made at another place.
    """
    return (stack_key,) if search.divided and search.parted is None else ()


def stack_key(node: Node) -> Hashable:
    """Return a node's opcode, framework op and Python stack; the node if one is not known."""
    place = place_key(node)
    return node if place is node else (node.instruction.opcode, place)


def place_key(node: Node) -> Hashable:
    """Return a node's framework op and Python stack; the node if one is not known."""
    op_name, stack = origin(node), stack_of(node)
    return (op_name, stack) if op_name and stack else node
