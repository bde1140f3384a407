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
    known = {one.name: one for one in figures}
    return tuple(
        _figure(known[name], label)
        for name, label in _NAMES.items()
        if name in known and (known[name].base, known[name].head) != (0, 0)
    )


def _figure(one: QuantityView, label: str) -> FigureRow:
    return FigureRow(
        label=label,
        base=_written(one.name, one.base),
        head=_written(one.name, one.head),
        change=_change(one),
        worse=one.change is not None and one.change >= _WORTH_A_LOOK,
    )


def _written(name: str, value: int | None) -> str:
    if value is None:
        return "not known"
    if name == RUN:
        return units.seconds(value / 1e9)
    if "bytes" in name:
        return units.byte_size(value)
    return units.quantity(value, "flop") if "flops" in name else units.count(value)


def _change(one: QuantityView) -> str:
    if one.base is None or one.head is None:
        return "not known"
    if one.base == one.head:
        return "the same"
    if one.change is None:
        return "new"
    return f"{one.change:+.1%}".replace("-", "\N{MINUS SIGN}")


def figures_differ(one: ComparedView) -> bool:
    """Say whether any figure that both sides know differs."""
    return any(
        None not in (each.base, each.head) and each.base != each.head for each in one.figures
    )
