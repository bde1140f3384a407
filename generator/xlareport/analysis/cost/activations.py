"""Results of the forward pass that wait in memory for the backward pass: its activations.

JAX's op_names say both: `jvp(...)` of what defines a value, `transpose(jvp(...))` of what uses it
last. `jax.checkpoint` computes such values again instead.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xlareport.analysis.cost.lifetimes import Lifetime
from xlareport.analysis.cost.occupancy import BufferKey
from xlareport.analysis.cost.phases import is_forward, is_gradient, key_by_layer
from xlareport.hlo.model import HloModule

_LOOP = "while"
"""What forward loops stack for backward ones is told by loop."""


@dataclass(frozen=True, slots=True)
class Activation:
    """A value that the forward pass defines and the backward pass uses last."""

    key: BufferKey
    size: int
    """Bytes of its place in memory."""
    layer: str
    """The layer that defines it, from its op_name; empty where none is named."""


def find_activations(
    values: Iterable[tuple[BufferKey, int]], lives: Mapping[BufferKey, Lifetime], module: HloModule
) -> tuple[Activation, ...]:
    """Return those of the values, with their bytes, that are activations; matched by op_names."""
    instructions = {
        instruction.name: (computation, instruction)
        for computation in module.computations
        for instruction in computation.instructions
    }
    layer_of = key_by_layer(module)
    activations = []
    for key, size in values:
        definition = instructions.get(key[0])
        life = lives.get(key)
        last = instructions.get(life.last_use) if life else None
        if definition is None or last is None or definition[1].opcode == _LOOP:
            continue
        if is_forward(definition[1], module) and is_gradient(last[1], module):
            activations.append(Activation(key, size, layer_of(*definition)))
    return tuple(activations)


def sum_by_layer(activations: Iterable[Activation]) -> tuple[tuple[str, int], ...]:
    """Return (layer, bytes), the most bytes first."""
    sizes: Counter[str] = Counter()
    for activation in activations:
        sizes[activation.layer] += activation.size
    return tuple(sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])))
