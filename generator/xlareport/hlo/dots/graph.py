"""The graph in a drawing: nodes in clusters, and edges lifted to where operands are."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xlareport.hlo.dots.labels import Label, read_label
from xlareport.hlo.dots.statements import Statement
from xlareport.hlo.trouble import trouble

if TYPE_CHECKING:
    from xlareport.runtime.errors import Problem

MAX_DEPTH = 100
"""Clusters nested deeper are taken for part of the cluster around them."""

_NODE = re.compile(r"(\w++) \[label=<")
_EDGE = re.compile(r"(\w++) -> (\w++) \[")
_CLUSTER = re.compile(r"subgraph (\w++)")
_BETWEEN = re.compile(r'tooltip="([^"\s]++) -> ([^"\s]++)"')
_HEAD = re.compile(r'headlabel="(\d{1,9})"')
_TAIL = re.compile(r'ltail="(\w++)"')
_FUSED = re.compile(r"Fused expression for <b>([^<]++)</b>(?:<br/>)?+(.*)", re.DOTALL)
_CALLED = re.compile(r"Subcomputation for <b>([^<]++)</b><br/>(.*)", re.DOTALL)
_ENTRY = re.compile(r"<b>(.*?)<br/>Computation ([^<]++)")


@dataclass(slots=True, eq=False)
class DotNode:
    """A node, or a fusion whose body is drawn: then its cluster stands for it."""

    label: Label
    cluster: "DotCluster"
    tooltip: str = ""
    operands: dict[int, "DotNode"] = field(default_factory=dict)
    """By number, without what is folded into the label."""
    control: list["DotNode"] = field(default_factory=list)
    called: list["DotCluster"] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class DotCluster:
    """A computation: the drawing as a whole, a fused expression or a called computation."""

    parent: "DotCluster | None" = None
    depth: int = 0
    name: str = ""
    title: str = ""
    fusion: DotNode | None = None
    """What stands for a fused expression among the nodes of the parent."""
    nodes: list[DotNode] = field(default_factory=list)
    root: DotNode | None = None


class DotGraph:
    """The clusters of a drawing: callees first, the drawing as a whole last."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        """Read the statements; `problems` says what was not understood."""
        self.problems: list[Problem] = []
        self.top = DotCluster()
        self.clusters: list[DotCluster] = []
        self._by_id: dict[str, DotCluster] = {}
        self._nodes: dict[str, DotNode] = {}
        self._open = [self.top]
        self._edges: list[str] = []
        for statement in statements:
            self._add(statement)
        self.clusters.append(self.top)
        for edge in self._edges:
            self._join(edge)

    def _add(self, statement: Statement) -> None:
        text = statement.text
        if not statement.is_closed:
            self.problems.append(trouble(statement.line, text, 0, "the drawing ends here"))
        elif text.startswith("label = <"):
            self._title(self._open[-1], text[len("label = <") : text.rfind(">")])
        elif text.startswith("subgraph "):
            self._enter(text)
        elif text.startswith("}"):
            self._leave()
        elif _EDGE.match(text):
            # XLA writes edges last; a drawing of others may not.
            self._edges.append(text)
        else:
            self._node(text)

    def _enter(self, text: str) -> None:
        parent = self._open[-1]
        match = _CLUSTER.match(text)
        cluster = DotCluster(parent, parent.depth + 1)
        if match:
            self._by_id[match[1]] = cluster
        self._open.append(cluster if cluster.depth <= MAX_DEPTH else parent)

    def _leave(self) -> None:
        if len(self._open) > 1:
            done = self._open.pop()
            if done is not self._open[-1]:
                self.clusters.append(done)

    def _title(self, cluster: DotCluster, title: str) -> None:
        fused, called, entry = _FUSED.match(title), _CALLED.match(title), _ENTRY.match(title)
        if fused and cluster.parent is not None:
            self._fusion(cluster, cluster.parent, fused[1], fused[2])
        elif called:
            cluster.name = called[2].partition("<br/>")[0]
        elif entry:
            cluster.title, cluster.name = entry[1], entry[2]

    def _fusion(self, cluster: DotCluster, parent: DotCluster, name: str, rest: str) -> None:
        label = read_label(f"<b>{name}</b><br/>{rest}")
        label.opcode = "fusion"
        cluster.name = f"unnamed-of-{name}"
        cluster.fusion = DotNode(label, parent, called=[cluster])
        parent.nodes.append(cluster.fusion)

    def _node(self, text: str) -> None:
        match = _NODE.match(text)
        end = text.rfind(">, shape=")
        if match is None or end < match.end() or "=circle" in text[end : end + 20]:
            return
        cluster = self._open[-1]
        label = read_label(text[match.end() : end])
        node = DotNode(label, cluster, _tooltip(text, end))
        cluster.nodes.append(node)
        self._nodes[match[1]] = node

    def _join(self, text: str) -> None:
        ends = _EDGE.match(text)
        if ends is None:
            return
        source, target = self._nodes.get(ends[1]), self._nodes.get(ends[2])
        if source is not None and target is not None:
            self._join_nodes(source, target, text)
        elif source is not None:
            # The tag that marks the root of the drawing.
            self.top.root = _lifted(source, self.top)

    def _join_nodes(self, source: DotNode, target: DotNode, text: str) -> None:
        tail = _TAIL.search(text)
        if tail and tail[1] in self._by_id:
            cluster = self._by_id[tail[1]]
            cluster.root = _lifted(source, cluster)
            target.called.append(cluster)
            return
        _name_by_edge(source, target, text)
        if 'style="dotted"' in text:
            target.control.append(_lifted(source, target.cluster))
            return
        head = _HEAD.search(text)
        _add_operand(source, target, int(head[1]) if head else 0)


def _tooltip(text: str, start: int) -> str:
    begin = text.find('tooltip="', start)
    end = text.find('", style=', begin)
    return text[begin + len('tooltip="') : end] if 0 <= begin < end else ""


def _name_by_edge(source: DotNode, target: DotNode, text: str) -> None:
    """Give parameters their names: only tooltips of edges say them."""
    names = _BETWEEN.search(text)
    if names:
        source.label.name = source.label.name or names[1]
        target.label.name = target.label.name or names[2]


def _add_operand(source: DotNode, target: DotNode, number: int) -> None:
    """Note an operand; edges are drawn into and out of fused expressions, operands are not."""
    used = _lifted(source, target.cluster)
    if used.cluster is not target.cluster and target.cluster.fusion is not None:
        number = target.label.number or 0
        target = target.cluster.fusion
        used = _lifted(source, target.cluster)
    target.operands[number] = used


def _lifted(node: DotNode, cluster: DotCluster) -> DotNode:
    """Return the fusion that stands for a node inside it, in a cluster around.

    What is used from outside is the root of the fused expression.
    """
    while node.cluster is not cluster and node.cluster.fusion is not None:
        node.cluster.root = node
        node = node.cluster.fusion
    return node
