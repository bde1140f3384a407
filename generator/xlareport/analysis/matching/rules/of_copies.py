"""A rule for operations on copies: what a fusion that took in copies of operands does with them."""

from collections.abc import Hashable, Mapping

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_REASON = "the same expression over copies of the values that it read"


def of_copies(search: Search) -> None:
    """Pair what reads copies of what the counterpart reads, by the values of the originals."""
    old = group_by_key((_form(search, node), node) for node in search.before.open() if node.inputs)
    new = [node for node in search.after.open() if node.inputs and _form(search, node) in old]
    if not new:
        return
    search.evaluate()
    originals = _originals(search)
    waiting = group_by_key((node.token, node) for nodes in old.values() for node in nodes)
    own = search.after.own_values
    for node in new:
        operands = search.after.graph.operands(node)
        read = [
            search.after.value_of((operand, path))
            if path
            else originals.get(own.get(operand), operand.token)
            for operand, path in operands
        ]
        token = search.after.values.find(node, read)
        for former in waiting.get(token, ()) if token is not None else ():
            if is_free(former) and is_free(node) and not former.constant:
                search.link(former, node, Grade.MATCHED, _REASON)
                originals.setdefault(own.get(node), node.token)


def _form(search: Search, node: Node) -> Hashable:
    form = search.forms.of(node.instruction)
    return form.opcode, form.shape


def _originals(search: Search) -> dict[Hashable, int]:
    """Return the value numbers of paired nodes, by the values that the new module alone gives."""
    own: Mapping[Node, Hashable] = search.after.own_values
    values: dict[Hashable, int] = {}
    for link in search.links:
        values.setdefault(own.get(link.after), link.after.token)
    values.pop(None, None)
    return values
