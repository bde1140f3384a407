"""Converts and moves that changed places, and the values that are equal once a move has passed."""

from collections.abc import Hashable, Iterator, Mapping, Sequence

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES, REARRANGEMENTS
from xlareport.runtime.grouping import sole_pairs

_CONVERTS = frozenset({"convert", "negate"})


def crossed(
    search: Search,
    old: Sequence[Node],
    new: Sequence[Node],
    equal: Mapping[Node, Node] | None = None,
) -> Iterator[tuple[Node, Node]]:
    """Yield what stays of a convert and a move of one value that changed places.

    The convert, where the move is one that passes move; else the move. Each is the only one of its
    shape and value. With `equal`, the value is one of these instead.
    """
    for inside in (False, True):
        yield from sole_pairs(
            _converted(search, search.before, old, equal, inside=inside),
            _converted(search, search.after, new, equal, inside=not inside),
        )


def _converted(
    search: Search,
    side: Side,
    nodes: Sequence[Node],
    equal: Mapping[Node, Node] | None,
    *,
    inside: bool,
) -> Iterator[tuple[Hashable, Node]]:
    """Yield converts next to a move, or these moves, with opcodes, source and last shape.

    `inside` says that the move reads the convert.
    """
    for outer in nodes:
        inner = read_alone(side, outer)
        if inner is None or not is_free(inner):
            continue
        convert, move = (inner, outer) if inside else (outer, inner)
        if convert.instruction.opcode not in _CONVERTS or move.instruction.opcode not in MOVES:
            continue
        source = _source(side, inner, equal)
        if source:
            opcodes = convert.instruction.opcode, move.instruction.opcode
            shape = search.forms.shape(outer.instruction.shape)
            stays = convert if opcodes[1] in REARRANGEMENTS else move
            yield (*opcodes, source, shape), stays


def _source(side: Side, node: Node, equal: Mapping[Node, Node] | None) -> Hashable:
    """Return what stands for the value that a node reads on either side."""
    if equal is None:
        return tuple(side.values.read(node))
    read = read_alone(side, node)
    return frozenset({read, equal[read]}) if read is not None and read in equal else None


def equal_values(search: Search) -> dict[Node, Node]:
    """Return nodes of equal values that are no partners, by those on the other side.

    A move that is behind an instruction now made what that makes now, and the reverse.
    """
    equal: dict[Node, Node] = {}
    for link in search.links:
        if link.relation is Relation.SWAPPED:
            here, there = (search.before, link.before), (search.after, link.after)
            for (side, move), (other_side, moved) in ((here, there), (there, here)):
                passed = read_alone(side, move)
                other = None if passed is None else passed.partner
                if other is not None and _reads(other_side, other, moved):
                    equal |= {move: other, other: move}
    return equal


def read_alone(side: Side, node: Node) -> Node | None:
    """Return what a node reads, if that is a single array and no element of a tuple."""
    operands = side.graph.operands(node)
    return operands[0][0] if len(operands) == 1 and not operands[0][1] else None


def _reads(side: Side, reader: Node, move: Node) -> bool:
    return any(operand is move and not path for operand, path in side.graph.operands(reader))
