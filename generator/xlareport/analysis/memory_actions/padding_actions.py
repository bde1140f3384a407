"""A suggestion on buffers at the peak of which tiles pad a large part."""

from collections.abc import Container, Iterator

from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.padded_values import PaddedValue
from xlareport.analysis.findings import tile_padding
from xlareport.runtime import units
from xlareport.runtime.english import first_few

_NAMED = 2


def padding_action(memory: MemoryReport, titles: Container[str]) -> Iterator[tuple[int, str]]:
    """Yield bytes and a sentence on the padding of all such buffers, unless a finding has it."""
    padded = memory.padded_at_peak
    size = sum(value.padding for value in padded)
    if not size or tile_padding.TITLE in titles:
        return
    names = first_few([_sizes(value) for value in padded[:_NAMED]], _NAMED, len(padded))
    yield (
        size,
        (
            f"{units.byte_size(size)} at most: so much is padding of tiles in {names}. Make the "
            "two most minor dimensions multiples of the tile, or move a large dimension to "
            "the end."
        ),
    )


def _sizes(padded: PaddedValue) -> str:
    row = padded.value
    return f"`%{row.name}` ({units.byte_size(row.size)} for {units.byte_size(padded.data)} of data)"
