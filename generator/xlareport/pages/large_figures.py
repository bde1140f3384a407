"""Large figures on a page: label, value and note."""

from msgspec import Struct

from xlareport.analysis.cost.memory import DEFAULT_SPACE
from xlareport.analysis.cost.work import name_bound
from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.knowledge.memory_spaces import find_space
from xlareport.runtime import units


class Figure(Struct, frozen=True):
    """A figure with its label and a few words on what it means."""

    label: str
    value: str
    note: str = ""


def main_figures(
    final: ModuleFigures, devices: int = 1, backend: str | None = None
) -> tuple[Figure, ...]:
    """Return the known figures of an optimized module, each for one device."""
    figures = []
    of_one = f"per device, one of {devices:,}; " if devices > 1 else ""
    if final.flops is not None:
        least = least_of(final)
        note = f"{of_one}{least}per execution, loops times trip count"
        figures.append(Figure("FLOPs", units.quantity(final.flops, "FLOP"), note))
    if final.bytes_accessed is not None:
        note = f"{of_one}{least_of(final)}read and written per execution"
        figures.append(Figure("Bytes accessed", units.byte_size(final.bytes_accessed), note))
    if final.occupied_peak_bytes is not None:
        space = find_space(backend, DEFAULT_SPACE)
        note = f"{of_one}in {space.words if space else 'device memory'}, at most"
        figures.append(Figure("Peak memory", units.byte_size(final.occupied_peak_bytes), note))
    elif final.allocated_bytes is not None:
        note = f"{of_one}all device allocations"
        figures.append(Figure("Allocated", units.byte_size(final.allocated_bytes), note))
    if final.unknown_ops:
        note = "instructions with unknown FLOPs, and loops of unknown trip count, counted once"
        figures.append(Figure("Not counted", units.count(final.unknown_ops), note))
    if final.branches:
        note = "count as their costliest branch in every execution"
        figures.append(Figure("Conditionals", units.count(final.branches), note))
    return tuple(figures)


def least_of(final: ModuleFigures) -> str:
    """Return the note of what figures are bounds, if they are not exact."""
    bound = name_bound(final.unknown_ops, final.branches)
    return f"{bound}; " if bound else ""
