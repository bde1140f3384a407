"""The figures of both sides of a comparison, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from xlareport.pages.compare.views import ComparedView, QuantityView
from xlareport.runtime import units

_WORTH_A_LOOK = 0.0005
"""A share; what grows by less is written as +0.0%."""
RUN = "run_nanoseconds"
"""What a run took, as measured; only where profilers saw both sides."""
_NAMES = {
    RUN: "Measured time of a run",
    "instructions": "Instructions",
    "computations": "Computations",
    "flops": "Work",
    "bytes_accessed": "Memory traffic",
    "unknown_ops": "Operations that cannot be counted",
    "allocated_bytes": "Memory allocated",
    "live_peak_bytes": "Memory in use at the peak",
    "temp_bytes": "Memory for intermediate values",
}
"""The figures that a page shows, in this order; the others are in compare.json."""


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A figure of both sides in words."""

    label: str
    base: str
    head: str
    change: str
    worse: bool
    """It grew: more work or memory than before."""


def figure_rows(figures: Sequence[QuantityView]) -> tuple[FigureRow, ...]:
    """Return the figures of a page in words; those that are 0 in both are left out."""
    known = {figure.name: figure for figure in figures}
    return tuple(
        _figure(known[name], label)
        for name, label in _NAMES.items()
        if name in known and (known[name].base, known[name].head) != (0, 0)
    )


def _figure(quantity: QuantityView, label: str) -> FigureRow:
    return FigureRow(
        label=label,
        base=_written(quantity.name, quantity.base),
        head=_written(quantity.name, quantity.head),
        change=_change(quantity),
        worse=quantity.change is not None and quantity.change >= _WORTH_A_LOOK,
    )


def _written(name: str, value: int | None) -> str:
    if value is None:
        return "not known"
    if name == RUN:
        return units.seconds(value / 1e9)
    if "bytes" in name:
        return units.byte_size(value)
    return units.quantity(value, "flop") if "flops" in name else units.count(value)


def _change(quantity: QuantityView) -> str:
    if quantity.base is None or quantity.head is None:
        return "not known"
    if quantity.base == quantity.head:
        return "the same"
    if quantity.change is None:
        return "new"
    return f"{quantity.change:+.1%}".replace("-", "\N{MINUS SIGN}")


def figures_differ(compared: ComparedView) -> bool:
    """Say whether any figure that both sides know differs."""
    return any(
        None not in (each.base, each.head) and each.base != each.head for each in compared.figures
    )
