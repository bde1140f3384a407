"""The clusters of a framework's graph, and the operations outside of them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.readers.tf_graph import FrameworkGraph, GraphNode
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

_PLUMBING = frozenset({"_Arg", "_Retval", "NoOp", "Const", "_SOURCE", "_SINK"})
_KINDS = 12
_GRAPHS = 10
_TEXT = "guessed: it handles text, a type that XLA does not have"
_NOT_KNOWN = "not known: neither the graph nor a log of TensorFlow in the dump gives a reason"


class UncompiledOperation(Struct, frozen=True):
    """An operation that XLA does not compile."""

    name: str
    op: str
    reason: str
    """The reason in the framework's log, else a guess from the graph."""


class Cluster(Struct, frozen=True):
    """A part of the graph that XLA compiles as one module."""

    name: str
    modules: tuple[str, ...]
    """Keys of the modules that it became."""
    operations: str


class ClusteredGraph(Struct, frozen=True):
    """A framework's graph, divided into clusters that XLA compiles and operations outside."""

    path: str
    clusters: tuple[Cluster, ...]
    outside: tuple[UncompiledOperation, ...]


def cluster_graphs(
    graphs: Sequence[FrameworkGraph],
    summaries: Iterable[ModuleSummary],
    reasons: Mapping[str, str],
) -> tuple[ClusteredGraph, ...]:
    """Return the graphs with clusters; equal sets of clusters only once.

    `reasons` are those of the framework's log, by operation name.
    """
    if not graphs:
        return ()
    clustered_graphs: dict[frozenset[str], ClusteredGraph] = {}
    modules = [(summary.files.key, summary.display_name) for summary in summaries]
    for graph in graphs:
        units_of = frozenset(node.unit for node in graph.nodes if node.unit)
        if units_of:
            clustered_graphs.setdefault(units_of, _graph(graph, modules, reasons))
    return tuple(clustered_graphs.values())[:_GRAPHS]


def _graph(
    graph: FrameworkGraph, modules: Sequence[tuple[str, str]], reasons: Mapping[str, str]
) -> ClusteredGraph:
    inside = group_by_key((node.unit, node) for node in graph.nodes)
    outside = [graph_node for graph_node in inside.pop("", []) if graph_node.op not in _PLUMBING]
    return ClusteredGraph(
        path=graph.path,
        clusters=tuple(
            Cluster(name, _modules(name, modules), _operations_words(nodes))
            for name, nodes in inside.items()
        ),
        outside=tuple(
            UncompiledOperation(graph_node.name, graph_node.op, _why_outside(graph_node, reasons))
            for graph_node in outside
        ),
    )


def _why_outside(node: GraphNode, reasons: Mapping[str, str]) -> str:
    message = reasons.get(node.name)
    if message is not None:
        return f"TensorFlow's log: {message}"
    return _TEXT if node.has_text else _NOT_KNOWN


def _modules(unit: str, modules: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the modules of a cluster; TensorFlow appends to its name."""
    return tuple(
        key
        for key, name in modules
        if name.startswith(unit) and not name[len(unit) : len(unit) + 1].isalnum()
    )


def _operations_words(nodes: Sequence[GraphNode]) -> str:
    counts = Counter(node.op for node in nodes)
    shown = ", ".join(f"{name} ({count})" for name, count in counts.most_common(_KINDS))
    return f"{units.plural(len(nodes), 'operation')}: {shown}"
