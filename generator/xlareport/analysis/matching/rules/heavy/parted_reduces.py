"""A rule for reduces of a concatenation that became reduces of its operands, combined."""

from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.matching.rules.heavy.products import reducer
from xlareport.analysis.matching.search.nodes import is_free, node_after
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade

_REASON = "reduces of the operands of %{name}, combined"


def parted_reduces(search: Search) -> None:
    """Pair a reduce of a concatenation with the reduces of its operands and what combines them."""
    parted = [
        (node, joined)
        for node in search.before.open()
        if node.instruction.opcode == "reduce"
        and (joined := _first_concatenate(search.before, node))
    ]
    parts = _reduces_by_value(search.after) if parted else {}
    for node, joined in parted:
        reduces = _of_operands(search, node, joined, parts)
        if len(reduces) > 1:
            first, *others = reduces
            reason = _REASON.format(name=joined.instruction.name)
            if search.link(node, first, Grade.MATCHED, reason):
                for further in (*others, *_combining(search.after, reduces)):
                    search.extend(node, further)


def _first_concatenate(side: Side, node: Node) -> Node | None:
    """Return the concatenate that a node reads first; None if it reads anything else."""
    read = next(iter(side.graph.operands(node)), None)
    is_joined = read is not None and read[0].instruction.opcode == "concatenate"
    return read[0] if read is not None and is_joined else None


_Parts = Mapping[tuple[NodeElement, str], Node]
"""The free new reduces by what they reduce, and by which opcode."""


def _reduces_by_value(side: Side) -> _Parts:
    reduces = (node for node in side.open() if node.instruction.opcode == "reduce")
    return {(side.graph.operands(node)[0], reducer(side, node)): node for node in reduces}


def _of_operands(search: Search, node: Node, joined: Node, parts: _Parts) -> Sequence[Node]:
    """Return the new reduce of each operand of a concatenate; empty if one has none."""
    opcode = reducer(search.before, node)
    reduces = []
    for operand, path in search.before.graph.operands(joined):
        source = node_after(search, operand)
        part = parts.get(((source, path), opcode)) if source is not None else None
        if part is None or not is_free(part) or part in reduces:
            return ()
        reduces.append(part)
    return reduces


def _combining(side: Side, reduces: Sequence[Node]) -> Iterator[Node]:
    """Yield the free nodes that only combine the results of reduces, and of one another."""
    known = {*reduces}
    pending = [*reduces]
    for node in pending:
        for user, _ in side.users.get(node, ()):
            operands = {operand for operand, _ in side.graph.operands(user)}
            if is_free(user) and user not in known and len(operands) > 1 and operands <= known:
                known.add(user)
                pending.append(user)
                yield user
