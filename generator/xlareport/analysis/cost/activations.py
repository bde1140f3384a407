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
from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.analysis.source.locations import op_name_of
from xlareport.hlo.model import HloModule

_LOOP = "while"
"""Opcode of loops; buffers that forward loops stack are identified by their loop."""


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
    """Return the activations among values with their bytes; matched by op_names.

    A copy or an all-gather of a result of the forward pass is an activation too, whatever its own
    op_name is.
    """
    sources = ValueSources(module)
    instructions = {instruction.name: instruction for instruction in module.instructions}
    layer_of = key_by_layer(module)
    activations = []
    for key, size in values:
        own, source = instructions.get(key[0]), sources.find(key[0])
        life = lives.get(key)
        last = instructions.get(life.last_use) if life else None
        if own is None or source is None or last is None or own.opcode == _LOOP:
            continue
        named = is_forward(own, module) or is_forward(source[1], module)
        if named and is_gradient(last, module):
            layer = layer_of(*source, op_name_of(source[1], module))
            activations.append(Activation(key, size, layer))
    return tuple(activations)


def sum_by_layer(activations: Iterable[Activation]) -> tuple[tuple[str, int], ...]:
    """Return (layer, bytes), the most bytes first."""
    sizes: Counter[str] = Counter()
    for activation in activations:
        sizes[activation.layer] += activation.size
    return tuple(sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])))
