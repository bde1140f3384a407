"""A rule for conditionals that became selects in a fusion, or behind other rewrites.

XLA computes both branches and selects by the predicate where that costs little. What it fuses and
simplifies then has no value that tells the select; its predicate and framework op do.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.rules.spreading import neighbors
from xlareport.analysis.matching.search.nodes import is_free, node_before, origin, read_at
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_BRANCHES = 2
_COMPARING = frozenset({"compare", "convert"})
"""Opcodes that make a predicate of the index of a branch."""
_MOST_MOVES = 4
_MOVES = frozenset({"bitcast", "broadcast", "copy", "reshape"})
"""Opcodes between a predicate and the select that it is repeated for."""


def selected(search: Search) -> None:
    """Pair a former conditional with the selects by its predicate that give its results."""
    holders = [node for node in search.before.open() if _has_branches(node) and is_free(node)]
    holders = [node for node in holders if node not in search.inlined]
    if not holders:
        return
    search.evaluate()
    count = len(search.links)
    by_predicate = group_by_key(_predicates(search))
    for holder in holders:
        predicate = read_at(search.before, holder, 0)
        selects = by_predicate.get(predicate, ()) if predicate is not None else ()
        free = list(filter(is_free, selects))
        known = [node for node in free if _is_of(search, node, holder)] or _unnamed(holder, free)
        if known and _are_results(holder, known):
            search.inlined[holder] = known
            search.selected[holder] = len(known)
            _pair_results(search, holder, known)
    if len(search.links) > count:
        neighbors(search)


def _unnamed(holder: Node, selects: list[Node]) -> list[Node]:
    """Return the selects by a predicate if they are as many as the results, and of no op."""
    alike = len(selects) == len(holder.instruction.shape.members)
    return selects if alike and not any(map(origin, selects)) else []


def _pair_results(search: Search, holder: Node, selects: list[Node]) -> None:
    """Pair what both branches give for an only result with what the select chooses from."""
    if len(selects) != 1:
        return
    branches = dict(holder.instruction.called)
    for position, name in enumerate(_BRANCH_ATTRIBUTES, 1):
        given = _result(search.before, branches.get(name, ""))
        chosen = read_at(search.after, selects[0], position)
        if given is not None and chosen is not None and is_free(given) and is_free(chosen):
            reason = f"what a branch of %{holder.instruction.name} gives"
            search.link(given, chosen, Grade.MATCHED, reason)


_BRANCH_ATTRIBUTES = ("true_computation", "false_computation")


def _result(side: Side, name: str) -> Node | None:
    """Return what computes the only result of a computation, behind moves; None of several."""
    computation = side.graph.module.by_name.get(name)
    root = None if computation is None else computation.root
    if computation is None or root is None or root.opcode != "tuple" or len(root.operands) != 1:
        return None
    element = side.graph.resolve(side.graph.home(computation), root.operands[0])
    return None if element is None or element[1] else _behind_moves(side, element[0])


def _has_branches(node: Node) -> bool:
    """Return whether a node is a conditional of two branches."""
    line = node.instruction
    return line.opcode == "conditional" and len(line.called) == _BRANCHES


def _predicates(search: Search) -> Iterator[tuple[Node | None, Node]]:
    """Yield the new selects with the old node that the predicate continues, or compares."""
    for node in search.after.open():
        if node.instruction.opcode != "select":
            continue
        predicate = _behind_moves(search.after, read_at(search.after, node, 0))
        if predicate is None:
            continue
        compared = read_at(search.after, predicate, 0)
        yield node_before(search, predicate), node
        if compared is not None and predicate.instruction.opcode in _COMPARING:
            yield node_before(search, compared), node


def _behind_moves(side: Side, node: Node | None) -> Node | None:
    for _ in range(_MOST_MOVES):
        if node is None or node.instruction.opcode not in _MOVES:
            break
        node = read_at(side, node, 0)
    return node


def _is_of(search: Search, node: Node, holder: Node) -> bool:
    """Return whether a select has the framework op of a conditional, or reads its branches."""
    if origin(node) and origin(node) == origin(holder):
        return True
    names = [name for _, name in holder.instruction.called]
    read = [node_before(search, known) for known, _ in search.after.graph.operands(node)[1:]]
    homes = [known.frame.computation.name for known in read if known is not None]
    return sorted(homes) == sorted(names)


def _are_results(holder: Node, selects: list[Node]) -> bool:
    """Return whether selects have the shapes of results of a conditional, no more of any shape."""
    shape = holder.instruction.shape
    left = [(part.element_type, part.dimensions) for part in shape.members]
    for node in selects:
        known = node.instruction.shape.element_type, node.instruction.shape.dimensions
        if known not in left:
            return False
        left.remove(known)
    return True
