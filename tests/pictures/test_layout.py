"""Positions are read from Graphviz's JSON as numbers, or not at all."""

import json

import pytest

from xlareport.pictures.layout import Layout, LayoutFailure, Rectangle, parse_layout

GRAPH = {
    "bb": "10,20,110,220",
    "objects": [
        {"name": "cluster_0", "bb": "12,100,60,200"},
        {"name": "n1", "pos": "60,40", "width": "0.5", "height": "0.25"},
        {"name": "n0", "pos": "30,200", "width": "0.5", "height": "0.5"},
    ],
    "edges": [{"id": "e0", "pos": "30,182 30,150 60,80 60,49"}],
}


def parsed(**changes: object) -> Layout | LayoutFailure:
    return parse_layout(json.dumps(GRAPH | changes).encode())


def test_y_grows_downwards_from_the_upper_left_corner() -> None:
    assert parsed() == Layout(
        width=100,
        height=200,
        nodes=(Rectangle(2, 2, 36, 36), Rectangle(32, 171, 36, 18)),
        edges=(((20, 38), (20, 70), (50, 140), (50, 171)),),
        groups=(Rectangle(2, 20, 48, 100),),
    )


def test_an_empty_graph_has_an_empty_layout() -> None:
    assert parsed(objects=[], edges=[]) == Layout(100, 200, (), ())


@pytest.mark.parametrize(
    "changes",
    [
        {"bb": "1,2,3"},
        {"bb": None},
        {"bb": "nan,0,1,1"},
        {"objects": [{"name": "n1", "pos": "1,1", "width": "1", "height": "1"}]},
        {"objects": [{"name": "n0", "pos": "1;1", "width": "1", "height": "1"}]},
        {"edges": [{"pos": "1,1"}]},
        {"edges": [{"id": "e0", "pos": "inf,1"}]},
    ],
)
def test_what_cannot_be_read_is_a_failure(changes: dict[str, object]) -> None:
    found = parsed(**changes)
    assert isinstance(found, LayoutFailure)
    assert found.reason.startswith("gave an answer that cannot be read")


def test_what_is_no_json_is_a_failure() -> None:
    assert isinstance(parse_layout(b"digraph {"), LayoutFailure)
    assert isinstance(parse_layout(b"[]"), LayoutFailure)
