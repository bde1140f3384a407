"""A rule for the operands of a concatenate that is a maximum of pads now.

What is padded for a place in the result is the counterpart of the operand that was there.
"""

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.pad_joins import find_pad_joins, part_sizes
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key


def padded_parts(search: Search) -> None:
    """Pair what a concatenate read with what is padded to its places, if no other has its sizes."""
    former = group_by_key(
        (part_sizes(node), node)
        for node in search.before.open()
        if node.instruction.opcode == "concatenate"
    )
    former.pop(None, None)
    joins = group_by_key((join.sizes, join) for join in find_pad_joins(search.after) if former)
    for sizes, alike in joins.items():
        known = former.get(sizes, ())
        if len(known) != 1 or len({join.sources for join in alike}) != 1:
            continue
        read = search.before.graph.operands(known[0])
        reason = f"padded to its place in %{known[0].instruction.name}"
        for (node, path), (other, element) in zip(read, alike[0].sources, strict=False):
            alone = not path and not element and is_free(node) and is_free(other)
            if alone and node.instruction.opcode == other.instruction.opcode:
                search.link(node, other, Grade.MATCHED, reason)
