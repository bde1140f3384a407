"""Whether two fusions, or elements of two, are known to give other results."""

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, opened_results


def takes_of_another(search: Search, node: Node, other: Node) -> bool:
    """Return whether a new element is of a fusion that was there before, beside the old one's.

    A fusion pass gives a fusion further results: the elements of these are new, though one of
    another fusion may have the same framework op. Not so where the other fusion was taken in, and
    what read the old element reads the new one in its place.
    """
    if not node.element or not other.element or search.parted is not None:
        return False
    was, now = (known.frame.computation for known in (node, other))
    read, reads = was.operand(node.instruction), now.operand(other.instruction)
    if read is None or reads is None or read.name == reads.name or reads.opcode != "fusion":
        return False
    former = was.by_name.get(reads.name)
    before = former is not None and former.opcode == reads.opcode
    return before and _readers(node).isdisjoint(_readers(other))


def _readers(node: Node) -> set[tuple[str, int]]:
    """Return the names of the lines that read a node as written, and the first place in each."""
    name = node.instruction.name
    users = node.frame.computation.users.get(name, ())
    return {(user.name, [*user.operand_names].index(name)) for user in users}


def give_other_results(node: Node, other: Node) -> bool:
    """Return whether two fusions are known to give the results of other instructions.

    A fusion that another takes in is no longer its root, or one of its results, though both may be
    of one framework op.
    """
    old, new = opened_results(node), opened_results(other)
    known = [result.partner for result in new if result.partner is not None]
    if not old or not new or len(known) < len(new) or any(map(is_free, old)):
        return False
    return all(source.frame is not old[0].frame for source in known)
