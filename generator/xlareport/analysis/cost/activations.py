"""Results of the forward pass that wait in memory for the backward pass: its activations.

JAX's op_names say both: `jvp(...)` of what defines a value, `transpose(jvp(...))` of what uses it
last. `jax.checkpoint` computes such values again instead.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from xlareport.analysis.cost.lifetimes import Lifetime
from xlareport.analysis.cost.occupancy import BufferKey
from xlareport.analysis.cost.phases import is_forward_op, is_gradient, key_by_layer
from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.analysis.source.locations import op_name_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.runtime.graphs import reachable

_PASSES_ON = ALIASES | {
    *("async-done", "async-start", "async-update"),
    *("copy-done", "copy-start", "slice-done", "slice-start"),
}
"""Opcodes of prefetches into the VMEM of a TPU."""
JOINS = "ConcatBitcast"
"""The target of XLA:TPU's custom call that joins the pieces of a prefetch."""
_HOST = "S(5)"
"""The host's memory: a value that is moved there is not kept on the device."""
_LOOP = "while"
"""Opcode of loops; buffers that forward loops stack are identified by their loop."""

_PREPARING = frozenset({"broadcast", "iota", "tuple"})
"""Opcodes that a scheduler may place before the backward pass although their op_name is of it."""


class Activation(Struct, frozen=True):
    """A value that the forward pass defines and the backward pass uses last."""

    key: BufferKey
    size: int
    """Bytes of its place in memory."""
    layer: str
    """The layer that defines it, from its op_name; empty where none is named."""


def find_activations(
    values: Iterable[tuple[BufferKey, int]],
    lives: Mapping[BufferKey, Lifetime],
    sources: ValueSources,
) -> tuple[Activation, ...]:
    """Return the activations among values with their bytes; matched by op_names.

    A copy or an all-gather of a result of the forward pass is an activation too, whatever its own
    op_name is; a copy or a convert of an input is none, nor what the backward pass gathers itself.
    A last use that only passes the value on, as a prefetch does, or has no op_name counts as the
    readers of its result.
    """
    layer_of = key_by_layer(sources.module)
    activations, passes = [], _Passes(sources)
    for key, size in values:
        written, source, life = sources.places.get(key[0]), sources.find(key[0]), lives.get(key)
        last = sources.places.get(life.last_use) if life else None
        if written is None or source is None or last is None or written[1].opcode == _LOOP:
            continue
        is_input = source[1].opcode == "parameter" and source[0].is_entry
        named = (
            not is_input
            and not passes.is_backward(*written)
            and any(is_forward_op(sources.op_name(line)) for line in (written[1], source[1]))
        )
        readers = _readers(*last, sources.module)
        if named and any(is_gradient(reader, sources.module) for reader in readers):
            layer = layer_of(*source, sources.op_name(source[1]))
            activations.append(Activation(key, size, layer))
    return tuple(activations)


class _Passes:
    """Which values of a module are written behind the first gradient of their computation."""

    def __init__(self, sources: ValueSources) -> None:
        self._sources = sources
        self._later: dict[str, frozenset[str]] = {}

    def is_backward(self, home: Computation, instruction: Instruction) -> bool:
        """Return whether an instruction is one of the backward pass, by op_name and order."""
        if home.name not in self._later:
            names = [held.name for held in home.instructions]
            begun = (place for place, held in enumerate(home.instructions) if self._begins(held))
            self._later[home.name] = frozenset(names[next(begun, len(names)) :])
        return instruction.name in self._later[home.name] and is_gradient(
            instruction, self._sources.module
        )

    def _begins(self, instruction: Instruction) -> bool:
        """Return whether an instruction computes a gradient, and does not prepare or move one."""
        if instruction.opcode in _PREPARING or (instruction.shape.element_count or 0) < 2:
            return False
        if not instruction.operands or not is_gradient(instruction, self._sources.module):
            return False
        source = self._sources.find(instruction.name)
        return source is not None and source[1] is instruction


def _readers(home: Computation, last: Instruction, module: HloModule) -> Iterator[Instruction]:
    """Yield an instruction, and what reads its value if it passes it on or has no op_name."""

    def following(instruction: Instruction) -> tuple[Instruction, ...]:
        is_open = _passes_on(instruction) or not op_name_of(instruction, module)
        is_open = is_open and _HOST not in instruction.shape.text
        return home.users.get(instruction.name, ()) if is_open else ()

    return reachable([last], following)


def _passes_on(instruction: Instruction) -> bool:
    if instruction.opcode == "custom-call":
        return instruction.call_target == JOINS
    return instruction.opcode in _PASSES_ON


def sum_by_layer(activations: Iterable[Activation]) -> tuple[tuple[str, int], ...]:
    """Return (layer, bytes), the most bytes first."""
    sizes: Counter[str] = Counter()
    for activation in activations:
        sizes[activation.layer] += activation.size
    return tuple(sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])))
