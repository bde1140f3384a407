"""How linked modules hang together: in groups, and in a longest chain."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chains:
    """What the links between modules come to; modules by their keys."""

    groups: tuple[tuple[str, ...], ...]
    """Modules that links join, directly or through others, the largest group first."""
    longest: tuple[str, ...]
    """Modules of which each takes results of the one before, most of them in a row."""


def chains(links: Iterable[tuple[str, str]]) -> Chains:
    """Follow (source, target) pairs; modules that feed one another in a circle count once."""
    import networkx as nx  # noqa: PLC0415 - a quarter of a second that most dumps need not pay

    graph = nx.DiGraph()
    graph.add_edges_from(sorted((source, target) for source, target in links if source != target))
    groups = sorted(map(sorted, nx.weakly_connected_components(graph)), key=lambda one: -len(one))
    whole = nx.condensation(graph)
    path = nx.dag_longest_path(whole) if whole else []
    longest = tuple(min(whole.nodes[one]["members"]) for one in path)
    return Chains(tuple(map(tuple, groups)), longest)
