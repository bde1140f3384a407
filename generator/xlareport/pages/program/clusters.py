"""A framework's graph as the page of the program tells it: its clusters, and what is outside."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xlareport.readers.tf_graph import FrameworkGraph, GraphNode
from xlareport.records.report import ReportView
from xlareport.runtime import units

_PLUMBING = frozenset({"_Arg", "_Retval", "NoOp", "Const", "_SOURCE", "_SINK"})
_KINDS = 12
_GRAPHS = 10
_TEXT = "guessed: it handles text, a type that XLA does not have"
_NOT_TOLD = "not told: neither the graph nor a log of TensorFlow in the dump gives a reason"


@dataclass(frozen=True, slots=True)
class Outside:
    """An operation that XLA does not compile."""

    name: str
    op: str
    reason: str
    """Why, as the framework's log says, else as far as the graph lets one guess."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A part of the graph that XLA compiles as one module."""

    name: str
    modules: tuple[str, ...]
    """Keys of the modules that it became."""
    operations: str


@dataclass(frozen=True, slots=True)
class ClusteredGraph:
    """A framework's graph with what XLA compiles of it and what stays outside."""

    path: str
    clusters: tuple[Cluster, ...]
    outside: tuple[Outside, ...]


def clustered(
    graphs: Iterable[FrameworkGraph], report: ReportView, reasons: Mapping[str, str]
) -> tuple[ClusteredGraph, ...]:
    """Return the graphs that have clusters, each set of clusters once.

    `reasons` are what the framework's log says of operations, by their names.
    """
    found: dict[frozenset[str], ClusteredGraph] = {}
    for graph in graphs:
        units_of = frozenset(one.unit for one in graph.nodes if one.unit)
        if units_of:
            found.setdefault(units_of, _graph(graph, report, reasons))
    return tuple(found.values())[:_GRAPHS]


def _graph(graph: FrameworkGraph, report: ReportView, reasons: Mapping[str, str]) -> ClusteredGraph:
    inside: dict[str, list[GraphNode]] = defaultdict(list)
    for one in graph.nodes:
        inside[one.unit].append(one)
    outside = [one for one in inside.pop("", []) if one.op not in _PLUMBING]
    return ClusteredGraph(
        path=graph.path,
        clusters=tuple(
            Cluster(name, _modules(name, report), _counted(nodes)) for name, nodes in inside.items()
        ),
        outside=tuple(Outside(one.name, one.op, _reason(one, reasons)) for one in outside),
    )


def _reason(node: GraphNode, reasons: Mapping[str, str]) -> str:
    said = reasons.get(node.name)
    if said is not None:
        return f"TensorFlow's log: {said}"
    return _TEXT if node.has_text else _NOT_TOLD


def _modules(unit: str, report: ReportView) -> tuple[str, ...]:
    """Return the modules of a cluster; TensorFlow appends to its name."""
    return tuple(
        one.key
        for one in report.modules
        if one.name.startswith(unit) and not one.name[len(unit) : len(unit) + 1].isalnum()
    )


def _counted(nodes: Sequence[GraphNode]) -> str:
    counts = Counter(one.op for one in nodes)
    shown = ", ".join(f"{name} ({count})" for name, count in counts.most_common(_KINDS))
    return f"{units.plural(len(nodes), 'operation')}: {shown}"
