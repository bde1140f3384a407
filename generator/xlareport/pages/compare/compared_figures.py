"""The figures of a comparison in two columns, better and worse marked."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.compare.comparison import Quantity, compare_figure
from xlareport.analysis.compare.memory_spaces import SpaceChange
from xlareport.analysis.compare.module_facts import COMPILE_TIME, ESTIMATE, ITERATION, WRAPPED
from xlareport.analysis.tpu.compared_programs import CYCLES, SPILLS, STATIC_CYCLES
from xlareport.records.compare import RUN, ComparedRecord
from xlareport.runtime import units

_LEAST_OF_ITERATION = 0.01
"""Share; the estimate resolves no smaller change."""
_WORTH_A_LOOK = 0.0005
"""Share; smaller changes are written as <0.1%."""
_NAMES = {
    RUN: "Measured time per run",
    ESTIMATE: "Estimated time per run (roofline)",
    ITERATION: "Of it one iteration of loops of unknown trip count",
    "flops": "FLOPs",
    "bytes_accessed": "Bytes accessed",
    "allocated_bytes": "Memory allocated",
    "occupied_peak_bytes": "Peak memory",
    "temp_bytes": "Temp memory",
    "kernels": "Instructions outside fusions",
    "fusions": "Fusions",
    WRAPPED: "Fusions of one instruction",
    "collectives": "Collectives",
    "wire_bytes": "Bytes sent to other devices",
    CYCLES: "Dynamic cycles on a TPU core",
    STATIC_CYCLES: "Static cycles on a TPU core",
    SPILLS: "Vector spill stores",
    "instructions": "Instructions",
    "computations": "Computations",
    "unknown_ops": "Instructions with unknown FLOPs",
    COMPILE_TIME: "Compile time",
}
"""The figures on a page, in this order; the others are in compare.json."""
_OF_DEVICE_MEMORY = ("allocated_bytes", "occupied_peak_bytes", "temp_bytes")
_NEUTRAL = frozenset({"fusions", WRAPPED, "instructions", "computations"})
"""More of these is neither better nor worse."""


class FigureRow(Struct, frozen=True):
    """A figure of both sides in words."""

    label: str
    base: str
    head: str
    change: str
    look: str
    """`xr-worse` if it grew, `xr-better` if it shrank; empty if neither applies."""


def figure_rows(compared: ComparedRecord) -> tuple[FigureRow, ...]:
    """Return the figures of a module in words; those that are 0 in both are left out."""
    return (*_figures(compared), *map(_precision, compared.precisions))


def _figures(compared: ComparedRecord) -> Iterator[FigureRow]:
    by_name = compared.by_name
    for name, label in _NAMES.items():
        if name in by_name and (by_name[name].base, by_name[name].head) != (0, 0):
            memory = compared.device_memory if name in _OF_DEVICE_MEMORY else ""
            quantity = by_name[name]
            yield _row(quantity, f"{label} ({memory})" if memory else label, _look(quantity))
        if name == _OF_DEVICE_MEMORY[-1]:
            yield from map(_space, compared.memory_spaces)
        if name == "collectives":
            yield from map(_collective, compared.collectives)


def _row(quantity: Quantity, label: str, look: str = "") -> FigureRow:
    """Return the row of a figure, by default neither better nor worse."""
    base, head = _both(quantity)
    return FigureRow(label, base, head, _change(quantity, looks_same=base == head), look)


def _both(quantity: Quantity) -> tuple[str, str]:
    """Return both values in words, with enough digits to distinguish them unless almost equal."""
    name, base, head = quantity.name, quantity.base, quantity.head
    if base is not None and head is not None and not _is_few_bytes(quantity):
        if name.endswith(("nanoseconds", "microseconds")):
            unit = 1e9 if name.endswith("nanoseconds") else 1e6
            return units.times_apart(base / unit, head / unit)
        if "bytes" in name:
            return units.sizes_apart(base, head)
        if "flops" in name:
            return units.quantities_apart(base, head, "FLOP")
    return written(name, base), written(name, head)


def _look(quantity: Quantity) -> str:
    change = quantity.change
    if change is None and quantity.base == 0 and quantity.head:
        change = 1.0
    if change is None or abs(change) < _WORTH_A_LOOK or quantity.name in _NEUTRAL:
        return ""
    return "xr-worse" if change > 0 else "xr-better"


def _space(change: SpaceChange) -> FigureRow:
    """Return the row of a memory space: neither better nor worse, as more of it may be faster."""
    quantity = compare_figure("bytes", change.base, change.head)
    label = "Peak memory" if change.figure == "peak" else "Memory allocated"
    return _row(quantity, f"{label} ({change.name})")


def _collective(count: tuple[str, int, int]) -> FigureRow:
    """Return the row of one kind of collective: which ones were added matters, not how many."""
    quantity = compare_figure(*count)
    return _row(quantity, f"Collectives: {quantity.name}")


def _precision(precision: tuple[str, int, int]) -> FigureRow:
    """Return the row of FLOPs of one precision: neither better nor worse."""
    kind, base, head = precision
    return _row(compare_figure("flops", base, head), f"FLOPs of {kind} matmuls")


def describe_iteration(compared: ComparedRecord) -> str:
    """Return how much longer or shorter an iteration is that the estimate counts once, or ""."""
    quantity = compared.by_name.get(ITERATION)
    if quantity is None or quantity.change is None or abs(quantity.change) < _LEAST_OF_ITERATION:
        return ""
    base, head = _both(quantity)
    less = "more" if quantity.change > 0 else "less"
    return (
        "The estimate counts loops of unknown trip count once: an iteration takes "
        f"{head} instead of {base} ({abs(quantity.change):.1%} {less})."
    )


def figure_name(name: str) -> str:
    """Return the name of a figure on pages."""
    return _NAMES.get(name, name)


def written(name: str, value: int | None) -> str:
    """Return the value of a figure with its unit."""
    if value is None:
        return "not known"
    if name.endswith("nanoseconds"):
        return units.seconds(value / 1e9)
    if name.endswith("microseconds"):
        return units.seconds(value / 1e6)
    if "bytes" in name:
        return units.byte_size(value)
    return units.quantity(value, "FLOP") if "flops" in name else units.count(value)


def _change(quantity: Quantity, *, looks_same: bool) -> str:
    if quantity.base is None or quantity.head is None:
        return "not known"
    if looks_same and not _is_few_bytes(quantity):
        return "the same"
    if _is_few_bytes(quantity):
        return units.with_sign(quantity.head - quantity.base, units.byte_size)
    if quantity.change is None:
        return "new"
    return units.signed_share(quantity.change)


def _is_few_bytes(quantity: Quantity) -> bool:
    """Return whether the difference is bytes that no digits of the figures would show."""
    return "bytes" in quantity.name and 0 < abs(quantity.change or 0) < _WORTH_A_LOOK


def figures_differ(figures: Sequence[Quantity]) -> bool:
    """Return whether any figure that both sides have differs."""
    return any(
        None not in (figure.base, figure.head) and figure.base != figure.head for figure in figures
    )
