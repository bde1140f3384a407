"""Converts that changed places with moves: one step tells all of them as moves of the converts.

Whether a convert or a transpose beside it moved is the same to the values. Where some converts are
known to have moved, and nothing else was passed by moves, all of them moved.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS

_CONVERT = "convert"
_LONGEST = 8


def moved_converts(search: Search) -> None:
    """Let converts be what moved, not the moves beside them, where others are known to move."""
    if not any(_is_convert(link.before) and _has_moved(link) for link in search.links):
        return
    swapped = [link for link in search.links if link.relation is Relation.SWAPPED]
    moves = [link for link in swapped if not _is_convert(link.before)]
    passed = [_passed_convert(link) for link in moves]
    if not all(convert is not None and _pairs_converts(convert) for convert in passed):
        return
    links = {link.before: link for link in search.links}
    for link, convert in zip(moves, passed, strict=True):
        if convert is not None and convert in links:
            _turn(search, link, links[convert])


def _has_moved(link: NodePair) -> bool:
    """Return whether a link is of what moved, also as one for each operand, or as one for all."""
    in_pieces = link.relation in (Relation.COMBINED, Relation.SPLIT)
    return link.relation is Relation.SWAPPED or (in_pieces and isinstance(link.reason, Past))


def _turn(search: Search, link: NodePair, convert: NodePair) -> None:
    """Let a convert have passed a move of which it was told that it passed the convert."""
    first = _beside(search.before, convert.before, link.before)
    if first is None:
        return
    name = convert.after.instruction.name
    is_behind = convert.before in _moved(search.before, link.before)
    order = "is behind it now, and was before it" if is_behind else "is before it, and was behind"
    link.relation, link.reason = Relation.SAME, f"%{name} {order}"
    convert.relation, convert.reason = Relation.SWAPPED, Past(first.instruction.name)


def _beside(side: Side, convert: Node, move: Node) -> Node | None:
    """Return the move next to a convert on the way from a move to it, or from it to a move."""
    moved = [*_moved(side, move)]
    if convert in moved:
        return ([move, *moved])[moved.index(convert)]
    return next((read for read in _moved(side, convert) if read is not convert), None)


def _moved(side: Side, node: Node) -> Iterator[Node]:
    """Yield what a move reads, and what that reads while it is a move."""
    for _ in range(_LONGEST):
        operands = side.graph.operands(node)
        if len(operands) != 1 or operands[0][1]:
            return
        node = operands[0][0]
        yield node
        if node.instruction.opcode not in REARRANGEMENTS:
            return


def _passed_convert(link: NodePair) -> Node | None:
    """Return the convert that a rearrangement passed; None if that, or what moved, is another."""
    reason, home = link.reason, link.before.frame
    if not isinstance(reason, Past) or link.before.instruction.opcode not in REARRANGEMENTS:
        return None
    line = home.computation.by_name.get(reason.instruction)
    return None if line is None or line.opcode != _CONVERT else home.node(line)


def _pairs_converts(convert: Node) -> bool:
    """Return whether the counterpart of a convert is one too."""
    return convert.partner is not None and _is_convert(convert.partner)


def _is_convert(node: Node) -> bool:
    return node.instruction.opcode == _CONVERT
