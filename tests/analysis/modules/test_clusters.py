"""Clusters of TensorFlow's graphs: what is inside, what is outside, and why."""

from collections.abc import Callable
from pathlib import Path

from xlareport.analysis.dump import relate_modules
from xlareport.analysis.modules.clusters import ClusteredGraph, cluster_graphs
from xlareport.dump.source import open_source
from xlareport.dump_reading import ReadingOptions, analyze, begin_reading
from xlareport.runtime.progress import silent
from xlareport.runtime.worker_pool import WorkerPool


def graphs_of(dump: Path) -> tuple[ClusteredGraph, ...]:
    with open_source(dump) as source, WorkerPool(1) as workers:
        analyzed = analyze(begin_reading(source, ReadingOptions(), workers, silent, pages=False))
    return relate_modules(analyzed).graphs


def test_operations_are_inside_a_cluster_or_outside(unpacked: Callable[[str], Path]) -> None:
    (graph,) = graphs_of(unpacked("tf-clusters"))

    assert [cluster.name for cluster in graph.clusters] == ["cluster_0", "cluster_1"]
    assert all(len(cluster.modules) == 1 for cluster in graph.clusters)
    assert {operation.op for operation in graph.outside} == {"AsString", "StringToNumber"}
    assert all(operation.reason.startswith("guessed") for operation in graph.outside)


def test_the_log_of_the_framework_has_the_reason(unpacked: Callable[[str], Path]) -> None:
    graphs = graphs_of(unpacked("labelled-branches"))

    reasons = [operation.reason for graph in graphs for operation in graph.outside]
    assert len(reasons) == 6
    assert all(reason.startswith("TensorFlow's log: No registered") for reason in reasons)


def test_without_a_graph_there_are_no_clusters() -> None:
    assert cluster_graphs((), (), {}) == ()
