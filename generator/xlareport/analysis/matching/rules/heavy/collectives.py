"""Rules for collectives that were combined, and for those split into a start and a done."""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from xlareport.analysis.matching.search.nodes import (
    Names,
    is_free,
    read_at,
    same_shape,
    value_behind_moves,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, opcode_of
from xlareport.analysis.matching.sides.halves import (
    DONE,
    START,
    dones_of,
    start_of,
    wrapped,
    wrapped_in_turn,
)
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.opcode_groups import REDUCING_COLLECTIVES
from xlareport.hlo.shardings.device_groups import parse_groups, parse_pairs
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import sole_pairs

_COMBINED = frozenset({"all-gather", "all-reduce", "collective-permute", "reduce-scatter"})
_FEWEST = 2
_REDUCED = "all-reduce"


def combined(search: Search) -> None:
    """Pair collectives with the combined collective that has all their operands.

    A combined collective may be an operand of the next one, so repeat until nothing changes.
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
        if opcode_of(node) in _COMBINED and len(node.instruction.operands) == 1:
            key = (opcode_of(node), devices_of(node), search.before.values.read(node)[0])
            waiting.setdefault(key, deque()).append(node)
    channels = frozenset(map(channel_of, wholes))
    for whole in wholes:
        _combine(search, whole, waiting, channels)


def _is_whole(node: Node) -> bool:
    known = opcode_of(node).removesuffix(START) in _COMBINED
    return known and len(node.instruction.operands) >= _FEWEST


def _combine(
    search: Search,
    whole: Node,
    waiting: dict[Hashable, deque[Node]],
    channels: AbstractSet[str],
) -> None:
    """Combine what sends the operands of a new collective, which has the channel of the first."""
    opcode, devices = opcode_of(whole).removesuffix(START), devices_of(whole)
    queues = [waiting.get((opcode, devices, token)) for token in search.after.values.read(whole)]
    if not all(queues):
        return
    members = [_taken(queue, channel_of(whole), channels) for queue in queues if queue]
    if len(members) == len(queues):
        reason = f"%{whole.instruction.name} does it for {len(members)} operands"
        search.combine(members, whole, Grade.EXACT, reason)
        for done in dones_of(search.after, whole):
            search.name_elements(members, done)


def same_reducer(search: Search) -> None:
    """Pair reductions of one shape, each the only one of its side that applies its computation.

    XLA:GPU gives each all-reduce a computation of its own, which goes on with it out of a loop.
    """
    ours, theirs = _by_own_reducer(search.before), _by_own_reducer(search.after)
    for name, node in ours.items():
        other = theirs.get(name)
        if other is None or not same_shape(search, node, other):
            continue
        if devices_of(node) == devices_of(other):
            reason = f"both apply %{name}, and no other does"
            search.link(node, other, Grade.MATCHED, reason)


def _by_own_reducer(side: Side) -> dict[str, Node]:
    """Return the free reductions over devices by the computation that they alone apply."""
    nodes = {}
    for node in side.open():
        if opcode_of(node) in REDUCING_COLLECTIVES and is_free(node):
            for _, name in node.instruction.called:
                if len(side.graph.call_sites(name)) == 1:
                    nodes[name] = node
    return nodes


def folded(search: Search) -> None:
    """Pair an all-reduce of an all-reduce, which nothing else reads, with one that does both."""
    chains: dict[Hashable, tuple[Node, Node]] = {}
    for outer in search.before.open():
        inner = _reduced(search.before, outer)
        if inner is not None:
            chains[search.before.values.read(inner)[0]] = (outer, inner)
    for whole in search.after.open() if chains else ():
        read = search.after.values.read(whole) if opcode_of(whole) == _REDUCED else ()
        members = chains.pop(read[0], ()) if len(read) == 1 else ()
        if members and _reduced(search.after, whole) is None:
            reason = f"%{whole.instruction.name} does the work of both"
            search.combine(members, whole, Grade.MATCHED, reason)
            members[0].token = whole.token


def _reduced(side: Side, outer: Node) -> Node | None:
    """Return the open all-reduce that an open all-reduce alone reads."""
    operands = side.graph.operands(outer) if opcode_of(outer) == _REDUCED else ()
    inner = operands[0][0] if len(operands) == 1 else None
    if inner is None or opcode_of(inner) != _REDUCED or not is_free(inner):
        return None
    return inner if side.has_one_user(inner) and is_free(outer) else None


def scattered(search: Search) -> None:
    """Pair an all-reduce of which each device takes a share with the reduce-scatter that does both.

    Such a reduce-scatter may read another one, which stands for the share that was read before.
    """
    scatters = [node for node in search.after.open() if opcode_of(node) == _SCATTERED]
    if not scatters:
        return
    search.evaluate()
    waiting: dict[Hashable, deque[Node]] = {}
    for node in scatters:
        if len(node.instruction.operands) == 1:
            key = devices_of(node), search.after.values.read(node)[0]
            waiting.setdefault(key, deque()).append(node)
    _pair_shares(search, waiting)
    _pair_moved_shares(search, [node for node in scatters if is_free(node)])


def _pair_shares(search: Search, waiting: Mapping[Hashable, deque[Node]]) -> None:
    """Pair all-reduces with reduce-scatters of the same value, by its number and the devices."""
    shares: dict[Node, Node] = {}
    for node in search.before.open():
        share = _share_taken(search.before, node)
        if share is None:
            continue
        (read, path), *_ = search.before.graph.operands(node)
        given = shares.get(read) if not path else None
        value = search.before.values.read(node)[0] if given is None else given.token
        queue = waiting.get((devices_of(node), value), deque())
        if queue and same_shape(search, share, queue[0]):
            whole = shares[share] = queue.popleft()
            reason = f"it gives each device the share that %{share.instruction.name} took"
            search.link(node, whole, Grade.MATCHED, reason)


def _pair_moved_shares(search: Search, scatters: list[Node]) -> None:
    """Pair all-reduces with reduce-scatters of their operand in another form.

    Where the backend scatters along the first dimension alone, a pass transposes the operand.
    """
    nodes = search.before.open() if scatters else ()
    taken = ((node, _share_taken(search.before, node)) for node in nodes)
    shares = {node: share for node, share in taken if share is not None}
    ours = ((_moved_key(search.before, node, share), node) for node, share in shares.items())
    theirs = ((_moved_key(search.after, node, node), node) for node in scatters)
    for node, whole in sole_pairs(ours, theirs):
        share = shares[node].instruction
        reason = f"it gives each device the share that %{share.name} took, in another form"
        search.link(node, whole, Grade.MATCHED, reason)


def _moved_key(side: Side, node: Node, share: Node) -> Hashable:
    """Return the value behind moves that is summed, over which devices, and the share's size.

    None where the value has no number.
    """
    value = value_behind_moves(side, node)
    shape = share.instruction.shape
    known = value != UNKNOWN
    return (devices_of(node), value, shape.element_type, shape.element_count) if known else None


_SCATTERED = "reduce-scatter"


def _share_taken(side: Side, node: Node) -> Node | None:
    """Return the open dynamic-slice that alone reads an open all-reduce of one operand."""
    if opcode_of(node) != _REDUCED or not is_free(node) or len(node.instruction.operands) != 1:
        return None
    users = [user for user, _ in side.users.get(node, ())]
    taken = len(users) == 1 and opcode_of(users[0]) == "dynamic-slice" and is_free(users[0])
    return users[0] if taken and side.graph.operands(node) else None


def halves(search: Search) -> None:
    """Pair an instruction with the start and the done that do its work asynchronously.

    Skip instructions that keep their name: the pair was inserted before them.
    What reads the result of another such pair is found after that one: repeat while any was.
    """
    pairs = list(_halves(search.after))
    count = len(pairs) + 1
    names = Names(search.after) if pairs else None
    while names is not None and pairs and len(pairs) < count:
        count = len(pairs)
        _pair_each(search, pairs, names)
        pairs = list(_halves(search.after))


def _pair_each(search: Search, pairs: Iterable[tuple[Node, Node]], names: Names) -> None:
    search.evaluate()
    waiting: dict[Hashable, deque[Node]] = {}
    for node in search.before.open():
        if not names.claim(node):
            key = (opcode_of(node), devices_of(node), *search.before.values.read(node))
            waiting.setdefault(key, deque()).append(node)
    for start, done in pairs:
        _pair_halves(search, start, done, waiting)


def _halves(side: Side) -> Iterator[tuple[Node, Node]]:
    """Yield the start and the done of each new asynchronous instruction."""
    for done in side.open():
        if opcode_of(done).endswith(DONE):
            operands = side.graph.operands(done)
            if operands and opcode_of(operands[0][0]).endswith(START):
                yield operands[0][0], done


def _pair_halves(
    search: Search, start: Node, done: Node, waiting: dict[Hashable, deque[Node]]
) -> None:
    """Pair start and done with a synchronous instruction, or the done with the start's partner."""
    whole = start.partner
    if is_free(start):
        begun = _begun(search.after, start)
        opcode = opcode_of(begun).removesuffix(START)
        read = _read_behind_copies(search.after, start)
        queue = waiting.get((opcode, devices_of(begun), *read))
        whole = _taken(queue, channel_of(begun)) if queue else None
        if whole is not None and is_free(whole):
            search.link(whole, start, Grade.MATCHED, "begun and ended apart, on the same operands")
    if whole is not None and whole.partner is start and opcode_of(whole) != opcode_of(start):
        search.extend(whole, done)
        for inner in wrapped_in_turn(search.after, start):
            if is_free(inner):
                search.extend(whole, inner)


def _read_behind_copies(side: Side, start: Node) -> Iterator[int]:
    """Yield the values that a start reads; of a value that was copied elsewhere, its own.

    XLA evicts what it reads later from a fast memory space, and reads the copy.
    """
    for node, path in side.graph.operands(start):
        begun = read_at(side, node, 0) if opcode_of(node) == "copy-done" else None
        copied = begun is not None and not path and is_free(node) and is_free(begun)
        source = side.graph.operands(begun)[:1] if begun is not None and copied else ()
        yield side.value_of(source[0] if source else (node, path))


def link_wrapped(search: Search, whole: Node, inner: Node, grade: Grade, reason: str) -> bool:
    """Pair an instruction with the `async-start` that wraps its counterpart; False if none does."""
    start = start_of(search.after, inner.frame) if inner.frame.caller is None else None
    if start is None or not is_free(start) or not search.link(whole, start, grade, reason):
        return False
    for done in dones_of(search.after, start):
        if is_free(done):
            search.extend(whole, done)
    search.extend(whole, inner)
    return True


def _begun(side: Side, start: Node) -> Node:
    """Return the instruction that a start begins, or the start where it is that itself."""
    return (wrapped(side, start) if opcode_of(start) == "async-start" else None) or start


def _taken(queue: deque[Node], channel: str, channels: AbstractSet[str] = frozenset()) -> Node:
    """Take the node with a channel id out of a queue, else the first with none of `channels`.

    The first of all where each has one of them.
    """
    first = next((node for node in queue if channel_of(node) not in channels), queue[0])
    taken = next((node for node in queue if channel and channel_of(node) == channel), first)
    queue.remove(taken)
    return taken


def channel_of(node: Node) -> str:
    """Return the channel of a collective as its text has it; empty for none."""
    return node.instruction.attributes.get("channel_id", "")


def devices_of(node: Node) -> Hashable:
    """Return the device groups and (source, target) pairs of a collective; None if it has neither.

    Equal groups are equal values, however the text writes them.
    """
    text = node.instruction.attributes_text
    if "replica_groups=" not in text and "source_target_pairs=" not in text:
        return None
    attributes = node.instruction.attributes
    groups = parse_groups(attributes.get("replica_groups", ""))
    return groups and groups.groups, parse_pairs(attributes.get("source_target_pairs", "{}"))
