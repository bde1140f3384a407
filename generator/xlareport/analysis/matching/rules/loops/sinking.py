"""A rule for constant values that a pass moves or copies into a loop that carried them.

Before, the body read an element of the carried tuple; after, it contains the value itself.
"""

from xlareport.analysis.matching.rules.loops.hoisting import loops_around, loops_given
from xlareport.analysis.matching.search.nodes import is_free, operand_pairs
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import facts_of, literal_of
from xlareport.analysis.matching.sides.graph import Graph, Node, element_taken
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_REASON = "the same constant value, in the loop now"
_COPY = "a further copy, in the loop"
_MOST_LOOPS = 16


def sunk(search: Search) -> None:
    """Pair constants outside loops with equal ones inside; record copies of kept constants."""
    left = [
        node for node in search.after.open() if node.constant and not _was_carried(search, node)
    ]
    given = [
        (body, node)
        for node in search.before.open()
        if node.constant
        for body in loops_given(node.instruction, node.frame.computation)
    ]
    for node in left:
        _note_fill(search, node)
    if not (left and given):
        return
    search.evaluate()
    names = search.computations.pairs
    beside = group_by_key(((names.get(body, body), node.token), node) for body, node in given)
    for node in left:
        equal = (
            other
            for body in loops_around(search, node.frame.computation.name)
            for other in beside.get((body, node.token), ())
        )
        other = next(filter(is_free, equal), None)
        if other is not None:
            _take_inside(search, other, node)


def _note_fill(search: Search, node: Node) -> None:
    """Pair a fill with the one that a loop was given, or record it as a copy of that.

    In the loop, a select takes it for the first iteration and the carried element for the others.
    """
    for user, _ in search.after.users.get(node, ()):
        for carried, path in search.after.graph.operands(user) if _selects(user) else ():
            element = path[0] if len(path) == 1 else None
            if element is None or carried.instruction.opcode != "parameter":
                continue
            body = carried.frame.computation.name
            old = search.computations.partners.get(body, body)
            fill = _initial_of(search.before.graph, old, element)
            if fill is not None and _fills_alike(search, fill, node):
                _take_inside(search, fill, node)
                for ours, theirs in operand_pairs(search, fill, node):
                    search.copies.setdefault(theirs, (ours, _COPY))
                return


def _selects(node: Node) -> bool:
    return node.instruction.opcode == "select"


def _fills_alike(search: Search, fill: Node, node: Node) -> bool:
    """Return whether two fills repeat the same constant."""
    if not node.instruction.operands:
        return False
    if search.forms.of(fill.instruction) != search.forms.of(node.instruction):
        return False
    pairs = [*operand_pairs(search, fill, node)]
    return bool(pairs) and all(
        literal_of(ours.instruction) == literal_of(theirs.instruction)
        and not ours.instruction.operands
        for ours, theirs in pairs
    )


def _was_carried(search: Search, node: Node) -> bool:
    """Pair a constant with the one that a loop carried to its reader, or record it as a copy."""
    carried = _carried(search, node)
    if carried is None:
        return False
    _take_inside(search, carried, node)
    return True


def _take_inside(search: Search, outside: Node, node: Node) -> None:
    """Pair a constant with a free one outside the loop, or record it as a copy of a kept one."""
    original = _merged_into(search, outside) or outside
    if not (is_free(original) and search.link(original, node, Grade.MATCHED, _REASON)):
        search.copies[node] = original, _COPY


def _merged_into(search: Search, constant: Node) -> Node | None:
    """Return the equal constant beside a free one that is used more often now; None if none is."""
    if not is_free(constant):
        return None
    frame, line = constant.frame, constant.instruction
    for equal in facts_of(frame.computation).constants.get(literal_of(line), ()):
        now = search.itself_after(frame.node(equal)) if equal in frame.kept else None
        if now is None or equal.shape != line.shape:
            continue
        if _count_uses(now) > _count_uses(frame.node(equal)):
            return frame.node(equal)
    return None


def _count_uses(node: Node) -> int:
    """Count the operands of the node's computation that are this node."""
    name = node.instruction.name
    users = node.frame.computation.users.get(name, ())
    return sum([*user.operand_names].count(name) for user in {*users})


def _carried(search: Search, node: Node) -> Node | None:
    """Return the equal constant outside the loop whose carried element a reader read before."""
    for user, position in search.after.users.get(node, ()):
        if user.partner is None:
            continue
        operands = search.before.graph.operands(user.partner)
        read, path = operands[position] if position < len(operands) else (node, ())
        if len(path) == 1 and read.instruction.opcode == "parameter":
            constant = _initial(search.before.graph, read.frame.computation.name, path[0])
            same = constant is not None and literal_of(constant.instruction) == literal_of(
                node.instruction
            )
            if same and constant is not None and not constant.instruction.operands:
                return constant
    return None


def _initial(graph: Graph, body: str, element: int) -> Node | None:
    """Return the constant that an element of a loop is at first; None of anything else.

    A loop within loops may be given what these carry.
    """
    for _ in range(_MOST_LOOPS):
        first = _initial_of(graph, body, element)
        if first is None or first.instruction.opcode == "constant":
            return first
        line, home = first.instruction, first.frame.computation
        given = home.operand(line)
        taken = element_taken(line)
        if len(taken) != 1 or given is None or given.opcode != "parameter":
            return None
        body, (element,) = home.name, taken
    return None


def _initial_of(graph: Graph, body: str, element: int) -> Node | None:
    """Return what an element of a loop with this body is at first; None if that is not known."""
    for home, call in graph.call_sites(body):
        names = list(call.instruction.operand_names)
        start = home.by_name.get(names[0]) if call.instruction.opcode == "while" and names else None
        if start is None or start.opcode != "tuple" or element >= len(start.operands):
            continue
        line = home.by_name.get(list(start.operand_names)[element])
        if line is not None:
            return graph.home(home).node(line)
    return None
