"""What Model Explorer is given, and that its own package takes it."""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.modules import parse_module

from xlareport.analysis.profile.instruction_times import sum_times
from xlareport.cli.export import command
from xlareport.export import Exported, export_module
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.devices import devices
from xlareport.readers.op_events import OpEvent

HLO = b"""HloModule jit_f, is_scheduled=true

fused {
  p = f32[64,64]{1,0} parameter(0)
  ROOT add.2 = f32[64,64]{1,0} add(p, p), metadata={op_name="jit(f)/layer_0/mlp/add"}
}

ENTRY main {
  a = f32[64,64]{1,0} parameter(0)
  fusion.1 = f32[64,64]{1,0} fusion(a), kind=kLoop, calls=fused
  t = (f32[64,64]{1,0}, f32[64,64]{1,0}) tuple(fusion.1, a)
  g = f32[64,64]{1,0} get-tuple-element(t), index=1
  ROOT d = f32[64,64]{1,0} dot(fusion.1, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def module() -> HloModule:
    return parse_module(HLO)


def exported() -> Exported:
    seen = sum_times([OpEvent("jit_f", "fusion.1", "1", (0,), 5, 3_000_000)])
    return export_module(module(), devices()["tpu-v5e"], seen["jit_f"])


def nodes(graph: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {node["id"]: node for node in graph["nodes"]}


def test_the_entry_comes_first_and_fusions_lead_inside() -> None:
    entry, inside = exported().graphs["graphs"]
    assert (entry["id"], inside["id"]) == ("main", "fused")
    fusion = nodes(entry)["fusion.1"]
    assert fusion["subgraphIds"] == ["fused"]
    assert fusion["namespace"] == "layer_0/mlp", "that of its root"
    assert fusion["label"] == "fusion"


def test_edges_are_the_operands_in_order() -> None:
    entry, _ = exported().graphs["graphs"]
    assert nodes(entry)["d"]["incomingEdges"] == [
        {"sourceNodeId": "fusion.1", "sourceNodeOutputId": "0", "targetNodeInputId": "0"},
        {"sourceNodeId": "g", "sourceNodeOutputId": "0", "targetNodeInputId": "1"},
    ]


def test_node_data_has_estimate_grade_and_measured_time() -> None:
    data = exported().node_data
    assert set(data) == {"least-microseconds", "grade-of-cost", "measured-microseconds"}
    assert data["measured-microseconds"]["main"]["results"] == {"fusion.1": {"value": 3.0}}
    assert data["least-microseconds"]["main"]["results"]["d"]["value"] > 0
    assert data["grade-of-cost"]["main"]["results"]["d"] == {"value": 1}


def test_the_command_writes_the_files(unpacked: Callable[[str], Path], tmp_path: Path) -> None:
    out = tmp_path / "g.json"
    dump = str(unpacked("traced"))
    done = CliRunner().invoke(command, [dump, "--model-explorer", "jit_advance", "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert json.loads(out.read_text())["label"] == "jit_advance"
    measured = json.loads((tmp_path / "g.measured-microseconds.json").read_text())
    assert measured


def test_a_stage_that_is_not_there(unpacked: Callable[[str], Path]) -> None:
    dump = str(unpacked("jax-cpu-train"))
    asked = [dump, "--model-explorer", "jit_train_step", "--stage", "soon"]
    done = CliRunner().invoke(command, asked)
    assert "has no snapshot 'soon'; it could be:\n  before_optimizations" in str(done.exception)


def test_a_dump_may_come_on_standard_input(tmp_path: Path) -> None:
    out = tmp_path / "g.json"
    asked = ["-", "--model-explorer", "standard-input", "-o", str(out)]
    done = CliRunner().invoke(command, asked, input=HLO)
    assert done.exit_code == 0, done.output
    assert json.loads(out.read_text())["label"] == "jit_f"


@pytest.mark.parametrize("name", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
def test_model_explorers_own_package_takes_it(unpacked: Callable[[str], Path], name: str) -> None:
    builder = pytest.importorskip("model_explorer.graph_builder")
    data_builder = importlib.import_module("model_explorer.node_data_builder")
    dacite = pytest.importorskip("dacite")
    path = max(unpacked(name).rglob("*after_optimizations.txt"), key=lambda one: one.stat().st_size)
    read = TextReader().read(path.read_bytes(), path.name)
    assert read is not None
    found = export_module(read, devices()["tpu-v5e"])
    strict = dacite.Config(strict=True)
    for graph in json.loads(json.dumps(found.graphs))["graphs"]:
        made = dacite.from_dict(data_class=builder.Graph, data=graph, config=strict)
        assert len(made.nodes) == len(read.by_name[made.id].instructions)
    for data in json.loads(json.dumps(found.node_data)).values():
        for values in data.values():
            dacite.from_dict(data_class=data_builder.GraphNodeData, data=values, config=strict)
