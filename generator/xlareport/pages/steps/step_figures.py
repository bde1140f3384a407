"""The figures of a step for the page script: before, after, and the difference."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from xlareport.analysis.passes.growth import Growth
from xlareport.analysis.passes.overview import bytes_share
from xlareport.analysis.passes.pass_times import StepTime
from xlareport.analysis.steps.effect import StepEffect
from xlareport.runtime import english, units

StepFigure = tuple[str, str, str, str]
"""Name, before, after, and the signed difference; '' if nothing changed."""

_COARSE = 10
"""Seconds from which on a time of whole seconds is precise enough."""
_SAME_TOTAL = "same total"
"""In the place of a difference, where only the part of dead code is another."""
_Write = Callable[[int], str]


def step_figures(before: Growth, after: Growth) -> tuple[StepFigure, ...]:
    """Return the figures that are known on both sides."""
    return tuple(_figures(before, after))


def describe_uncounted(before: Growth, after: Growth) -> str:
    """Return which figures were not counted for a step; '' if all were."""
    names = [
        name
        for name, *sides in (
            ("FLOPs", before.flops, after.flops),
            ("bytes accessed", before.bytes_accessed, after.bytes_accessed),
        )
        if None in sides
    ]
    return f"Not counted for this step: {english.listing(names)}." if names else ""


def time_words(time: StepTime | None) -> str:
    """Return how long a step took, and how that is known; '' where it is not."""
    if time is None:
        return ""
    if time.measured:
        return (
            f"The passes of this step took {units.seconds(time.seconds)} by the compiler's clock."
        )
    whole = time.seconds.is_integer() and time.seconds < _COARSE
    precision = ", which are whole seconds" if whole else ""
    return (
        f"About {units.seconds(time.seconds)} lie between the times of the two files{precision}; "
        "writing them is part of it."
    )


def effect_chips(effect: StepEffect, before: Growth, after: Growth) -> Iterator[tuple[str, str]]:
    """Yield the important effects of a step, each with its kind."""
    if effect.collectives:
        yield "collectives", units.plural(effect.collectives, "collective")
    if effect.fusions:
        word = "fusion" if abs(effect.fusions) == 1 else "fusions"
        yield "fusions", f"{_difference(effect.fusions, units.count)} {word}"
    share = bytes_share(before, after)
    if share:
        yield "bytes", f"{_difference(round(share * _TENTHS), _tenths)} bytes"
    if effect.precision:
        yield "precision", f"{units.count(effect.precision)} precision"
    if effect.layout:
        yield "layout", f"{units.count(effect.layout)} layout"
    if effect.order:
        yield "order", f"{units.count(effect.order)} reordered"


_TENTHS = 1000
"""Tenths of a percent in a whole."""


def _tenths(value: int) -> str:
    """Return tenths of a percent as a percentage, whole from 1,000%."""
    return f"{value / 10:,.0f}%" if value >= 10 * _TENTHS else f"{value / 10:.3g}%"


def _figures(before: Growth, after: Growth) -> Iterator[StepFigure]:
    rows: Sequence[tuple[str, int | None, int | None, _Write]] = (
        ("instructions", before.instructions, after.instructions, units.count),
        ("computations", before.computations, after.computations, units.count),
        ("fusions", before.fusions, after.fusions, units.count),
    )
    for what, old, new, write in rows:
        if old is not None and new is not None:
            yield what, write(old), write(new), _difference(new - old, write)
    work = (_Work(known, known.flops, known.dead_flops, _flops) for known in (before, after))
    yield from _compare_work("FLOPs", *work)
    moved = (
        _Work(known, known.bytes_accessed, known.dead_bytes_accessed, units.byte_size)
        for known in (before, after)
    )
    yield from _compare_work("bytes accessed", *moved)


class _Work(NamedTuple):
    """A figure of the work of a snapshot, the part of it that dead code has, and its unit."""

    snapshot: Growth
    value: int | None
    dead: int | None
    write: _Write

    @property
    def words(self) -> str:
        """The figure, with the part of dead code, if there is any."""
        dead = f" ({self.write(self.dead)} in dead code)" if self.dead else ""
        return f"{self.write(self.value or 0)}{dead}"


def _compare_work(what: str, before: _Work, after: _Work) -> Iterator[StepFigure]:
    """Yield a figure that is per device once the module is partitioned.

    The partitioning step has no difference: the other devices do the rest of the work.
    """
    if before.value is None or after.value is None:
        return
    parts, write = after.snapshot.partitions, after.write
    if parts <= before.snapshot.partitions:  # fewer: it is only written otherwise
        named = f"{what} per device" if parts > 1 else what
        change = _difference(after.value - before.value, write)
        same = _SAME_TOTAL if before.dead != after.dead and before.words != after.words else ""
        yield named, before.words, after.words, change or same
    else:
        dead = after.dead * parts if after.dead is not None else None
        whole = after._replace(value=after.value * parts, dead=dead)
        divided = f"{after.words} per device, {whole.words} on all {parts:,}"
        yield what, before.words, divided, "partitioned"


def _flops(value: int) -> str:
    return units.quantity(value, "FLOP")


def _difference(value: int, write: _Write) -> str:
    return units.with_sign(value, write) if value else ""
