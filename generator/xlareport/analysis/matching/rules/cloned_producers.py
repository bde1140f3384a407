"""A rule for fusions that took in copies of what another fusion holds, which stands as it did.

Before, a fusion read the other one; after, it computes what that computes, from the same values.
"""

from xlareport.analysis.matching.search.nodes import is_free, is_fused, node_after
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Frame, Node, NodeElement
from xlareport.hlo.model import Instruction
from xlareport.runtime.whole_numbers import parse_whole_number

_REASON = "a further copy, in a fusion that read it"
_MOST = 200
"""Instructions of one producer."""


def cloned(search: Search) -> None:
    """Note what a fusion computes now as copies of what the fusion that it read before computes."""
    for link in search.links:
        pairs = zip(
            search.before.graph.operands(link.before),
            search.after.graph.operands(link.after),
            strict=False,
        )
        for read, (now, path) in pairs:
            if (
                read[0].instruction.opcode == "fusion"
                and not path
                and is_fused(now)
                and is_free(now)
            ):
                _note_copy(search, read, now)


def _note_copy(search: Search, read: NodeElement, now: Node) -> None:
    fusion, path = read
    computation = search.before.graph.module.callee(fusion.instruction)
    if computation is None or fusion.frame.callees.get(fusion.instruction.name) is not None:
        return
    home = search.before.graph.home(computation)
    result = _fusion_result(home, path)
    copied = None if result is None else _copied(search, fusion, home, result, now)
    for line, copy in copied or ():
        if is_free(copy) and copy not in search.copies:
            search.copies[copy] = home.node(line), _REASON


def _fusion_result(home: Frame, path: tuple[int, ...]) -> Instruction | None:
    """Return what gives the result of a fusion, or an element of it."""
    root = home.computation.root
    if root is None or root.opcode != "tuple":
        return None if path else root
    names = list(root.operand_names)
    number = path[0] if path else len(names)
    return home.computation.by_name.get(names[number]) if number < len(names) else None


def _copied(
    search: Search, fusion: Node, home: Frame, result: Instruction, now: Node
) -> list[tuple[Instruction, Node]] | None:
    """Return the lines behind a result, each with its copy; None where one differs."""
    pairs = [(result, now)]
    for line, node in pairs:
        other = node.instruction
        alike = line.opcode == other.opcode and search.forms.of(line) == search.forms.of(other)
        operands = search.after.graph.operands(node)
        if not alike or len(operands) != len(line.operands) or len(pairs) > _MOST:
            return None
        for name, (operand, path) in zip(line.operand_names, operands, strict=True):
            inner = home.computation.by_name.get(name)
            if inner is None:
                return None
            if inner.opcode == "parameter":
                if not _is_given(search, fusion, inner, (operand, path)):
                    return None
            elif (inner, operand) not in pairs:
                pairs.append((inner, operand))
    return pairs


def _is_given(search: Search, fusion: Node, parameter: Instruction, now: NodeElement) -> bool:
    """Whether what a copy reads continues what was given to the fusion for a parameter."""
    number = parse_whole_number(parameter.argument)
    given = search.before.graph.operands(fusion)
    if number is None or number >= len(given):
        return False
    node, path = given[number]
    return path == now[1] and node_after(search, node) is now[0]
