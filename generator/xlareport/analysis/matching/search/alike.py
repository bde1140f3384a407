"""How nodes are paired that a rule takes for alike: by attributes, names, dimensions, in order."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.share_pairs import sole_shares
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.stacks import stack_of
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key, sole_pairs


def pairs_in_order(
    search: Search, ours: Sequence[Node], theirs: Sequence[Node]
) -> Iterator[tuple[Node, Node]]:
    """Yield pairs of old and new nodes: those of equal attributes first, the others in order.

    Before these come new nodes that are named after an old one of their form.

    The attributes are dimensions, windows, bounds and what called computations compute; of several
    nodes with equal attributes, those of one shape come first, and of these those that the program
    made at one place. Element types and dimensions of one element change, so they say the least.
    """
    if len(ours) > 1 or len(theirs) > 1:
        for pair_up in _PAIRED:
            pairs = pair_up(search, ours, theirs)
            yield from pairs
            taken = {node for pair in pairs for node in pair}
            ours = [node for node in ours if node not in taken]
            theirs = [node for node in theirs if node not in taken]
    yield from zip(ours, theirs, strict=False)


_ELEMENT = "get-tuple-element"
_KeyOf = Callable[[Search, Node, int], Hashable]


def _equal(
    search: Search, ours: Sequence[Node], theirs: Sequence[Node], key_of: _KeyOf
) -> list[tuple[Node, Node]]:
    """Return the pairs of nodes that have a key in common, in order."""
    keyed = group_by_key((key_of(search, other, 1), other) for other in theirs)
    waiting = {key: deque(others) for key, others in keyed.items()}
    keys = [(node, key_of(search, node, 0)) for node in ours]
    return [(node, waiting[key].popleft()) for node, key in keys if waiting.get(key)]


def _named_after(
    search: Search, ours: Sequence[Node], theirs: Sequence[Node]
) -> list[tuple[Node, Node]]:
    """Return the pairs in which the new name is the old numbered one and a further number."""
    names = {node.instruction.name: node for node in ours}
    pairs: dict[Node, Node] = {}
    for other in theirs:
        name = other.instruction.name.rpartition(".")[0]
        node = names.get(name) if "." in name else None
        if node is not None and _form_key(search, node, 0) == _form_key(search, other, 1):
            pairs.setdefault(node, other)
    return [*pairs.items()]


def _element_of(_search: Search, node: Node, here: int) -> Hashable:
    """Return which element of what a node is, of the partner of that; itself if it is none.

    Of calls that are divided, one may have results of the shape that another one had.
    """
    line = node.instruction
    source = node.frame.computation.operand(line) if line.opcode == _ELEMENT else None
    if source is None:
        return node
    whole = node.frame.node(source)
    return (whole if here else whole.partner or whole), line.taken_element


def _of_one_stack(key_of: _KeyOf) -> _KeyOf:
    """Return a key with where the program made a node; the node itself if that is not known.

    An edit moves lines, so of two programs it is not known.
    """

    def key(search: Search, node: Node, here: int) -> Hashable:
        stack = stack_of(node) if search.parted is None else ()
        return (stack, key_of(search, node, here)) if stack else node

    return key


def _sizes_key(search: Search, node: Node, here: int) -> Hashable:
    """Return the attributes and the dimensions of more than one element, of whatever type.

    XLA computes bf16 as f32, and drops dimensions of one element.
    """
    sizes = tuple(size for size in node.instruction.shape.dimensions if size != 1)
    return sizes, _attributes(search, node, here)


def _rank_key(search: Search, node: Node, here: int) -> Hashable:
    """Return the attributes and the number of dimensions of more than one element.

    The partitioner divides a dimension, and rarely leaves one element of it.
    """
    sizes = [size for size in node.instruction.shape.dimensions if size != 1]
    return len(sizes), _attributes(search, node, here)


def _form_key(search: Search, node: Node, here: int) -> Hashable:
    return search.forms.of(node.instruction).shape, _attributes(search, node, here)


def _attributes(search: Search, node: Node, here: int) -> Hashable:
    """Return the attributes of a node that say what it computes, and the contents of its calls."""
    called = [search.contents[here].of(name) for _, name in node.instruction.called]
    return search.forms.of(node.instruction).attributes, *called


_PAIRED: tuple[Callable[[Search, Sequence[Node], Sequence[Node]], list[tuple[Node, Node]]], ...] = (
    _named_after,
    partial(_equal, key_of=_element_of),
    *(
        partial(_equal, key_of=_of_one_stack(key_of))
        for key_of in (_form_key, _sizes_key, _rank_key, _attributes)
    ),
    partial(_equal, key_of=_form_key),
    partial(_equal, key_of=_sizes_key),
    partial(_equal, key_of=_rank_key),
    partial(_equal, key_of=_attributes),
)
"""From the surest."""


def pairs_of_one_op(
    search: Search, ours: Sequence[Node], theirs: Sequence[Node]
) -> Iterator[tuple[Node, Node, Grade, str]]:
    """Yield pairs of nodes of one framework op: those alone in paired computations first.

    Where each of the rest has dimensions of its own, these tell which is which; else the order.
    """
    homes = [((node.frame.number, node) for node in nodes) for nodes in (ours, theirs)]
    for node, other in sole_pairs(*homes):
        yield node, other, Grade.MATCHED, "the only one left of its framework op where it is"
    rest = [[*filter(is_free, nodes)] for nodes in (ours, theirs)]
    if search.divided and search.parted is None and len(rest[0]) > 1:
        for node, other in sole_shares(*rest):
            yield node, other, Grade.GUESSED, "the only one left of its framework op with shares"
        rest = [[*filter(is_free, nodes)] for nodes in rest]
    sizes = [{node.instruction.shape.dimensions: node for node in nodes} for nodes in rest]
    are_unlike = sizes[0].keys() == sizes[1].keys() and len(sizes[0]) == len(rest[0]) == len(
        rest[1]
    )
    if are_unlike and not search.divided and len(rest[0]) > 1:
        for dimensions, node in sizes[0].items():
            reason = "the only one left of its framework op with its dimensions"
            yield node, sizes[1][dimensions], Grade.MATCHED, reason
        return
    grade = Grade.MATCHED if len(ours) == 1 else Grade.GUESSED
    for node, other in pairs_in_order(search, *rest):
        if not search.counts_otherwise(node, other):
            yield node, other, grade, "left of the same framework op, in order"
