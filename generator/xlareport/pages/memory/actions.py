"""What would reduce a module's memory, in sentences, the most bytes first."""

from collections.abc import Iterator

from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.runtime import units

_NAMED = 3
_LEAST_LOST = 0.03
"""Of the peak: less fragmentation is no matter."""

_STACKED = (
    "stacked by loops, such as the activations that a scan saves for the backward pass; "
    "jax.checkpoint recomputes them."
)


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
        makers = list(dict.fromkeys(name for (name, _), _ in saving.buffers))
        names = ", ".join(f"`%{name}`" for name in makers[:_NAMED])
        rest = len(makers) - _NAMED
        yield (
            saving.peak - saving.reached,
            (
                f"{units.byte_size(saving.peak - saving.reached)} of the peak: shrink or "
                f"rematerialize {names}{f' and {rest} more' if rest > 0 else ''}."
            ),
        )
    stacked = sum(buffer.bytes or 0 for buffer in memory.stacked)
    if stacked:
        buffers = units.plural(len(memory.stacked), "buffer")
        yield stacked, f"{units.byte_size(stacked)} at most: {buffers} {_STACKED}"
    lost = sum(fill.lost for fill in memory.fills)
    if lost > _LEAST_LOST * (memory.occupied_peak_bytes or 0):
        yield lost, f"{units.byte_size(lost)} at most: fragmentation of shared allocations."
