"""What would reduce a module's memory, in sentences, the most bytes first."""

from collections.abc import Iterator, Sequence

from xlareport.analysis.cost.activations import sum_by_layer
from xlareport.analysis.cost.phases import FORWARD
from xlareport.analysis.cost.rematerialization import FRAMEWORK
from xlareport.analysis.cost.saving import Saving
from xlareport.analysis.cost.wire import KINDS
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.runtime import units

_NAMED = 3
_LEAST_LOST = 0.03
"""Of the peak: less fragmentation is no matter. It is allocated, and lowers no peak."""
_LEAST_KEPT = 0.005
"""Of the peak: fewer bytes of activations are no matter."""

_STACKED = {
    FORWARD: (
        "that forward loops stack, such as the activations that a scan saves for the backward "
        "pass; jax.checkpoint recomputes them."
    ),
    "": "that loops stack, such as the outputs of a scan.",
}
_CHECKPOINTED = (
    "that forward loops stack; the program has jax.checkpoint already: these are what it saves "
    "for the backward pass. A checkpoint around several layers saves fewer."
)
_UNCHECKPOINTED_LAYERS = "jax.checkpoint around their layers recomputes them."
_CHECKPOINTED_LAYERS = (
    "the program has jax.checkpoint already: what it saves, and layers that are not under it. "
    "A checkpoint around more layers, or a policy that saves less, recomputes more of them."
)
_CARRIED = frozenset({"while", "broadcast", "copy", "tuple", "get-tuple-element", "constant"})
"""What is the state of a loop, or zeros that a loop fills: nothing to rematerialize."""


def list_actions(memory: MemoryReport) -> list[str]:
    """Return the sentences; names stand between backticks."""
    return [words for _, words in sorted(_actions(memory), key=lambda action: -action[0])]


def _actions(memory: MemoryReport) -> Iterator[tuple[int, str]]:
    """Yield (bytes, sentence)."""
    could = [row for row in memory.donations if not row.donated and row.size]
    size = sum(row.size or 0 for row in could)
    if size:
        numbers = ", ".join(str(row.parameter) for row in could[:_NAMED])
        more = f" and {len(could) - _NAMED} more" if len(could) > _NAMED else ""
        yield (
            size,
            (
                f"{units.byte_size(size)}: donate {units.plural(len(could), 'argument')} "
                f"({numbers}{more}) with donate_argnums, if the caller does not reuse them: each "
                "has the shape of an output."
            ),
        )
    saving = memory.saving
    if saving is not None and saving.buffers and saving.is_enough:
        size = saving.peak - saving.reached
        yield size, f"{units.byte_size(size)} of the peak: {'; '.join(_shrinks(memory, saving))}."
    yield from _activations(memory)
    yield from _stacked(memory)
    lost = memory.lost_bytes
    if lost > _LEAST_LOST * (memory.occupied_peak_bytes or 0):
        words = "of the temp allocations is fragmentation at most; the peak does not contain it."
        yield 0, f"{units.byte_size(lost)} {words}"


def _shrinks(memory: MemoryReport, saving: Saving) -> Iterator[str]:
    """Yield what to do about the buffers, those that can be computed again first."""
    opcodes = {row.instruction: row.opcode for row in memory.saving_values}
    names = list(dict.fromkeys(key[0] for key, _ in saving.buffers if key not in saving.later))
    kept = {activation.key[0] for activation in memory.activations}
    groups: dict[str, list[str]] = {"kept": [], "computed": [], "sent": [], "carried": []}
    for name in names:
        opcode = opcodes.get(name, "")
        if name in kept:
            groups["kept"].append(name)
            continue
        is_sent = opcode.removesuffix("-start").removesuffix("-done") in KINDS
        groups["sent" if is_sent else "carried" if opcode in _CARRIED else "computed"].append(name)
    if groups["kept"]:
        yield f"recompute {_names(groups['kept'])} with jax.checkpoint (activations)"
    if groups["computed"]:
        yield f"shrink or rematerialize {_names(groups['computed'])}"
    if groups["sent"]:
        yield f"shrink {_names(groups['sent'])} (rematerialized, they are sent again)"
    if groups["carried"]:
        yield f"shrink {_names(groups['carried'])} (loops carry or fill them)"
    later = len(saving.later)
    if later:
        others = units.plural(later, "value")
        yield f"the peak then moves to positions where {others} more must shrink as well"


def _names(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    shown = ", ".join(f"`%{name}`" for name in names[:_NAMED])
    return f"{shown}{f' and {rest} more' if rest > 0 else ''}"


def _activations(memory: MemoryReport) -> Iterator[tuple[int, str]]:
    """Yield what the forward pass keeps for the backward pass, layer by layer."""
    size = sum(activation.size for activation in memory.activations)
    if size <= _LEAST_KEPT * (memory.occupied_peak_bytes or 0):
        return
    layers = [
        (name, part)
        for name, part in sum_by_layer(memory.activations)
        if name and name.isprintable()
    ]
    named = ", ".join(f"`{name}` {units.byte_size(part)}" for name, part in layers[:_NAMED])
    more = f" and {len(layers) - _NAMED} more" if len(layers) > _NAMED else ""
    of = f" ({named}{more})" if named else ""
    count = units.plural(len(memory.activations), "activation")
    what = _CHECKPOINTED_LAYERS if _is_checkpointed(memory) else _UNCHECKPOINTED_LAYERS
    yield (
        size,
        (
            f"{units.byte_size(size)} at most: {count} of the forward pass in use at the peak "
            f"until the backward pass reads them{of}; {what}"
        ),
    )


def _is_checkpointed(memory: MemoryReport) -> bool:
    return any(row.by == FRAMEWORK for row in memory.rematerialized)


def _stacked(memory: MemoryReport) -> Iterator[tuple[int, str]]:
    """Yield what loops stack, gradients apart: these are what the program asks for."""
    is_checkpointed = _is_checkpointed(memory)
    for phase, words in _STACKED.items():
        alike = [buffer for buffer in memory.stacked_at_peak if buffer.phase == phase]
        size = sum(buffer.bytes or 0 for buffer in alike)
        if size:
            what = _CHECKPOINTED if phase and is_checkpointed else words
            buffers = units.plural(len(alike), "buffer")
            yield size, f"{units.byte_size(size)} at most: {buffers} {what}"
