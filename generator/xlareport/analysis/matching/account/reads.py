"""What the counterpart of a user reads in the place of a removed instruction."""

from collections.abc import Iterator

from xlareport.analysis.matching.rules.loops.sunk_work import given_outside
from xlareport.analysis.matching.search.nodes import node_after, read_at
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.element_orders import are_permuted
from xlareport.analysis.matching.sides.facts import TRANSPARENT
from xlareport.analysis.matching.sides.families import REWRITES
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.opcode_groups import COMMUTATIVE, MOVES

WITHOUT_NODES = TRANSPARENT | {"get-tuple-element"}
"""Opcodes of lines that have no nodes: they stand for what they read."""


def has_other_operands(reader: Node, partner: Node) -> bool:
    """Return whether operand counts or the order of elements differ: positions say nothing."""
    old, new = reader.instruction, partner.instruction
    if old.opcode != new.opcode:
        return False
    reordered = old.opcode == "tuple" and are_permuted(old.shape, new.shape)
    return reordered or len(old.operands) != len(new.operands)


def reads_now(node: Node, reader: Node, position: int, read: Node, *, near: bool) -> str:
    """Return a sentence about what a user reads now; the new operand may have the old name."""
    name = as_written(reader, position, read)
    behind = "" if name in reader.instruction.operand_names else "the value of "
    if not near:
        return f"%{reader.instruction.name} uses {behind}%{name} now"
    another = "another " if name == node.instruction.name else ""
    return f"%{reader.instruction.name} uses {behind}{another}%{name} instead"


def put_again(search: Search, node: Node) -> Iterator[str]:
    """Yield which tuples get what a loop does again instead of an element that has its result."""
    element = search.before.graph.resolve(node.frame, node.instruction.name)
    given = () if element is None else given_outside(search.before, element)
    outside = {source for source, path in given if not path}
    for line in node.frame.computation.users.get(node.instruction.name, ()) if outside else ():
        reader = node.frame.nodes.get(line.name)
        if reader is None or reader.partner is None or line.opcode != "tuple":
            continue
        for name in reader.partner.instruction.operand_names:
            now = reader.partner.frame.nodes.get(name)
            original = None if now is None else search.copies.get(now, (now.partner,))[0]
            if original in outside:
                yield f"%{reader.partner.instruction.name} uses %{name} instead"


def read_place(search: Search, node: Node, user: Node, position: int) -> int:
    """Return where the counterpart of a user reads what took the place of an operand.

    It is the other place if a commuted operation reads there what the operand was made of, or
    reads here what its other operand is now.
    """
    line, partner = user.instruction, user.partner
    if line.opcode not in COMMUTATIVE or len(line.operands) != _TWO or partner is None:
        return position
    mate = read_at(search.before, user, 1 - position)
    now, beside = (read_at(search.after, partner, place) for place in (position, 1 - position))
    if now is not beside and mate is not None and now is not None and mate.partner is now:
        return 1 - position
    for source, its, other in ((node, now, beside), (mate, beside, now)):
        operands = search.before.graph.operands(source) if source is not None else ()
        read = {node_after(search, operand) for operand, _ in operands}
        if other in read and its not in read:
            return 1 - position
    return position


_TWO = 2


def as_written(reader: Node, position: int, read: Node) -> str:
    """Return the name by which a node is read: that of a tuple element or call around it."""
    names = list(reader.instruction.operand_names)
    line = reader.frame.computation.by_name.get(names[position]) if position < len(names) else None
    around = line is not None and line.opcode in WITHOUT_NODES
    return line.name if line is not None and around else read.instruction.name


def gives_another(node: Node, user: Node, read: Node) -> bool:
    """Return whether another opcode reads something else at a position, not what replaced a node.

    Of `table[index]` that became `index * step`, the index is not read instead of the table, nor
    is an operand of a select that gives what was a remainder.
    """
    if user.partner is None:
        return False
    old, new = user.instruction, user.partner.instruction
    opcodes = old.opcode, new.opcode
    if opcodes[0] == opcodes[1] or opcodes in REWRITES or not MOVES.isdisjoint(opcodes):
        return False
    return (
        len(old.operands) != len(new.operands)
        or node.instruction.shape.element_count != read.instruction.shape.element_count
    )
