"""A rule for work of one opcode, one op_name and one Python stack, which nothing else has.

A compilation rewrites what stands around an operation, and keeps where the program made it.
"""

from collections.abc import Hashable, Sequence

from xlareport.analysis.matching.rules.shares import stack_key
from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.work_pairs import MOVES
from xlareport.analysis.matching.sides.graph import Node, opcode_of
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade
from xlareport.knowledge.opcodes import opcode_work
from xlareport.runtime.grouping import group_by_key

_ELEMENTWISE = opcode_work().by_element
_REASON = "the only work of its opcode, op_name and Python stack"
_COPY = "a further copy, of one opcode, op_name and Python stack"
_READ_ALIKE = "what reads it reads one of its opcode, op_name and Python stack"


def same_stacks(search: Search) -> None:
    """Pair work that alone has its opcode, op_name and stack; note more of it as copies.

    Only of elementwise work copies are noted: other work may have been expanded.
    """
    new = _by_stack(search.after)
    for key, ours in _by_stack(search.before).items():
        theirs = [node for node in new.get(key, ()) if is_free(node)]
        if len(ours) != 1 or not theirs:
            continue
        old, *_ = ours
        if is_free(old) and len(theirs) == 1 and len(new[key]) == 1:
            search.link(old, theirs[0], Grade.MATCHED, _REASON)
        elif opcode_of(old) in _ELEMENTWISE:
            _note_copies(search, old, theirs)


def _note_copies(search: Search, old: Node, nodes: Sequence[Node]) -> None:
    if is_free(old) and search.link(old, nodes[0], Grade.MATCHED, _REASON):
        nodes = nodes[1:]
    for node in nodes:
        search.copies.setdefault(node, (old, _COPY))


def read_alike(search: Search) -> None:
    """Pair work, or note it as a copy, by the only work of its stack that its users read before.

    A user that is a copy itself counts as its original, so chains of copies are followed.
    """
    for node in reversed(search.after.values.order):
        if not (is_free(node) and _is_work(node)) or node in search.copies:
            continue
        olds = _read_before(search, node, stack_key(node))
        old = olds.pop() if len(olds) == 1 else None
        if old is not None and is_free(old):
            search.link(old, node, Grade.MATCHED, _READ_ALIKE)
        elif old is not None and opcode_of(old) in _ELEMENTWISE:
            search.copies[node] = old, _READ_ALIKE


def _read_before(search: Search, node: Node, key: Hashable) -> set[Node]:
    """Return the work of a key that the originals of a new node's users read."""
    users = (user for user, _ in search.after.users.get(node, ()))
    copied = search.copies
    originals = (user.partner or copied.get(user, (None, _COPY))[0] for user in users)
    return {
        read
        for original in originals
        if original is not None
        for read, _ in search.before.graph.operands(original)
        if _is_work(read) and stack_key(read) == key
    }


def _by_stack(side: Side) -> dict[Hashable, list[Node]]:
    counted = (node for node in side.values.order if _is_work(node))
    return group_by_key((stack_key(node), node) for node in counted)


def _is_work(node: Node) -> bool:
    line = node.instruction
    return bool(line.operands) and not node.constant and line.opcode not in MOVES
