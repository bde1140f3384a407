"""A rule for what a compilation adds to the result of a product: work of its op_name and stack.

A split dot is summed and converted back, and one of several merged dots is cut out of the result.
XLA gives the sum, the convert and the slice the metadata of the dot.
"""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.rules.shares import place_key
from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.work_pairs import MOVES, spans_partitioned_compilation
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Node, opcode_of
from xlareport.runtime.grouping import group_by_key

_ADDED = frozenset({"convert", "reduce", "slice"})
_MOST = 100
"""Limit on the nodes that are looked at for the result of one."""


def own_results(search: Search) -> None:
    """Add to the pairing of a product the new sums, converts and slices of its op_name and stack.

    They read its new node, behind moves. A slice is of one of several merged dots, so no other has
    the op_name and stack; the partitioner cuts what neighbors need out of convolutions.
    """
    modules = search.before.graph.module, search.after.graph.module
    if not spans_partitioned_compilation(*modules):
        return
    products = filter(_is_product, search.before.values.order)
    alone = {
        key
        for key, nodes in group_by_key((place_key(node), node) for node in products).items()
        if len(nodes) == 1
    }
    for link in list(search.links):
        key = place_key(link.after)
        if _is_product(link.before) and key is not link.after:
            may_be_merged = key in alone and opcode_of(link.before) == "dot"
            opcodes = _ADDED if may_be_merged else _ADDED - {"slice"}
            for part in _results(search, link.after, key):
                if opcode_of(part) in opcodes:
                    search.extend(link.before, part)


def _is_product(node: Node) -> bool:
    return family_of(node.instruction) == "product"


def _results(search: Search, product: Node, key: Hashable) -> Iterator[Node]:
    """Yield the free nodes of a key that read a product, behind moves and each other.

    A convert alone is no part: the product has another type, and the convert gives the old one.
    """
    seen, behind = [product], set[Node]()
    for read in seen:
        for user in dict.fromkeys(user for user, _ in search.after.users.get(read, ())):
            is_own = opcode_of(user) in _ADDED and place_key(user) == key
            if not is_free(user) or user in seen or len(seen) > _MOST:
                continue
            if is_own or opcode_of(user) in MOVES:
                seen.append(user)
            if read in behind or (is_own and opcode_of(user) != "convert"):
                behind.add(user)
            if is_own and user in behind:
                yield user
