"""Walks through graphs: each node once, the order, cycles, and chains longer than any stack."""

import pytest

from xlareport.runtime.graphs import descend, forest, nearest_first, postorder, reachable

DIAMOND = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}
CIRCLE = {"a": ["b"], "b": ["c"], "c": ["a"]}
LONG = 100_000


def test_what_is_reached_comes_once_and_depth_first() -> None:
    assert [*reachable(["a"], DIAMOND.__getitem__)] == ["a", "b", "d", "c"]
    assert [*reachable(["c", "a"], DIAMOND.__getitem__)] == ["c", "d", "a", "b"]
    assert [*reachable([], DIAMOND.__getitem__)] == []


def test_the_nearest_come_first_and_once() -> None:
    ways = {"a": ["b", "c"], "b": ["d"], "c": ["b"], "d": ["a"]}

    assert [*nearest_first("aa", ways.__getitem__)] == ["a", "b", "c", "d"]
    assert [*nearest_first("dc", ways.__getitem__)] == ["d", "c", "a", "b"]


def test_a_node_comes_after_all_that_it_leads_to() -> None:
    assert [*postorder("a", DIAMOND.__getitem__)] == ["d", "b", "c", "a"]


def test_the_edge_that_closes_a_cycle_is_ignored() -> None:
    assert [*postorder("a", CIRCLE.__getitem__)] == ["c", "b", "a"]
    assert {*reachable("b", CIRCLE.__getitem__)} == {"a", "b", "c"}


def test_each_start_of_a_forest_has_what_no_earlier_start_reached() -> None:
    assert [*forest("bac", DIAMOND.__getitem__)] == [["d", "b"], ["c", "a"]]


@pytest.mark.parametrize("walk", [reachable, nearest_first, postorder])
def test_no_chain_is_too_long(walk: type[reachable]) -> None:  # type: ignore[valid-type]
    walked = [*walk([0], lambda node: [node + 1] if node < LONG else [])]

    assert sorted(walked) == [*range(LONG + 1)]


def test_a_tree_is_walked_parents_first() -> None:
    tree = {"root": ["left", "right"], "left": ["leaf"], "right": [], "leaf": []}

    assert [*descend(["root"], tree.__getitem__)] == ["root", "left", "leaf", "right"]
