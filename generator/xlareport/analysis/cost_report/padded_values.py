"""Buffers in use at the peak of which tiles pad a large part."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from xlareport.analysis.cost.shape_sizes import UncountableError, measure_data
from xlareport.analysis.cost.tiling import padded_size
from xlareport.analysis.cost_report.peak_groups import element_at
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.hlo.model import HloModule

_LEAST_FACTOR = 1.5
"""Padded bytes to bytes of data."""
_TILE = 4096
"""Bytes of a tile of 8 x 128 numbers of 32 bits: scalars and short vectors cannot take less."""


class PaddedValue(Struct, frozen=True):
    """A value whose tiles take much more memory than its data."""

    value: ValueRow
    data: int
    """Bytes without padding."""

    @property
    def padding(self) -> int:
        """Bytes that are no data."""
        return self.value.size - self.data


def find_padded_values(module: HloModule, at_peak: Iterable[ValueRow]) -> tuple[PaddedValue, ...]:
    """Return the padded values among those in use at the peak, the most padding first."""
    return tuple(sorted(_find_padded(module, at_peak), key=lambda padded: -padded.padding))


def _find_padded(module: HloModule, at_peak: Iterable[ValueRow]) -> Iterator[PaddedValue]:
    by_name = {instruction.name: instruction for instruction in module.instructions}
    for row in at_peak:
        instruction = by_name.get(row.instruction)
        shape = element_at(instruction.shape, row.index) if instruction else None
        try:
            if shape is None or shape.elements or padded_size(shape) != row.size:
                continue
            padded = PaddedValue(row, measure_data(shape))
        except UncountableError:
            continue
        if padded.padding >= _TILE and row.size >= _LEAST_FACTOR * padded.data:
            yield padded
