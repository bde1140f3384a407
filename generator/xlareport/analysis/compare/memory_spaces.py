"""The memory spaces of two modules, as VMEM and SMEM of a TPU, and which of them differ."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.cost.memory import DEFAULT_SPACE, collect_memory_figures
from xlareport.analysis.cost.occupancy import occupancy_of
from xlareport.knowledge.devices import device_named
from xlareport.knowledge.memory_spaces import space_name
from xlareport.program import ParsedModule


class ComparedSpace(Struct, frozen=True):
    """One memory space of the device, in bytes."""

    number: int
    name: str
    allocated_bytes: int
    peak_bytes: int | None
    """The most in use at once; None if unknown."""


class SpaceChange(Struct, frozen=True):
    """A memory space other than the device memory that differs, in bytes."""

    name: str
    """The name of the memory space, as `VMEM`."""
    figure: str
    """`peak` for the most in use at once, `allocated` where that is equal or unknown."""
    base: int
    """Bytes in the base."""
    head: int
    """Bytes in the head."""


def list_spaces(module: ParsedModule, backend: str | None) -> Iterator[ComparedSpace]:
    """Yield the memory spaces of the final module by number; none if no file has them."""
    files, chip = module.memory, device_named(module.device_words)
    figures = collect_memory_figures(files.assignment, files.live, files.usage)
    occupancy = occupancy_of(files)
    curves = occupancy.curves if occupancy else {}
    for space in figures.spaces:
        yield ComparedSpace(
            number=space.color,
            name=space_name(backend, space.color, chip.key if chip else ""),
            allocated_bytes=space.allocated_bytes,
            peak_bytes=max(curves[space.color], default=0) if space.color in curves else None,
        )


def name_device_memory(spaces: Sequence[ComparedSpace]) -> str:
    """Return the name of the device's memory where the module uses others too, else nothing."""
    named = {space.number: space.name for space in spaces}
    return named.get(DEFAULT_SPACE, "") if len(named) > 1 else ""


def compare_spaces(
    base: Sequence[ComparedSpace], head: Sequence[ComparedSpace]
) -> Iterator[SpaceChange]:
    """Yield the memory spaces that differ, without the device memory; none if a side has none."""
    if not base or not head:
        return
    ours, theirs = _by_name(base), _by_name(head)
    for name in {**ours, **theirs}:
        old, new = ours.get(name), theirs.get(name)
        peaks = tuple(space.peak_bytes if space else 0 for space in (old, new))
        sizes = tuple(space.allocated_bytes if space else 0 for space in (old, new))
        if None not in peaks and peaks[0] != peaks[1]:
            yield SpaceChange(name, "peak", peaks[0] or 0, peaks[1] or 0)
        elif sizes[0] != sizes[1]:
            yield SpaceChange(name, "allocated", *sizes)


def _by_name(spaces: Sequence[ComparedSpace]) -> Mapping[str, ComparedSpace]:
    return {space.name: space for space in spaces if space.number != DEFAULT_SPACE}
