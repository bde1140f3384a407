from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from xlareport.analysis.modules.chains import Chains, find_chains


def test_groups_and_the_longest_chain() -> None:
    chains = find_chains([("init", "train"), ("train", "train"), ("train", "eval"), ("a", "b")])
    assert chains == Chains((("eval", "init", "train"), ("a", "b")), ("init", "train", "eval"))


def test_a_circle_counts_once() -> None:
    chains = find_chains([("a", "b"), ("b", "a"), ("b", "c")])
    assert chains.groups == (("a", "b", "c"),)
    assert chains.longest == ("a", "c")


def test_without_links() -> None:
    assert find_chains([]) == find_chains([("a", "a")]) == Chains((), ())


MODULES = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(MODULES, MODULES), max_size=16))
def test_groups_and_chains_are_those_of_graph_theory(links: list[tuple[str, str]]) -> None:
    graph = nx.DiGraph(sorted((one, other) for one, other in links if one != other))
    circles = nx.condensation(graph)
    circle_of = {min(circles.nodes[circle]["members"]): circle for circle in circles}
    chains = find_chains(links)

    assert {frozenset(group) for group in chains.groups} == set(
        map(frozenset, nx.weakly_connected_components(graph))
    )
    assert len(chains.longest) == (len(nx.dag_longest_path(circles)) if circles else 0)
    in_row = [circle_of[one] for one in chains.longest]
    assert all(circles.has_edge(*two) for two in pairwise(in_row))
