"""Pairs that a search over the work alone finds, for the search over all instructions.

From `before_optimizations` to `after_optimizations` the compiler puts copies, bitcasts and converts
between most instructions, and removes most reshapes, transposes and broadcasts. So neighbors of
paired instructions are seldom neighbors afterwards, unless the moves between them are seen through.
Where the work is divided among devices, no shape helps.
"""

from collections.abc import Iterable

from msgspec import Struct

from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Reason
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.families import JOIN
from xlareport.analysis.matching.sides.graph import Graph, Node
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade

MOVES = REARRANGEMENTS | {"broadcast", "convert", "copy-done", "copy-start", "opt-barrier"}
"""Opcodes whose result has the values of their first operand, at other places or as another type.

A slice or a pad chooses values, as the work on them does.
"""

_DONE, _STARTS = {"async-done", "slice-done"}, {"async-start", "slice-start"}
_REASON = "a matched instruction reads it, or it reads one, if moves and converts are left out"
_Spot = tuple[int, str]
"""A node by the number of its frame in its graph, and its instruction."""


class WorkCopy(Struct):
    """A new node that repeats the work of an old one beside another."""

    original: _Spot
    copy: _Spot
    reason: Reason


class WorkPair(Struct):
    """Two nodes that a search over the work alone found to belong together."""

    before: _Spot
    after: _Spot
    grade: Grade
    reason: Reason
    led_from: _Spot | None


def spans_partitioned_compilation(before: HloModule, after: HloModule) -> bool:
    """Return whether two snapshots are the two ends of the compilation for several devices.

    No single pass makes the first fusions of a module and schedules it. For one device, shapes and
    op_names pair as much without this search.
    """
    scheduled = after.is_scheduled and not before.is_scheduled
    ends = scheduled and _has_fusions(after) and not _has_fusions(before)
    return ends and after.partition_count > 1


def _has_fusions(module: HloModule) -> bool:
    calling = (line for computation in module.computations for line in computation.calling)
    return any(line.opcode == "fusion" for line in calling)


def moved_by(computation: Computation, line: Instruction) -> Instruction | None:
    """Return the instruction whose first operand a line passes on; None if it does more than that.

    A reduction of dimensions of one element reduces nothing. XLA:TPU prefetches an array in slices,
    which a custom call joins again.
    """
    if line.opcode in MOVES:
        return line
    if line.opcode == "reduce":
        return line if _reduces_nothing(computation, line) else None
    return _start_of_slice(computation, line) if line.call_target == JOIN else None


def _reduces_nothing(computation: Computation, line: Instruction) -> bool:
    read = computation.operand(line) if len(line.operands) == len(("array", "start")) else None
    return read is not None and _sizes(read) == _sizes(line)


def _sizes(line: Instruction) -> list[int | None]:
    return [size for size in line.shape.dimensions if size != 1]


def _start_of_slice(computation: Computation, join: Instruction) -> Instruction | None:
    done = computation.operand(join)
    start = computation.operand(done) if done is not None and done.opcode in _DONE else None
    return start if start is not None and start.opcode in _STARTS else None


def work_pairs(search: Search) -> list[WorkPair]:
    """Return the pairs of a search, by frame and name. Moves were not seen, so none is exact."""
    before, after = _spots(search.before.graph), _spots(search.after.graph)
    return [
        WorkPair(
            before[link.before],
            after[link.after],
            Grade.GUESSED if link.grade is Grade.GUESSED else Grade.MATCHED,
            _REASON,
            None if link.led_from is None else before.get(link.led_from),
        )
        for link in search.links
        if _is_of_two(link) and link.before in before and link.after in after
    ]


def _is_of_two(link: NodePair) -> bool:
    """Return whether a link is of two nodes that have no other partner."""
    mutual = link.before.partner is link.after and link.after.partner is link.before
    work = (
        link.before.instruction.opcode not in MOVES and link.after.instruction.opcode not in MOVES
    )
    return mutual and work and link.relation is Relation.SAME


def _spots(graph: Graph) -> dict[Node, _Spot]:
    return {
        node: (number, node.instruction.name)
        for number, frame in enumerate(graph.frames)
        for node in frame.nodes.values()
    }


def link_work(search: Search, pairs: Iterable[WorkPair]) -> None:
    """Link the pairs of another search over the same two modules, where both nodes are free."""
    for pair in pairs:
        before, after = (
            _node(search.before.graph, pair.before),
            _node(search.after.graph, pair.after),
        )
        if (
            _is_open(before)
            and _is_open(after)
            and search.link(before, after, pair.grade, pair.reason)
        ):
            led_from = pair.led_from
            search.links[-1].led_from = led_from and _node(search.before.graph, led_from)
    search.evaluate()


def _node(graph: Graph, spot: _Spot) -> Node:
    number, name = spot
    return graph.frames[number].nodes[name]


def _is_open(node: Node) -> bool:
    return node.partner is None and not node.kept


def work_copies(search: Search) -> list[WorkCopy]:
    """Return what a search noted as copies, by frame and name."""
    before, after = _spots(search.before.graph), _spots(search.after.graph)
    return [
        WorkCopy(before[original], after[copy], reason)
        for copy, (original, reason) in search.copies.items()
        if original in before and copy in after
    ]


def note_copies(search: Search, copies: Iterable[WorkCopy]) -> None:
    """Note the copies of another search over the same two modules, where no pair was found."""
    for copy in copies:
        node = _node(search.after.graph, copy.copy)
        if _is_open(node):
            search.copies.setdefault(node, (_node(search.before.graph, copy.original), copy.reason))
