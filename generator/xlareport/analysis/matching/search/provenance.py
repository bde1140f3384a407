"""Where in its program an instruction belongs, and what only one of two programs has.

Two programs have no names of instructions in common. They share labels of arguments, named scopes
and phases: what belongs to a scope of one of them alone continues nothing of a scope of both.
"""

from collections.abc import Iterator
from functools import lru_cache

from xlareport.analysis.matching.search.fixed_lines import FixedLines
from xlareport.analysis.matching.search.nodes import origin
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.source.scopes import scope_of, split_merged
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import REARRANGEMENTS

_PASSING = REARRANGEMENTS | {"broadcast", "convert"}
"""Opcodes behind which an argument is still recognized."""
_MOST_PASSED = 8
"""Such instructions in a row that are looked behind."""
_OF_RECOMPUTING = frozenset({"checkpoint", "remat", "remat2", "rematted_computation"})

_Scope = tuple[object, ...]
"""The phase, then the named scopes, numbers and all: `layer_3`, `mlp`."""


class Provenance:
    """Decides whether the places of two nodes in two programs contradict a pair."""

    def __init__(self, before: Side, after: Side) -> None:
        self._programs = _Program(before), _Program(after)
        self._lines = FixedLines(before.graph.module, after.graph.module)

    def parts(self, before: Node, after: Node) -> bool:
        """Return whether two nodes belong to different scopes or lines, or read other arguments.

        A scope with another name in one program may be one that only the other program has.
        """
        ours, theirs = self._programs
        labels = ours.label(before), theirs.label(after)
        if labels[0] and labels[1]:
            return self._are_other_arguments({labels[0]}, {labels[1]})
        scopes = scope_of_op(origin(before)), scope_of_op(origin(after))
        if scopes[0] and scopes[1] and self._are_other_scopes(*scopes):
            return True
        if self._lines.part(before.instruction, after.instruction):
            return True
        return self._are_other_arguments(ours.reads(before), theirs.reads(after))

    def _are_other_arguments(self, here: set[str], there: set[str]) -> bool:
        """Return whether no argument is in both, and one of them is in both programs."""
        if not here or not there or here & there:
            return False
        return bool(here & self._programs[1].labels or there & self._programs[0].labels)

    def _are_other_scopes(self, here: _Scope, there: _Scope) -> bool:
        """Return whether two scopes have different phases, or differ where a program has both."""
        if here == there:
            return False
        pairs = enumerate(zip(here, there, strict=False), 1)
        end = next((end for end, (ours, theirs) in pairs if ours != theirs), 0)
        if not end:  # one is inside of the other
            return here in self._programs[1].scopes and there in self._programs[0].scopes
        known = self._programs[1].outer_scopes, self._programs[0].outer_scopes
        return end == 1 or here[:end] in known[0] or there[:end] in known[1]


class _Program:
    """The scopes and the labels of one side."""

    def __init__(self, side: Side) -> None:
        self._graph = side.graph
        self.labels = set(labels_of(side.graph.module))
        names = {origin(node) for node in side.nodes}
        names |= {line.metadata.op_name for line in side.graph.module.instructions}
        self.scopes = {scope for name in names if (scope := scope_of_op(name))}
        self.outer_scopes = {part for scope in self.scopes for part in _outer(scope)}
        self._read: dict[Node, set[str]] = {}

    def label(self, node: Node) -> str:
        """Return the label of an argument of the module; empty of anything else."""
        is_argument = node.instruction.opcode == "parameter"
        if not is_argument or node.frame.computation is not self._graph.module.entry:
            return ""
        label = node.instruction.metadata.op_name
        return label if label in self.labels else ""

    def reads(self, node: Node) -> set[str]:
        """Return the labels of the arguments that a node reads, behind moves and converts."""
        known = self._read.get(node)
        if known is None:
            sources = (self._source(operand) for operand, _ in self._graph.operands(node))
            known = self._read[node] = {
                label for source in sources if (label := self.label(source))
            }
        return known

    def _source(self, node: Node) -> Node:
        for _ in range(_MOST_PASSED):
            operands = self._graph.operands(node)
            if node.instruction.opcode not in _PASSING or len(operands) != 1:
                break
            node = operands[0][0]
        return node


@lru_cache(maxsize=65536)
def scope_of_op(op_name: str) -> _Scope:
    """Return the phase and the named scopes of an op_name; empty where it is of no traced program.

    What jax.checkpoint adds to the path is told by the phase.
    """
    if "/" not in op_name:
        return ()
    first = split_merged(op_name)[0]
    words = (word for word in scope_of(first).split("/") if word)
    phase = "transpose(" in first, "rematted_computation" in first
    return phase, *(word for word in words if word not in _OF_RECOMPUTING)


def _outer(scope: _Scope) -> Iterator[_Scope]:
    """Yield a scope and those around it."""
    for end in range(1, len(scope) + 1):
        yield scope[:end]


def labels_of(module: HloModule) -> dict[str, int]:
    """Return the numbers of the arguments of a module by their labels, those that are unique."""
    labels: dict[str, int] = {}
    several = set()
    for number, line in enumerate(module.parameters):
        label = line.metadata.op_name
        if label in labels:
            several.add(label)
        labels[label] = number
    return {label: number for label, number in labels.items() if label and label not in several}
