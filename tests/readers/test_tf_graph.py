"""TensorFlow's graphs: clusters, compiled functions, what stays outside."""

from collections.abc import Callable
from pathlib import Path

from tests.readers.parsers import Parser, with_path, without_problems

from xlareport.readers.tf_graph import read_tf_graph, read_tf_log

GRAPH = b"""node {
  name: "a"
  op: "_XlaRun"
  input: "b:1"
  attr {
    key: "_XlaCluster"
    value {
      s: "cluster_0"
    }
  }
}
library {
  function {
    signature {
      name: "f"
    }
  }
}
"""
GOOD_LOG = b"x Found uncompilable node a/b (op Print): it has side effects\n"
PARSERS = (
    Parser(with_path(read_tf_graph), GRAPH),
    Parser(without_problems(read_tf_log), GOOD_LOG, says=False),
)
"""For `tests/properties/test_parsers.py`."""


LOG = b"""\
I0000 00:00:1 1 port.cc:153] oneDNN custom operations are on.
I0000 00:00:2 1 compilability_check_util.cc:62] Found uncompilable node a/b (op AsString): No kernel
Found uncompilable node c (op _Arg)
\xff\xfe
"""


def test_reasons_are_found_by_the_name_of_the_operation() -> None:
    assert read_tf_log(LOG) == {"a/b": "No kernel"}
    assert read_tf_log(b"") == {}


LAUNCHED = b"""
node {
  name: "compile"
  op: "_XlaCompile"
  attr {
    key: "function"
    value {
      func {
        name: "cluster_3"
      }
    }
  }
}
node {
  name: "run"
  op: "_XlaRun"
  input: "x"
  input: "compile:0"
  input: "^wait"
}
node {
  name: "call"
  op: "PartitionedCall"
  input: "run"
  attr {
    key: "f"
    value {
      func {
        name: "__inference_step_8"
      }
    }
  }
}
library {
  function {
    signature {
      name: "inner"
    }
    node_def {
      name: "s"
      op: "AsString"
      input: "x"
    }
  }
}
"""


def test_what_is_run_or_called_is_named_for_its_function() -> None:
    (graph, inner), problems = read_tf_graph(LAUNCHED, "g.pbtxt")
    assert problems == []
    assert {node.name: node.unit for node in graph.nodes} == {
        "compile": "",
        "run": "cluster_3",
        "call": "__inference_step_8",
    }
    assert graph.nodes[1].inputs == ("x", "compile:0")
    assert (inner.name, inner.nodes[0].has_text) == ("inner", True)


def test_clusters_of_a_real_graph(unpacked: Callable[[str], Path]) -> None:
    (file,) = unpacked("tf-clusters").rglob("mark_for_compilation_annotated_7.pbtxt")
    (graph,), problems = read_tf_graph(file.read_bytes(), file.name)
    assert problems == []
    assert len(graph.nodes) == 16
    assert {node.unit for node in graph.nodes} == {"", "cluster_0", "cluster_1"}
    outside = {node.op for node in graph.nodes if node.has_text}
    assert outside == {"AsString", "StringToNumber"}


def test_what_is_no_graph_is_a_problem_and_no_exception() -> None:
    (graph,), problems = read_tf_graph(b"node {\n  name\n\xff\xfe }}\n", "bad.pbtxt")
    assert len(graph.nodes) <= 1
    assert problems
