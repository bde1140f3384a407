"""Writes what a drawing tells as lines of HLO text."""

import html
import re
from collections.abc import Iterator, Mapping

from xlareport.hlo.calls import call_attributes
from xlareport.hlo.dots.graph import DotCluster, DotNode
from xlareport.hlo.quoting import escape
from xlareport.hlo.shape import UNKNOWN
from xlareport.runtime.graphs import postorder

_SOURCE = re.compile(r"source: (.*):(\d{1,9})")
_FRAME = re.compile(r"(.*?):[^:/]*+:(\d{1,9}):\d{1,9}")
_FORBIDDEN = re.compile(r"[\s=%(){},\"]")


def header(cluster: DotCluster, *, is_entry: bool) -> str:
    """Return the line that opens a computation; a drawing does not tell its signature."""
    return f"{'ENTRY ' if is_entry else ''}%{_clean(cluster.name)} {{"


def lines(cluster: DotCluster) -> Iterator[str]:
    """Yield the instructions of a computation, operands before their users."""
    for node in _ordered(cluster.nodes):
        root = "ROOT " if node is cluster.root else ""
        yield root + _line(node)


def _line(node: DotNode) -> str:
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
    """Return the tuple elements that stand for parameters inside a fusion."""
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
    if node.control and not any(_is_control(attribute) for attribute in node.label.attributes):
        names = ", ".join(f"%{node_name(other)}" for other in node.control)
        yield f"control-predecessors={{{names}}}"
    first = node.operands.get(0)
    by_predicate = first is not None and first.label.shape.startswith("pred")
    for name, value in call_attributes(opcode, called, by_predicate=by_predicate).items():
        yield f"{name}={value}"
    metadata = " ".join(_metadata(html.unescape(node.tooltip).split("\n")))
    if metadata:
        yield f"metadata={{{metadata}}}"


def _is_control(attribute: str) -> bool:
    return attribute.startswith("control-predecessors=")


def _metadata(tips: list[str]) -> Iterator[str]:
    name, *rest = tips
    for tip in rest:
        if tip.startswith("op_type: "):
            yield f'op_type="{escape(tip.removeprefix("op_type: "))}"'
    if name.strip():
        yield f'op_name="{escape(name)}"'
    place = next((match for tip in rest if (match := _place(tip))), None)
    if place:
        yield f'source_file="{escape(place[1])}" source_line={place[2]}'


def _place(tip: str) -> re.Match[str] | None:
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
