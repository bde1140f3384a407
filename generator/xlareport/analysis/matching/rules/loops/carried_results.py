"""A rule for what the bodies of paired loops give for the elements that they carry."""

from xlareport.analysis.matching.search.nodes import has_same_origin, is_free, same_form
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.elements import kept_elements
from xlareport.analysis.matching.sides.graph import NodeElement
from xlareport.analysis.matching.sides.loop_results import loop_side
from xlareport.knowledge.grades import Grade


def carried_results(search: Search) -> None:
    """Pair what two bodies give for one element, and what two loops start with.

    Behind calls, fusions and copies. Only where the loop carries another number of elements: else
    the results are paired in order.
    """
    for link in list(search.links):
        old, new = link.before.instruction, link.after.instruction
        if old.opcode == new.opcode == "while" and len(old.shape.elements) != len(
            new.shape.elements
        ):
            _pair_elements(search, link)


def _pair_elements(search: Search, link: NodePair) -> None:
    ours, theirs = loop_side(search.before, link.before), loop_side(search.after, link.after)
    name = link.after.instruction.name
    for number, origin in kept_elements(search, link.before, link.after).origins.items():
        for known, values, reason in (
            (ours.results, theirs.results, f"its result is carried on by %{name}"),
            (ours.starts, theirs.starts, f"%{name} starts with it"),
        ):
            if known and values:
                _pair(search, known[origin], values[number], reason)


def _pair(search: Search, element: NodeElement, other: NodeElement, reason: str) -> None:
    (node, path), (now, there) = element, other
    if not (is_free(node) and is_free(now)) or path or there:
        return
    if node.instruction.operands:
        alike = same_form(search, node, now) or has_same_origin(node, now)
    else:
        alike = search.forms.of(node.instruction) == search.forms.of(now.instruction)
    if alike:
        search.link(node, now, Grade.MATCHED, reason)
