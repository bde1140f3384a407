"""Rules for what a pass left without users: originals under longer names, and moved work."""

from collections.abc import Hashable, Iterable, Iterator

from xlareport.analysis.matching.search.nodes import (
    is_free,
    node_after,
    operand_pairs,
    origin,
    read_at,
    same_type,
)
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import OfCopy, Past
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.leftovers import is_dead
from xlareport.analysis.matching.sides.parameters import is_part
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import sole_pairs

_CONVERT = "convert"
_REASON = "the same expression, under its name with a number behind it"


def left_behind(search: Search) -> None:
    """Pair what is left without users in its computation with its original, not with a clone.

    A pass clones it into fusions; dumps number all names anew, so that the name does not stay.
    """
    left = {(node.frame.number, node.token): node for node in _dead(search.after)}
    for link in list(search.links) if left else ():
        itself = left.get((link.before.frame.number, link.before.token))
        if itself is not None and is_free(itself) and _is_of_clone(search, link, itself):
            search.unlink([link])
            search.link(link.before, itself, Grade.EXACT, _REASON)


def unread_shares(search: Search) -> None:
    """Pair what the SPMD partitioner divided with its share, though what read it reads another."""
    dead = [*_dead(search.after)] if search.divided else ()
    if not dead:
        return
    search.evaluate()
    old, new = _keyed(search.before, search.before.open()), _keyed(search.after, dead)
    for node, other in sole_pairs(old, new):
        if is_part(node.instruction.shape, other.instruction.shape):
            reason = "the share of its result, which nothing reads"
            search.link(node, other, Grade.MATCHED, reason, unread=True)
            for read, now in operand_pairs(search, node, other):
                if is_free(read) and is_free(now):
                    search.link(read, now, Grade.MATCHED, "what it reads", unread=True)


def unread_reshapes(search: Search) -> None:
    """Note what reads a new layout instead of a reshape as its copy: a copy with a bitcast."""
    if not any(node.instruction.opcode == "copy" for node in search.after.open()):
        return
    for link in list(search.links):
        for read, now in operand_pairs(search, link.before, link.after):
            if read.instruction.opcode == "reshape" and not is_free(read) and is_free(now):
                _note_copy(search, read, now)


def _note_copy(search: Search, reshape: Node, now: Node) -> None:
    behind = read_at(search.after, now, 0)
    pair = [node for node in (now, behind) if node is not None and is_free(node)]
    if behind is None or {node.instruction.opcode for node in pair} != {"bitcast", "copy"}:
        return
    source, reads = read_at(search.before, reshape, 0), read_at(search.after, behind, 0)
    same = source is not None and reads is not None and node_after(search, source) is reads
    itself = node_after(search, reshape)
    same = same and itself is not None and is_dead(itself)
    if same and now.instruction.shape.dimensions == reshape.instruction.shape.dimensions:
        copy = next(node for node in pair if node.instruction.opcode == "copy")
        search.copies.setdefault(now, (reshape, OfCopy(copy.instruction.name)))


def unread_converts(search: Search) -> None:
    """Note a convert before data movement as moved, where the convert behind it is left unread.

    Sending the narrower values needs another collective, which takes the place of the convert.
    """
    if not any(node.instruction.opcode == _CONVERT for node in search.after.open()):
        return
    for link in list(search.links):
        for read, now in operand_pairs(search, link.before, link.after):
            if read.instruction.opcode == _CONVERT and not is_free(read) and not now.kept:
                _note_convert(search, read, now)


def _note_convert(search: Search, read: Node, now: Node) -> None:
    passed, convert = read_at(search.before, read, 0), read_at(search.after, now, 0)
    itself = node_after(search, read)
    if passed is None or convert is None or itself is None or not is_dead(itself):
        return
    if passed.instruction.opcode != now.instruction.opcode or not is_free(convert):
        return
    source, reads = read_at(search.before, passed, 0), read_at(search.after, convert, 0)
    same = source is not None and node_after(search, source) is reads
    is_convert = convert.instruction.opcode == _CONVERT and same_type(convert, read)
    if same and is_convert and passed.instruction.opcode not in BOUNDARIES:
        search.copies.setdefault(convert, (read, Past(passed.instruction.name, of_copy=True)))


def _keyed(side: Side, nodes: Iterable[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield nodes with operands, each with its place, its operation and the values it reads."""
    for node in nodes:
        line, read = node.instruction, tuple(side.values.read(node))
        if read:
            yield (node.frame.number, line.opcode, origin(node), *read), node


def _dead(side: Side) -> Iterator[Node]:
    """Yield the nodes without a partner on which no result depends."""
    return (node for node in side.open() if is_dead(node))


def _is_of_clone(search: Search, link: NodePair, itself: Node) -> bool:
    """Return whether a link is of an original that lost its name, and of its clone elsewhere."""
    name, homes = link.before.instruction.name, (link.after.frame, itself.frame)
    if link.relation is not Relation.SAME or link.before in search.further:
        return False
    stays = name in itself.frame.computation.by_name
    elsewhere = homes[0].computation is not homes[1].computation
    return link.equal and elsewhere and not stays and itself.instruction.name.startswith(f"{name}.")
