"""Instructions of one module that repeat another one: the same expression of the same values.

Passes copy cheap instructions into each fusion that reads them. Links give some values of one side
the numbers of the other; here each side is numbered alone, so equal values stay equal.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Graph, Node, NodeElement, opened_root
from xlareport.analysis.matching.sides.values import Values

_ONE_OF_A_KIND = frozenset(
    {
        "after-all",
        "custom-call",
        "infeed",
        "outfeed",
        "parameter",
        "recv",
        "rng",
        "rng-get-and-update-state",
        "send",
    }
)
"""Opcodes whose result is not determined by their operands."""


def own_values(graph: Graph, values: Values) -> Mapping[Node, Hashable]:
    """Return a value number of each differing node; nodes with equal ones compute the same."""
    numbers: dict[Hashable, int] = {}
    known: dict[Node, int] = {}

    def of(operand: NodeElement) -> int:
        node, path = operand
        number = known.get(node)
        if number is None:
            number = numbers.setdefault(("kept", values.value_of(node)), len(numbers))
        return numbers.setdefault((number, path), len(numbers)) if path else number

    for node in values.order:
        read = [of(operand) for operand in graph.operands(node)]
        opened = opened_root(node)
        if opened is not None:
            read.append(of((opened, ())))
        elif node.instruction.opcode in _ONE_OF_A_KIND:
            known[node] = numbers.setdefault(node, len(numbers))
            continue
        if node.commutes:
            read.sort()
        known[node] = numbers.setdefault((node.base, *read), len(numbers))
    return known


def without_repeats(
    nodes: Sequence[Node], values: Mapping[Node, Hashable], most: Mapping[str | None, int]
) -> list[Node]:
    """Return the nodes without repeats of a value beyond the limit of their family."""
    seen: Counter[Hashable] = Counter()
    result = []
    for node in nodes:
        value = values.get(node, node)
        seen[value] += 1
        if seen[value] <= most.get(family_of(node.instruction), 1):
            result.append(node)
    return result


def most_repeated(
    nodes: Iterable[Node], values: Mapping[Node, Hashable]
) -> Mapping[str | None, int]:
    """Return for each family the largest number of nodes with the same value."""
    counts = Counter((family_of(node.instruction), values.get(node, node)) for node in nodes)
    most: dict[str | None, int] = {}
    for (family, _), count in counts.items():
        most[family] = max(count, most.get(family, 0))
    return most
