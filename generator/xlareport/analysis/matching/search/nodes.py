"""Functions on nodes that several rules use, and the explanation of nodes without a partner."""

from collections.abc import Hashable, Iterator

from msgspec import Struct

from xlareport.analysis.matching.search.pairing import ChangeCause, Place
from xlareport.analysis.matching.search.reasons import Reason
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import Literal, facts_of, literal_of
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.passed import reduces_nothing
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.analysis.source.inlined_op_names import join_op_names
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade

_MOST_MOVES = 4
"""Moves in a row that are looked behind."""


def is_free(node: Node) -> bool:
    """Whether a node differs and has no partner yet."""
    return node.partner is None and not node.kept


def is_fused(node: Node) -> bool:
    """Return whether a node is in a fusion, with what reads it."""
    caller = node.frame.caller
    return caller is not None and caller.instruction.opcode == "fusion"


def same_form(search: Search, node: Node, other: Node) -> bool:
    """Whether two nodes have the same opcode and, layouts aside, the same shape."""
    ours, theirs = search.forms.of(node.instruction), search.forms.of(other.instruction)
    return ours.opcode == theirs.opcode and ours.shape == theirs.shape


def node_after(search: Search, node: Node) -> Node | None:
    """Return the new node that continues an old one, or is the same line if that is kept."""
    return search.after.counterpart(node)


def node_before(search: Search, node: Node) -> Node | None:
    """Return the old node that a new one continues, or the same line if that is kept."""
    return search.before.counterpart(node)


def operand_pairs(search: Search, node: Node, other: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the operands of an old node with those of a new node, position by position."""
    ours, theirs = search.before.graph.operands(node), search.after.graph.operands(other)
    for (read, _), (now, _) in zip(ours, theirs, strict=False):
        yield read, now


def same_shape(search: Search, node: Node, other: Node) -> bool:
    """Whether two nodes have, layouts aside, the same shape."""
    return search.forms.of(node.instruction).shape == search.forms.of(other.instruction).shape


def same_count(node: Node, other: Node) -> bool:
    """Return whether two results have the same number of elements."""
    count = node.instruction.shape.element_count
    return count is not None and count == other.instruction.shape.element_count


def same_type(node: Node, other: Node) -> bool:
    """Return whether two results have the same element type."""
    return node.instruction.shape.element_type == other.instruction.shape.element_type


def are_tuples(node: Node, other: Node) -> bool:
    """Whether two nodes are tuples, of however many elements."""
    return node.instruction.opcode == other.instruction.opcode == "tuple"


def name_in_computation(node: Node) -> Hashable:
    """Return the name and the number of the computation, equal where both continue.

    Of two programs none are equal: each numbers its instructions by itself.
    """
    return (node.frame.program, node.frame.number, node.instruction.name)


def place_of(node: Node) -> Place:
    """Return where a node is."""
    return Place(node.frame.computation.name, node.instruction.name)


def are_other_fills(node: Node, other: Node) -> bool:
    """Return whether two broadcasts of one constant are of different framework ops."""
    if node.instruction.opcode != "broadcast" or not node.constant:
        return False
    return bool(origin(node) and origin(other)) and origin(node) != origin(other)


def has_same_origin(node: Node, other: Node) -> bool:
    """Return whether two nodes have the same opcode and framework op, whatever their shape."""
    message = origin(node)
    same = node.instruction.opcode == other.instruction.opcode
    return same and bool(message) and message == origin(other)


def origin(node: Node) -> str:
    """Return the framework op, joined with those of the calls around it."""
    message = node.instruction.metadata.op_name
    return join_op_names(node.frame.scope, message) if message else ""


class Names:
    """The names of one side's unpaired nodes."""

    def __init__(self, side: Side) -> None:
        self._by_name = {name_in_computation(node): node for node in reversed(side.open())}

    def claim(self, node: Node) -> bool:
        """Whether an open node of the same opcode has a node's name in its computation."""
        other = self._by_name.get(name_in_computation(node))
        same = other is not None and other.instruction.opcode == node.instruction.opcode
        return other is not None and same and is_free(other)

    def claim_copy(self, node: Node) -> bool:
        """Return whether a copy continues under its name.

        Passes put copies of a value before others; only the names distinguish them.
        """
        return node.instruction.opcode == "copy" and self.claim(node)

    def claim_by_user(self, node: Node, equal: Node | None = None) -> bool:
        """Return whether a node with the same shape, name and a user of the same name continues.

        `equal` computes the same as the node under another name.

        A pass that bypasses one of several moves of a value keeps the names of the others. Not so
        of a fusion that was taken into a new one of its name.
        """
        other = self._by_name.get(name_in_computation(node))
        if other is None or not self.claim(node) or _holds_fusion(other) != _holds_fusion(node):
            return False
        if equal is not None and _takes_its_element(node, equal, other):
            return False
        line, known = node.instruction, other.instruction
        users = _users(node) & _users(other)
        return line.shape == known.shape and origin(node) == origin(other) and bool(users)

    def clone(self, node: Node, other: Node) -> Node:
        """Return the clone of a literal, by name, beside its equal; that where there is none.

        A pass clones the old literal and makes equal ones; the name says which is the clone.
        """
        name = f"{node.instruction.name}.clone"
        known = self._by_name.get((other.frame.program, other.frame.number, name))
        literal = known is not None and not known.instruction.operands
        if known is None or not literal or node.token != other.token or not is_free(known):
            return other
        return known if known.token == other.token else other


def _takes_its_element(node: Node, equal: Node, named: Node) -> bool:
    """Return whether an equal node takes the element of a node, and its namesake another one."""
    if node.instruction.opcode != "get-tuple-element":
        return False
    numbers = [known.instruction.taken_element for known in (equal, node, named)]
    return numbers[0] == numbers[1] != numbers[2]


def _holds_fusion(node: Node) -> bool:
    """Return whether the opened computation of a node has a fusion."""
    frame = node.frame.callees.get(node.instruction.name)
    return frame is not None and "fusion" in facts_of(frame.computation).opcodes


def _users(node: Node) -> set[tuple[str, str]]:
    """Return the lines that read a node as written, by name and opcode."""
    lines = node.frame.computation.users.get(node.instruction.name, ())
    return {(line.name, line.opcode) for line in lines}


class PairVerdict(Struct, frozen=True):
    """The explanation of an instruction without a partner."""

    twin: Node | None
    """The node on the other side that does the same work; None if there is none."""
    grade: Grade
    reason: Reason
    cause: ChangeCause | None = None


def same_leaf(here: Side, there: Side, node: Node) -> Node | None:
    """Return the equal constant that a reader's counterpart reads on the other side."""
    for user, position in here.users.get(node, ()):
        if user.partner is not None:
            read = read_at(there, user.partner, position)
            if read is not None and read.token == node.token:
                return read
    return None


def same_fill(here: Side, there: Side, node: Node) -> Node | None:
    """Return the broadcast of an equal constant that a reader's partner reads instead of `node`.

    Its shape may be another, apart from a scalar, which repeats nothing. None if `node` broadcasts
    no constant or no partner reads such a node.
    """
    filled = _filled(here, node)
    if filled is None:
        return None
    for user, position in here.users.get(node, ()):
        now = None if user.partner is None else read_at(there, user.partner, position)
        if now is not None and _filled(there, now) == filled and _are_arrays(node, now):
            return now
    return None


def _are_arrays(node: Node, other: Node) -> bool:
    """Return whether two nodes have dimensions, or neither does."""
    first, second = (known.instruction.shape.dimensions for known in (node, other))
    return bool(first) == bool(second)


def _filled(side: Side, node: Node) -> Literal | None:
    """Return the constant that a broadcast repeats; None of anything else."""
    if node.instruction.opcode != "broadcast":
        return None
    source = read_at(side, node, 0)
    if source is None or source.instruction.opcode != "constant":
        return None
    return literal_of(source.instruction)


ARRAY_CALLS = frozenset({"SPMDFullToShardShape", "SPMDShardToFullShape"})
"""Targets of custom calls that only state which devices hold an array."""


def is_array_call(node: Node) -> bool:
    """Return whether a node only states which devices hold an array."""
    return target_of(node) in ARRAY_CALLS


def target_of(node: Node) -> str:
    """Return the target of a custom call; empty for other instructions."""
    line = node.instruction
    if line.opcode != "custom-call":
        return ""
    return line.call_target


def sharding(node: Node) -> str:
    """Return the sharding of a node as written; empty where it has none."""
    return node.instruction.attributes.get("sharding", "")


def is_root(node: Node) -> bool:
    """Whether a node is the result of its computation."""
    return node.instruction is node.frame.computation.root


def is_written_operand(reader: Node, node: Node) -> bool:
    """Return whether a line names an instruction, and does not read it behind a call or a tuple."""
    return reader.frame is node.frame and node.instruction.name in reader.instruction.operand_names


def reason_of_use(user: Node, node: Node, *, is_clone: bool) -> str:
    """Return why a node continues as what the counterpart of a user reads, or as its own clone."""
    use = f"{_name_use(user, node)}, whose counterpart is known"
    return f"its clone by name, of the value that was {use}" if is_clone else use


def _name_use(user: Node, node: Node) -> str:
    """Return how a node is used: `operand 1 of %add`, or its value, behind a call or a tuple."""
    names = [*user.instruction.operand_names]
    if is_written_operand(user, node):
        return f"operand {names.index(node.instruction.name)} of %{user.instruction.name}"
    return f"its value is used by %{user.instruction.name}"


def name_new_use(user: Node, node: Node) -> str:
    """Return that a node is read by a user, or its value, behind another instruction."""
    name = f"%{user.instruction.name}"
    return f"{name} reads it" if is_written_operand(user, node) else f"{name} uses its value"


def name_read(node: Node, user: Node, position: int) -> str:
    """Return what a user of a node names: the node, or the element or call that has its value."""
    names = [*user.instruction.operand_names]
    if is_written_operand(user, node):
        return f"%{node.instruction.name}"
    if position < len(names) == len(user.instruction.operands):
        return f"%{names[position]}"
    return f"the value of %{node.instruction.name}"


def read_at(side: Side, node: Node, position: int) -> Node | None:
    """Return the operand of a node at a position; None if there is none."""
    operands = side.graph.operands(node)
    return operands[position][0] if position < len(operands) else None


def sole_user(side: Side, node: Node) -> Node | None:
    """Return the instruction that alone reads a node, in one or several places."""
    users = {user for user, _ in side.users.get(node, ())}
    return users.pop() if len(users) == 1 else None


def read_behind_moves(side: Side, node: Node) -> Node | None:
    """Return the first operand of a node, behind what only moves its elements."""
    read = read_at(side, node, 0)
    for _ in range(_MOST_MOVES):
        if read is None or read.instruction.opcode not in REARRANGEMENTS:
            break
        read = read_at(side, read, 0)
    return read


def value_behind_moves(side: Side, node: Node) -> int:
    """Return the number of the value that a node reads first, behind what only moves elements."""
    operands = side.graph.operands(node)[:1]
    for _ in range(2 * _MOST_MOVES):
        if operands and operands[0][0].instruction.opcode in REARRANGEMENTS:
            operands = side.graph.operands(operands[0][0])[:1] or operands
    return side.value_of(operands[0]) if operands else UNKNOWN


def as_many(search: Search, nodes: list[Node], others: list[Node]) -> tuple[list[Node], list[Node]]:
    """Return both, without reductions of single elements, which passes remove, if counts differ."""
    if len(nodes) == len(others):
        return nodes, others
    nodes = [node for node in nodes if not reduces_nothing(search.before, node)]
    return nodes, [node for node in others if not reduces_nothing(search.after, node)]


def paired_users(node: Node) -> Iterator[tuple[Node, Node, int]]:
    """Yield the paired users of a node, their partners, and the place at which they read it.

    A partner with another number of operands is left out: places do not correspond.
    """
    line, frame = node.instruction, node.frame
    for user in frame.computation.users.get(line.name, ()):
        reader = frame.nodes.get(user.name)
        if reader is None or reader.partner is None:
            continue
        if len(reader.partner.instruction.operands) == len(user.operands):
            yield reader, reader.partner, [*user.operand_names].index(line.name)


def equal_element_read(node: Node) -> Node | None:
    """Return the element of the same value that the counterpart of a user reads in its place.

    None of anything but an element of a tuple.
    """
    opcode = node.instruction.opcode
    if opcode != "get-tuple-element" or node.token == UNKNOWN:
        return None
    for _, other, place in paired_users(node):
        name = [*other.instruction.operand_names][place]
        line = other.frame.computation.by_name.get(name)
        now = None if line is None or line.opcode != opcode else other.frame.node(line)
        if now is not None and now.token == node.token:
            return now
    return None


def reader_beside(node: Node, user: Node) -> Node:
    """Return the user in the node's own computation: a call, if a callee is the reader."""
    reader = user
    while reader.frame is not node.frame:
        if reader.frame.caller is None:
            return user
        reader = reader.frame.caller
    return reader


def reads_free(side: Side, node: Node) -> bool:
    """Return whether an operand of a node is unpaired."""
    return any(is_free(operand) for operand, _ in side.graph.operands(node))


def is_read_by_free(side: Side, node: Node) -> bool:
    """Return whether a user of a node is unpaired."""
    return any(is_free(user) for user, _ in side.users.get(node, ()))


def same_arity(node: Node, other: Node, *, typed: bool) -> bool:
    """Return whether two nodes have as many operands; `typed`: or results of one element type."""
    types = {line.shape.element_type for line in (node.instruction, other.instruction)}
    arities = {len(line.operands) for line in (node.instruction, other.instruction)}
    return len(arities) == 1 or (typed and len(types) == 1)
