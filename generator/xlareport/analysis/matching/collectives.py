"""Rules for collectives: several that became one, and one that became a start and a done."""

from collections import deque
from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.graph import Node
from xlareport.analysis.matching.nodes import is_free
from xlareport.analysis.matching.pairing import Grade
from xlareport.analysis.matching.search import Search, Side

_COMBINED = frozenset({"all-gather", "all-reduce", "collective-permute", "reduce-scatter"})
_FEWEST = 2
_START, _DONE = "-start", "-done"


def combined(search: Search) -> None:
    """Pair collectives with the one that has their operands, each as one of several.

    What reads a combined one may be an operand of the next, so this goes on while it finds any.
    """
    wholes = [node for node in search.after.open() if _is_whole(node)]
    count = len(wholes) + 1
    while wholes and len(wholes) < count:
        count = len(wholes)
        search.evaluate()
        _combine_all(search, wholes)
        wholes = [node for node in wholes if node.partner is None]


def _combine_all(search: Search, wholes: list[Node]) -> None:
    waiting: dict[Hashable, deque[Node]] = {}
    for node in search.before.open():
        if _opcode(node) in _COMBINED and len(node.instruction.operands) == 1:
            key = (_opcode(node), search.before.values.read(node)[0])
            waiting.setdefault(key, deque()).append(node)
    for whole in wholes:
        _combine(search, whole, waiting)


def _is_whole(node: Node) -> bool:
    return _opcode(node) in _COMBINED and len(node.instruction.operands) >= _FEWEST


def _combine(search: Search, whole: Node, waiting: dict[Hashable, deque[Node]]) -> None:
    opcode = _opcode(whole)
    queues = [waiting.get((opcode, token)) for token in search.after.values.read(whole)]
    if not all(queues):
        return
    members = [queue.popleft() for queue in queues if queue]
    if len(members) == len(queues):
        reason = f"%{whole.instruction.name} does it for {len(members)} operands"
        search.combine(members, whole, Grade.EXACT, reason)


def halves(search: Search) -> None:
    """Pair an instruction with the start and the done that do its work asynchronously."""
    pairs = list(_halves(search.after))
    if not pairs:
        return
    search.evaluate()
    waiting: dict[Hashable, deque[Node]] = {}
    for node in search.before.open():
        key = (_opcode(node), *search.before.values.read(node))
        waiting.setdefault(key, deque()).append(node)
    for start, done in pairs:
        _pair_halves(search, start, done, waiting)


def _halves(side: Side) -> Iterator[tuple[Node, Node]]:
    """Yield what begins an asynchronous instruction and what ends it."""
    for done in side.open():
        if _opcode(done).endswith(_DONE):
            operands = side.graph.operands(done)
            if operands and _opcode(operands[0][0]).endswith(_START):
                yield operands[0][0], done


def _pair_halves(
    search: Search, start: Node, done: Node, waiting: dict[Hashable, deque[Node]]
) -> None:
    """Pair both with what did it at once, or the done with the partner of its start."""
    whole = start.partner
    if is_free(start):
        queue = waiting.get((_begun(search.after, start), *search.after.values.read(start)))
        whole = queue.popleft() if queue else None
        if whole is not None and is_free(whole):
            search.link(whole, start, Grade.MATCHED, "begun and ended apart, on the same operands")
    if whole is not None and whole.partner is start and _opcode(whole) != _opcode(start):
        search.extend(whole, done)
        wrapped = _wrapped(search.after, start)
        if wrapped is not None and is_free(wrapped):
            search.extend(whole, wrapped)


def _begun(side: Side, start: Node) -> str:
    """Return the opcode of what an instruction begins."""
    if _opcode(start) != "async-start":
        return _opcode(start).removesuffix(_START)
    wrapped = _wrapped(side, start)
    return "" if wrapped is None else _opcode(wrapped)


def _wrapped(side: Side, start: Node) -> Node | None:
    """Return the result of the computation that an `async-start` calls; None for any other."""
    called = start.instruction.called if _opcode(start) == "async-start" else ()
    home = side.homes.get(called[0][1]) if called else None
    root = None if home is None else home.computation.root
    return None if home is None or root is None else home.node(root)


def _opcode(node: Node) -> str:
    return node.instruction.opcode
