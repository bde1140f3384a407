"""A rule for what a compilation adds to the result of a product: work of its op_name and stack.

A dot that is split along its contracting dimension is summed afterwards, and converted back. XLA
gives the sum and the convert the metadata of the dot.
"""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.rules.shares import place_key
from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.work_pairs import MOVES, spans_partitioned_compilation
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Node, opcode_of

_ADDED = frozenset({"convert", "reduce"})
_MOST = 100
"""Limit on the nodes that are looked at for the result of one."""


def own_results(search: Search) -> None:
    """Add to the pairing of a product the new sums of its op_name and stack that read its new node.

    Moves between them are seen through, and converts of the sums are added as well.
    """
    modules = search.before.graph.module, search.after.graph.module
    if not spans_partitioned_compilation(*modules):
        return
    for link in list(search.links):
        key = place_key(link.after)
        if family_of(link.before.instruction) == "product" and key is not link.after:
            for part in _results(search, link.after, key):
                search.extend(link.before, part)


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
