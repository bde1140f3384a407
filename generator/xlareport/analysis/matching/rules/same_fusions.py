"""Rules for two programs: fusions that hold the same work, and the parameters of fusions."""

from collections import Counter
from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Frame, Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.knowledge.grades import Grade


def same_fusions(search: Search) -> None:
    """Pair two fusions if more than half of the work of each is that of the other.

    What else either holds, such as converts, was added or removed; little of the work of both may
    be in a third fusion.
    """
    for frame in search.before.graph.frames:
        other = _same_work(frame)
        if other is None or frame.caller is None or other.caller is None:
            continue
        if _is_free_fusion(frame.caller) and _is_free_fusion(other.caller):
            shared = sum(node.partner is not None for node in _work(frame))
            total = max(sum(1 for _ in _work(frame)), sum(1 for _ in _work(other)))
            reason = f"a fusion that shares {shared} of {total} instructions"
            if search.link(frame.caller, other.caller, Grade.MATCHED, reason):
                _pair_called(search, frame.computation.name, other.computation.name)


def _pair_called(search: Search, old: str, new: str) -> None:
    """Pair two computations that only the two fusions call, so that their contents did not move."""
    known = search.computations
    sites = search.before.graph.call_sites(old), search.after.graph.call_sites(new)
    if old not in known.pairs and new not in known.partners and {*map(len, sites)} == {1}:
        known.pair(old, new)


def _same_work(frame: Frame) -> Frame | None:
    """Return the frame after that has more than half of the work of `frame`, as `frame` of its."""
    other = _main_frame(frame)
    if other is None or _main_frame(other) is not frame:
        return None
    shared = _frames_of_partners(frame)[other]
    most = max(sum(1 for _ in _work(frame)), sum(1 for _ in _work(other)))
    return other if 2 * shared > most else None


def _main_frame(frame: Frame) -> Frame | None:
    """Return the frame with the partners of its work; None where others have a fourth of them."""
    frames = _frames_of_partners(frame)
    others = frames.total() - max(frames.values(), default=0)
    return max(frames, key=lambda other: frames[other]) if 4 * others < frames.total() else None


def _frames_of_partners(frame: Frame) -> Counter[Frame]:
    return Counter(node.partner.frame for node in _work(frame) if node.partner is not None)


def _work(frame: Frame) -> Iterator[Node]:
    """Yield the instructions of a frame that compute something."""
    for line in frame.computation.instructions:
        node = frame.nodes.get(line.name)
        if node is not None and line.operands and line.opcode not in BOUNDARIES:
            yield node


def _is_free_fusion(node: Node) -> bool:
    return node.instruction.opcode == "fusion" and is_free(node)


def same_operands(search: Search) -> None:
    """Pair the parameters of two paired fusions that stand for the same operand.

    Their types may differ, as those of the operands do.
    """
    for link in list(search.links):
        name, other_name = link.before.instruction.name, link.after.instruction.name
        frame = link.before.frame.callees.get(name)
        other = link.after.frame.callees.get(other_name)
        if frame is not None and other is not None:
            _same_operands(search, (frame, link.before), (other, link.after))


def _same_operands(search: Search, ours: tuple[Frame, Node], theirs: tuple[Frame, Node]) -> None:
    first, second = _parameters(search.before, *ours), _parameters(search.after, *theirs)
    for (source, path), before in first.items():
        after = None if source.partner is None else second.get((source.partner, path))
        if before is not None and after is not None and is_free(before) and is_free(after):
            search.link(before, after, Grade.MATCHED, "the parameter for the same operand")


def _parameters(side: Side, frame: Frame, fusion: Node) -> dict[NodeElement, Node | None]:
    """Return the parameters of a frame by their operands; None for an operand given twice."""
    by_number = {line.argument: line for line in frame.computation.parameters}
    result: dict[NodeElement, Node | None] = {}
    for number, name in enumerate(fusion.instruction.operands):
        operand, line = side.graph.resolve(fusion.frame, name), by_number.get(str(number))
        if operand is not None:
            once = line is not None and operand not in result
            result[operand] = frame.node(line) if line is not None and once else None
    return result
