"""The instruction that computes the value of a removed one now."""

from xlareport.analysis.matching.account.loop_starts import LoopStarts
from xlareport.analysis.matching.search.nodes import same_leaf
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node


def twin_after(search: Search, node: Node, starts: LoopStarts) -> Node | None:
    """Return the new instruction that computes the same value as an old node."""
    if node.partner is not None:
        return None
    leaf = node.constant
    if leaf:
        read = same_leaf(search.before, search.after, node) or starts.equal_start(node)
        if read is not None:
            return read
    link = search.by_token_in_frame.get((node.token, node.frame.number))
    if link is not None:
        return link.after
    values = search.before.values
    kept = values.kept_twin(node) or values.kept_call(node)
    if kept is not None and kept.frame is node.frame:
        return search.itself_after(kept)
    link = None if leaf else search.by_token.get(node.token)
    if link is not None:
        return link.after
    return None if kept is None or leaf else search.itself_after(kept)
