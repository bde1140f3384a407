"""Rules for two programs: arguments by their labels, instructions by their framework ops."""

from collections.abc import Hashable

from xlareport.analysis.matching.search.alike import pairs_in_order
from xlareport.analysis.matching.search.nodes import origin
from xlareport.analysis.matching.search.provenance import labels_of
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key, sole_pairs


def labeled_arguments(search: Search) -> None:
    """Pair the arguments of the modules by the framework's labels, not by numbers."""
    search.evaluate()
    sides = search.before, search.after
    labels = [labels_of(side.graph.module) for side in sides]
    arguments = [_arguments(side) for side in sides]
    for label, number in labels[0].items():
        other = labels[1].get(label)
        if other is not None and number < len(arguments[0]) and other < len(arguments[1]):
            before, after = arguments[0][number], arguments[1][other]
            search.link(before, after, Grade.EXACT, "the argument of the same label")


def _arguments(side: Side) -> list[Node]:
    entry = side.graph.module.entry
    home = None if entry is None else side.homes.get(entry.name)
    return [home.node(line) for line in entry.parameters] if entry and home else []


def same_op(search: Search) -> None:
    """Pair nodes that alone have their framework op, opcode and shape on both sides."""
    _pair_groups(search, 1, Grade.MATCHED, "the only one of its framework op and shape")


def same_op_in_order(search: Search) -> None:
    """Pair nodes in order if both sides have as many of one framework op, opcode and shape."""
    _pair_groups(search, None, Grade.GUESSED, "one of as many of its framework op, in order")


def _pair_groups(search: Search, count: int | None, grade: Grade, reason: str) -> None:
    ours, theirs = (
        group_by_key((_op_of(search, node), node) for node in side.open())
        for side in (search.before, search.after)
    )
    for key, nodes in ours.items():
        others = theirs.get(key, ())
        if key is None or len(nodes) != len(others) or len(nodes) != (count or len(nodes)):
            continue
        for node, other in pairs_in_order(search, nodes, others):
            search.link(node, other, grade, reason)


def _op_of(search: Search, node: Node) -> Hashable:
    """Return framework op, opcode and shape; None for instructions without a program op."""
    form, op_name = search.forms.of(node.instruction), origin(node)
    function, slash, path = op_name.partition("/")
    if not slash or form.opcode == "parameter":
        return None
    return path if function.startswith("jit(") else op_name, form.opcode, form.shape


def same_value_elsewhere(search: Search) -> None:
    """Pair nodes that alone compute an expression of the same values, in any scope."""
    search.evaluate()
    ours, theirs = (
        [(node.token, node) for node in side.open() if not node.constant]
        for side in (search.before, search.after)
    )
    for node, other in sole_pairs(ours, theirs):
        reason = "the same expression over the same values, in another scope"
        search.link(node, other, Grade.MATCHED, reason, anywhere=True)
