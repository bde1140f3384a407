"""A rule for originals that clones took the work of, and that a pass left under longer names."""

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.knowledge.grades import Grade

_REASON = "the same expression, under its name with a number behind it"


def left_behind(search: Search) -> None:
    """Pair what is left without users in its computation with its original, not with a clone.

    A pass clones it into fusions; dumps number all names anew, so that the name does not stay.
    """
    left = {
        (node.frame.number, node.token): node
        for node in search.after.open()
        if node.instruction.name in dead_names(node.frame.computation)
    }
    for link in list(search.links) if left else ():
        itself = left.get((link.before.frame.number, link.before.token))
        if itself is not None and is_free(itself) and _is_of_clone(search, link, itself):
            search.unlink([link])
            search.link(link.before, itself, Grade.EXACT, _REASON)


def _is_of_clone(search: Search, link: NodePair, itself: Node) -> bool:
    """Return whether a link is of an original that lost its name, and of its clone elsewhere."""
    name, homes = link.before.instruction.name, (link.after.frame, itself.frame)
    if link.relation is not Relation.SAME or link.before in search.further:
        return False
    stays = name in itself.frame.computation.by_name
    elsewhere = homes[0].computation is not homes[1].computation
    return link.equal and elsewhere and not stays and itself.instruction.name.startswith(f"{name}.")
