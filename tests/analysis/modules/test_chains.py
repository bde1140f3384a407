from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from xlareport.analysis.modules.chains import Chains, find_chains


def test_groups_and_the_longest_chain() -> None:
    found = find_chains([("init", "train"), ("train", "train"), ("train", "eval"), ("a", "b")])
    assert found == Chains((("eval", "init", "train"), ("a", "b")), ("init", "train", "eval"))


def test_a_circle_counts_once() -> None:
    found = find_chains([("a", "b"), ("b", "a"), ("b", "c")])
    assert found.groups == (("a", "b", "c"),)
    assert found.longest == ("a", "c")


def test_without_links() -> None:
    assert find_chains([]) == find_chains([("a", "a")]) == Chains((), ())


MODULES = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(MODULES, MODULES), max_size=16))
def test_groups_and_chains_are_those_of_graph_theory(links: list[tuple[str, str]]) -> None:
    graph = nx.DiGraph(sorted((one, other) for one, other in links if one != other))
    circles = nx.condensation(graph)
    circle_of = {min(circles.nodes[one]["members"]): one for one in circles}
    found = find_chains(links)

    assert {frozenset(one) for one in found.groups} == set(
        map(frozenset, nx.weakly_connected_components(graph))
    )
    assert len(found.longest) == (len(nx.dag_longest_path(circles)) if circles else 0)
    in_row = [circle_of[one] for one in found.longest]
    assert all(circles.has_edge(*two) for two in pairwise(in_row))
