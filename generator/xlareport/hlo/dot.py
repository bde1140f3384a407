"""Reads XLA's `.dot` drawings: less than a text, but sometimes all there is.

What a drawing does not show, and what is shown in its place:

- constants and broadcasts of them inside fusions: no instruction, no operand of their users
- the root of a computation that is one of these: what it is made from is marked instead, or none
- metadata of fusions whose body is drawn
- get-tuple-element: no instruction; its users name `while.6#1`, as compact texts do
- computations of one simple instruction (`add` of a reduction): not there, not called
- names of fused computations: `unnamed-of-` and the name of the fusion
- names of parameters that nothing uses: `unnamed-parameter.` and the number
- shapes of fusions with several results; members of shapes beyond 64 characters: `unknown[]`
- layouts of one dimension, attributes that were cut, backend configurations, module attributes
- opcodes with which a name begins are not written: the longest that fits is taken
- the order of instructions: operands come before users
- the name of the module: the title of the drawing, which is the name of the file
"""

import html
import re
from collections.abc import Iterator, Mapping

from xlareport.hlo.dot_graph import DotCluster, DotGraph, DotNode, statements
from xlareport.hlo.model import HloModule
from xlareport.hlo.protos.attributes import call_attributes
from xlareport.hlo.quoting import escape
from xlareport.hlo.shape import UNKNOWN
from xlareport.hlo.snapshot_reading import PrintedReader, SnapshotReading, first_problems
from xlareport.runtime.errors import Problem
from xlareport.runtime.graphs import postorder

_SOURCE = re.compile(r"source: (.*):(\d{1,9})")
_FRAME = re.compile(r"(.*?):[^:/]*+:(\d{1,9}):\d{1,9}")
_FORBIDDEN = re.compile(r"[\s=%(){},\"]")


def header(cluster: DotCluster, *, is_entry: bool) -> str:
    """Return the line that opens a computation; a drawing does not have its signature."""
    return f"{'ENTRY ' if is_entry else ''}%{_clean(cluster.name)} {{"


def lines(cluster: DotCluster) -> Iterator[str]:
    """Yield the instructions of a computation, operands before their users."""
    for node in _ordered(cluster.nodes):
        root = "ROOT " if node is cluster.root else ""
        yield root + _instruction_text(node)


def _instruction_text(node: DotNode) -> str:
    label = node.label
    opcode = label.opcode or "unknown"
    head = f"%{node_name(node)} = {_shape(node)} {opcode}({_between(node)})"
    return ", ".join([head, *_attributes(node, opcode)])


def node_name(node: DotNode) -> str:
    """Return the name of an instruction, made up for parameters that no edge names."""
    unnamed = f"unnamed-parameter.{node.label.number}"
    return _clean(node.label.name or unnamed)


def _clean(name: str) -> str:
    return _FORBIDDEN.sub("_", name) or "unnamed"


def _shape(node: DotNode) -> str:
    """Return the shape; that of a fusion is the shape of its root."""
    body = node.called[0] if node.label.opcode == "fusion" and node.called else None
    if body is None or body.fusion is not node:
        return node.label.shape
    return body.root.label.shape if body.root is not None else f"{UNKNOWN}[]"


def _between(node: DotNode) -> str:
    if node.label.opcode == "parameter":
        return str(node.label.number)
    operands = {number: node_name(operand) for number, operand in node.operands.items()}
    operands |= {number: _clean(name) for number, name in node.label.folded.items()}
    operands |= {number: _clean(name) for number, name in _bound(node).items()}
    return ", ".join(f"%{name}" for _, name in sorted(operands.items()))


def _bound(node: DotNode) -> dict[int, str]:
    """Return the tuple elements that represent parameters inside a fusion."""
    bodies = [body for body in node.called if body.fusion is node]
    return {
        inner.label.number: inner.label.element
        for body in bodies
        for inner in body.nodes
        if inner.label.number is not None and inner.label.element
    }


def _attributes(node: DotNode, opcode: str) -> Iterator[str]:
    called = [_clean(cluster.name) for cluster in node.called]
    yield from node.label.attributes
    stated = (attribute.partition("=")[0] for attribute in node.label.attributes)
    if node.control and "control-predecessors" not in stated:
        names = ", ".join(f"%{node_name(other)}" for other in node.control)
        yield f"control-predecessors={{{names}}}"
    first = node.operands.get(0)
    by_predicate = first is not None and first.label.shape.startswith("pred")
    for name, value in call_attributes(opcode, called, by_predicate=by_predicate).items():
        yield f"{name}={value}"
    metadata = " ".join(_metadata(html.unescape(node.tooltip).split("\n")))
    if metadata:
        yield f"metadata={{{metadata}}}"


def _metadata(tips: list[str]) -> Iterator[str]:
    name, *rest = tips
    for tip in rest:
        if tip.startswith("op_type: "):
            yield f'op_type="{escape(tip.removeprefix("op_type: "))}"'
    if name.strip():
        yield f'op_name="{escape(name)}"'
    place = next((match for tip in rest if (match := _match_source(tip))), None)
    if place:
        yield f'source_file="{escape(place[1])}" source_line={place[2]}'


def _match_source(tip: str) -> re.Match[str] | None:
    """Return file and line: of the source, else of the innermost frame, which comes first."""
    return _SOURCE.fullmatch(tip) or _FRAME.fullmatch(tip)


def _ordered(nodes: list[DotNode]) -> list[DotNode]:
    """Sort so that operands come before users, else as drawn; an edge of a cycle is ignored."""
    by_name = {node.label.name: node for node in nodes}
    return [*postorder(nodes, lambda node: reversed([*_before(node, by_name)]))]


def _before(node: DotNode, by_name: Mapping[str, DotNode]) -> Iterator[DotNode]:
    folded = {**node.label.folded, **_bound(node)}.values()
    named = (by_name.get(element.partition("#")[0]) for element in folded)
    for operand in (*node.operands.values(), *node.control, *named):
        if operand is not None and operand.cluster is node.cluster:
            yield operand


class DotReader(PrintedReader):
    """Reads related drawings; equal parts become one object."""

    def _read(self, data: bytes) -> SnapshotReading:
        if not data.lstrip().startswith(b"digraph "):
            return SnapshotReading(None, (Problem("", 1, "not a drawing: no digraph"),))
        graph = DotGraph(statements(data.decode("utf-8", "replace")))
        if not graph.top.nodes:
            return SnapshotReading(None, (Problem("", 1, "a drawing without instructions"),))
        problems = list(graph.problems)
        computations = tuple(
            self._computation(
                header(cluster, is_entry=cluster is graph.top), lines(cluster), problems
            )
            for cluster in graph.clusters
        )
        return SnapshotReading(
            HloModule(graph.top.title, "", computations), first_problems(problems)
        )
