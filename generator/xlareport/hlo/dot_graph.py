"""The graph in one of XLA's drawings: statements, labels of nodes, clusters, edges to operands."""

import html
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from xlareport.hlo import quoting
from xlareport.hlo.opcode_groups import OPCODES
from xlareport.hlo.shape import UNKNOWN, ShapeError, parse_shape
from xlareport.hlo.snapshot_reading import problem_at
from xlareport.runtime.errors import Problem

_STARTS = re.compile(r"label = <|subgraph |\}|\w++ \[label=<|\w++ -> \w++ \[")
_QUOTE = re.compile(r'(?<!\\)"')


class Statement(Struct, frozen=True):
    """A node, an edge, a label, the start or the end of a cluster."""

    line: int
    """The number of its first line, from 1."""
    text: str
    is_closed: bool
    """Whether all quotes are closed; the file ends inside where they are not."""


def statements(text: str) -> Iterator[Statement]:
    """Yield the statements that begin a line; a quoted text can continue over several lines.

    XLA indents nothing but the style sheet, so that no line of it can be taken for a statement.
    """
    held: list[str] = []
    first, is_open = 0, False
    for number, line in enumerate(text.split("\n"), start=1):
        if not held and not _STARTS.match(line):
            continue
        if not held:
            first = number
        held.append(line)
        is_open ^= len(_QUOTE.findall(line)) % 2 == 1
        if not is_open:
            yield Statement(first, "\n".join(held), is_closed=True)
            held = []
    if held:
        yield Statement(first, "\n".join(held), is_closed=False)


_TAG = re.compile(r"</?[bi]>")
_PARAMETER = re.compile(r"Parameter (\d{1,9})")
_OPERAND = re.compile(r"<b>operand(?: (\d{1,9}))?</b> = (.*)", re.DOTALL)
_ELEMENT = re.compile(r"tuple-element (\d{1,9}) of (\S++)")
_OPCODE_AT_START = re.compile("|".join(sorted(map(re.escape, OPCODES), key=len, reverse=True)))


class Label(Struct):
    """A parsed label."""

    name: str = ""
    """Empty for parameters: their names are only at the edges."""
    opcode: str = ""
    shape: str = f"{UNKNOWN}[]"
    number: int | None = None
    """Of a parameter."""
    element: str = ""
    """The tuple element that a fusion's parameter represents, if it is one: `while.35#0`."""
    folded: dict[int, str] = field(default_factory=dict)
    """Tuple elements that are drawn inside the node, by the number of the operand."""
    attributes: list[str] = field(default_factory=list)


def read_label(text: str) -> Label:
    """Read the text between `<` and `>`; unknown text is kept as an attribute."""
    first, *lines = text.split("<br/>")
    label = _label_of_name(_without_tags(first))
    for line in lines:
        operand = _OPERAND.match(line)
        if operand:
            _fold_operand(label, int(operand[1] or 0), _without_tags(operand[2]))
        elif not line.startswith("<i>from "):
            _add_line(label, _without_tags(line))
    label.opcode = label.opcode or opcode_of_name(label.name)
    return label


def _without_tags(line: str) -> str:
    return html.unescape(_TAG.sub("", line))


def _label_of_name(first: str) -> Label:
    parameter = _PARAMETER.fullmatch(first)
    if parameter:
        return Label(opcode="parameter", number=int(parameter[1]))
    return Label(name=first)


def _fold_operand(label: Label, number: int, text: str) -> None:
    element = _ELEMENT.match(text)
    if element:
        label.folded[number] = f"{element[2]}#{element[1]}"


def _add_line(label: Label, line: str) -> None:
    element = _ELEMENT.match(line)
    if element:
        label.element = f"{element[2]}#{element[1]}"
    elif not label.opcode and line.partition(":")[0] in OPCODES:
        label.opcode = line.partition(":")[0]
    elif shape := _shape(line):
        label.shape = shape
    elif "=" in line and quoting.is_balanced(line):
        label.attributes.append(line)


def _shape(line: str) -> str:
    """Return the shape in a line; XLA truncates long ones, which then end in an unknown one."""
    if line.startswith("(") and line.endswith("..."):
        whole = line.rpartition(", ")[0]
        line = f"{whole}, {UNKNOWN}[]" + ")" * max(1, whole.count("(") - whole.count(")"))
    try:
        return parse_shape(line).text
    except ShapeError:
        return ""


def opcode_of_name(name: str) -> str:
    """Return the opcode with which a name begins: XLA leaves the opcode out where it does.

    Of several the longest, which is a guess; empty where there is none.
    """
    match = _OPCODE_AT_START.match(name)
    return match[0] if match else ""


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


class DotNode(Struct, eq=False):
    """A node, or a fusion whose body is drawn: then its cluster represents it."""

    label: Label
    cluster: "DotCluster"
    tooltip: str = ""
    operands: dict[int, "DotNode"] = field(default_factory=dict)
    """Operands by number, without those folded into the label."""
    control: list["DotNode"] = field(default_factory=list)
    called: list["DotCluster"] = field(default_factory=list)


class DotCluster(Struct, eq=False):
    """A computation: the drawing as a whole, a fused expression or a called computation."""

    parent: "DotCluster | None" = None
    depth: int = 0
    name: str = ""
    title: str = ""
    fusion: DotNode | None = None
    """The node of the parent that represents a fused expression."""
    nodes: list[DotNode] = field(default_factory=list)
    root: DotNode | None = None


class DotGraph:
    """The clusters of a drawing: callees first, the drawing as a whole last."""

    problems: list[Problem]
    """Statements that could not be read."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        """Read the statements."""
        self.problems = []
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
            self.problems.append(problem_at(statement.line, text, 0, "the drawing ends here"))
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
    """Return the fusion that represents a node inside it, in a cluster around.

    What is used from outside is the root of the fused expression.
    """
    while node.cluster is not cluster and node.cluster.fusion is not None:
        node.cluster.root = node
        node = node.cluster.fusion
    return node
