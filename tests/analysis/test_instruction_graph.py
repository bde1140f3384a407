"""The graph of a snapshot's instructions has its operands and calls, and their costs."""

import networkx as nx

from xlareport import read_text

TEXT = """HloModule m

%inner (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %double = f32[8]{0} add(%p, %p)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %f = f32[8]{0} fusion(%a), kind=kLoop, calls=%inner, metadata={op_name="loss/add"}
  ROOT %r = f32[8]{0} multiply(%f, %b)
}
"""


def test_operands_and_calls_are_edges() -> None:
    graph = read_text(TEXT).graph()
    assert set(nx.ancestors(graph, ("main", "f"))) == {
        ("main", "a"),
        ("inner", "double"),
        ("inner", "p"),
    }
    edges = graph.get_edge_data(("inner", "p"), ("inner", "double")).values()
    assert [edge["number"] for edge in edges] == [0, 1]
    (call,) = graph.get_edge_data(("inner", "double"), ("main", "f")).values()
    assert call == {"kind": "call", "attribute": "calls"}


def test_nodes_have_what_is_known_of_them() -> None:
    node = read_text(TEXT).graph().nodes["main", "f"]
    assert (node["opcode"], node["op_name"], node["flops"]) == ("fusion", "loss/add", 8)
    assert node["bytes_accessed"] == 64
