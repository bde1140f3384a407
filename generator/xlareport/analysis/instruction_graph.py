"""The instructions of a snapshot as a graph of networkx: for queries of a user's own."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey

if TYPE_CHECKING:
    import networkx as nx


def instruction_graph(module: HloModule, cost: ModuleCost) -> "nx.MultiDiGraph[InstructionKey]":
    """Return the instructions of all computations, with an edge from each operand to its user.

    Nodes are (computation, instruction) with `opcode`, `shape`, `op_name`, and `flops` and
    `bytes_accessed` of one execution, None if unknown. Edges have a `kind`: `operand`, with its
    index in `number`, or `call`, from the root of a called computation to its caller, with the
    `attribute` that names it.
    """
    import networkx as nx  # noqa: PLC0415 - what imports xlareport does not wait for it

    graph: nx.MultiDiGraph[InstructionKey] = nx.MultiDiGraph()
    places = list(module.placed)
    for computation, instruction in places:
        key = computation.name, instruction.name
        graph.add_node(key, **_attributes(instruction, cost, key))
    for computation, instruction in places:
        graph.add_edges_from(_edges(module, computation, instruction))
    return graph


def _attributes(instruction: Instruction, cost: ModuleCost, key: InstructionKey) -> dict[str, Any]:
    instruction_cost = cost.instructions.get(key)
    return {
        "opcode": instruction.opcode,
        "shape": instruction.shape.text,
        "op_name": instruction.metadata.op_name,
        "flops": instruction_cost.flops if instruction_cost else None,
        "bytes_accessed": instruction_cost.bytes_accessed if instruction_cost else None,
    }


def _edges(
    module: HloModule, computation: Computation, instruction: Instruction
) -> Iterator[tuple[InstructionKey, InstructionKey, dict[str, Any]]]:
    key = computation.name, instruction.name
    for number, name in enumerate(instruction.operand_names):
        if name in computation.by_name:
            yield (computation.name, name), key, {"kind": "operand", "number": number}
    for attribute, name in instruction.called:
        callee = module.by_name.get(name)
        if callee is not None and callee.root is not None:
            yield (name, callee.root.name), key, {"kind": "call", "attribute": attribute}
