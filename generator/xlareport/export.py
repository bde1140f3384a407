"""A module for Model Explorer: its graphs as one file, cost and measured time as node data.

Each computation is a graph; the framework's scopes are its layers, and a fusion or a loop leads to
the graphs of what it calls. Source of the format: google-ai-edge/model-explorer, `graph_builder.py`
and `node_data_builder.py`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from xlareport.analysis.cost.cost_options import CostOptions, choose_device
from xlareport.analysis.cost.roofline import estimate_shares, estimate_total_time
from xlareport.analysis.cost.work import ModuleCost, count_cost
from xlareport.analysis.modules.module_origin import origin_of
from xlareport.analysis.profile.instruction_times import ModuleTimes
from xlareport.analysis.profile.measured import Measured, estimate_least_times, join_profile
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.analysis.source.scopes import scope_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.knowledge.devices import Device
from xlareport.knowledge.grades import doubt
from xlareport.program import ParsedModule

_MOST_CHARACTERS = 2_000
"""Characters of a value."""
_GRADIENT = ({"stop": 0, "bgColor": "#fff7e6"}, {"stop": 1, "bgColor": "#d94801"})


class Exported(Struct, frozen=True):
    """The files for Model Explorer."""

    graphs: Mapping[str, Any]
    """A collection of graphs, the entry first."""
    node_data: Mapping[str, Mapping[str, Any]]
    """Files of node data by subject, each by graph."""


def export_stage(module: ParsedModule, key: str | None, times: ModuleTimes | None) -> Exported:
    """Export the snapshot of a stage's key, the final one for None; raises UnknownNameError."""
    device, _ = choose_device(module.device_words, origin_of(module).backend, CostOptions())
    return export_module(module.snapshot(key).hlo, device, times)


def export_module(module: HloModule, device: Device, times: ModuleTimes | None = None) -> Exported:
    """Return the graphs of a snapshot, with the roofline time and, if known, measured."""
    cost = count_cost(module)
    least = estimate_least_times(estimate_shares(cost, device), estimate_total_time(cost, device))
    seen = join_profile(times, module, least) if times else None
    ordered = sorted(module.computations, key=lambda computation: not computation.is_entry)
    graphs = [_graph(computation, module) for computation in ordered]
    return Exported(
        {"label": module.name, "graphs": graphs}, dict(_node_data(module, cost, least, seen))
    )


def _graph(computation: Computation, module: HloModule) -> dict[str, Any]:
    line_of = places_of(module)
    nodes = []
    for instruction in computation.instructions:
        line = line_of(instruction)
        nodes.append(_node(instruction, computation, module, line.text if line else ""))
    return {"id": computation.name, "nodes": nodes}


def _node(
    instruction: Instruction, computation: Computation, module: HloModule, line: str
) -> dict[str, Any]:
    op_name = op_name_of(instruction, module)
    attributes = {
        "instruction": f"%{instruction.name}",
        "shape": instruction.shape.text,
        "op_name": op_name,
    }
    attributes |= {"source": line} | dict(instruction.attributes)
    attrs = [_pair(key, value) for key, value in attributes.items() if value]
    return {
        "id": instruction.name,
        "label": instruction.opcode,
        "namespace": scope_of(op_name),
        "subgraphIds": [name for _, name in instruction.called if name in module.by_name],
        "attrs": attrs,
        "incomingEdges": list(_edges(instruction, computation)),
        "outputsMetadata": [{"id": "0", "attrs": [_pair("shape", instruction.shape.text)]}],
    }


def _edges(instruction: Instruction, computation: Computation) -> Iterator[dict[str, str]]:
    for place, operand in enumerate(instruction.operands):
        name, _, element = operand.partition("#")
        if name in computation.by_name:
            yield {
                "sourceNodeId": name,
                "sourceNodeOutputId": element or "0",
                "targetNodeInputId": str(place),
            }


def _pair(key: str, value: str) -> dict[str, str]:
    return {"key": key, "value": value[:_MOST_CHARACTERS]}


def _node_data(
    module: HloModule,
    cost: ModuleCost,
    least: Mapping[tuple[str, str], float],
    seen: Measured | None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the values by which nodes can be colored, with their names."""
    yield (
        "least-microseconds",
        _data(module, {key: seconds * 1e6 for key, seconds in least.items()}),
    )
    grades = {key: 1 + doubt(instruction.grade) for key, instruction in cost.instructions.items()}
    yield "grade-of-cost", _data(module, grades)
    if seen is not None:
        microseconds = {(row.computation, row.time.name): row.time.own / 1e6 for row in seen.rows}
        yield "measured-microseconds", _data(module, microseconds)


def _data(module: HloModule, values: Mapping[tuple[str, str], float]) -> dict[str, Any]:
    by_computation: dict[str, Any] = {}
    for computation in module.computations:
        results = {
            instruction.name: {"value": values[computation.name, instruction.name]}
            for instruction in computation.instructions
            if (computation.name, instruction.name) in values
        }
        if results:
            by_computation[computation.name] = {"results": results, "gradient": list(_GRADIENT)}
    return by_computation
