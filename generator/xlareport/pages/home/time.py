"""Where the main program's time goes: by phase of a training step, by layer, by scope."""

from collections.abc import Sequence

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.cost.breakdown import CostPart
from xlareport.analysis.cost.phases import (
    BACKWARD,
    COLLECTIVES,
    FORWARD,
    IN_A_LOOP,
    OTHER,
    UNMARKED,
    UPDATE,
)
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.pages import navigation
from xlareport.pages.charts import ChartPart
from xlareport.pages.cost.treemap import treemap, treemap_words
from xlareport.pages.cost.unknown_loops import iterations_words, with_one_iteration
from xlareport.pages.rendering.environment import prose
from xlareport.runtime import units

HUES = 7
"""Number of colors; the last is for the rest and unknown parts."""


class SharesBar(Struct, frozen=True):
    """A whole that is divided into parts."""

    title: str
    parts: tuple[ChartPart, ...]


def shares_bar(
    title: str,
    values: Sequence[tuple[str, float]],
    rest: str,
    fixed: Sequence[str] = (),
) -> SharesBar:
    """Return values as a bar, combining those beyond its colors; `rest` names unnamed time.

    A name in `fixed` has the color of its place there in every report, others that of their rank.
    """
    whole = sum(value for _, value in values) or 1.0
    named = [(name, value) for name, value in values if name and value > 0]
    unnamed = sum(value for name, value in values if not name)
    shown = named if len(named) < HUES else named[: HUES - 2]
    beyond = sum(value for _, value in named[len(shown) :])
    parts = [
        _chart_part(name, value / whole, fixed.index(name) if name in fixed else hue)
        for hue, (name, value) in enumerate(shown)
    ]
    if beyond:
        more = f"{len(named) - len(shown)} more"
        parts.append(_chart_part(more, beyond / whole, HUES - 2))
    if unnamed:
        parts.append(_chart_part(rest, unnamed / whole, HUES - 1))
    return SharesBar(title, tuple(parts))


def _chart_part(name: str, share: float, hue: int) -> ChartPart:
    return ChartPart(name, units.share(share), hue, f"{share * 100:.2f}")


class TimeView(Struct, frozen=True):
    """The estimated time of the main program, divided."""

    words: Markup
    phase_rules: str
    """How the phase of an instruction is matched; empty without phases."""
    name: str
    """What the time is estimated by."""
    bars: tuple[SharesBar, ...]
    treemap: Markup
    """Empty where fewer than two scopes take any time."""
    treemap_words: str


def time_view(cost: CostReport | None, slug: str) -> TimeView | None:
    """Return the division of the time; None if nothing was counted."""
    if cost is None or not cost.whole_seconds:
        return None
    address = navigation.instructions_address(slug)
    bars, iterations = [], with_one_iteration(cost)
    if cost.phases:
        bars.append(shares_bar(f"By phase{iterations}", _timed(cost.phases), _NO_OP_NAME, _COLORED))
    if _named_seconds(cost.layers) > _LEAST_NAMED * cost.whole_seconds:
        bars.append(
            shares_bar(f"By layer{iterations}", _timed(cost.layers), "no layer in the op_name")
        )
    return TimeView(
        words=prose(
            f"{cost.time_name.capitalize()}, not measured.{_iterations(cost)}{_time_remark(cost)}"
        ),
        phase_rules=_PHASES if cost.phases else "",
        name=cost.time_name,
        bars=tuple(bars),
        treemap=Markup(treemap(cost.scopes, address)),  # noqa: S704 - made and escaped there
        treemap_words=f"{treemap_words(cost.scopes)}{iterations}",
    )


def _iterations(cost: CostReport) -> str:
    words = iterations_words(cost)
    return f" {words}" if words else ""


_LEAST_NAMED = 0.1
"""The share of the time that must have a named layer, or the division by layer says nothing."""


def _named_seconds(parts: Sequence[CostPart]) -> float:
    """Return the seconds of all parts with a name."""
    return sum(part.seconds for part in parts if part.name not in {"", IN_A_LOOP})


_NO_OP_NAME = "not known (no op_name)"
_COLORED = (FORWARD, BACKWARD, UPDATE, COLLECTIVES, OTHER, UNMARKED)
"""Each phase has one color, so that two reports can be read beside each other."""


def _timed(parts: Sequence[CostPart]) -> list[tuple[str, float]]:
    return [(part.name, part.seconds) for part in parts]


def _time_remark(cost: CostReport) -> str:
    """Return why a division is not shown."""
    words = ""
    if any(part.name == UNMARKED for part in cost.phases):
        words += _UNMARKED
    if not any(part.name for part in cost.layers):
        words += " No layers: no op_name has a named scope or a scanned loop."
    unnamed = sum(part.seconds for part in cost.layers if not part.name)
    whole = sum(part.seconds for part in cost.layers)
    if whole and 0 < unnamed < whole:
        share = units.share(unnamed / whole)
        words += f" {share} is in no layer: no named scope in its op_name, or no op_name."
    return words


_UNMARKED = (
    " No op_name of a matmul or convolution has jvp(...) or transpose(...), as in older versions "
    "of JAX: the phase of ops without these is not known."
)
_PHASES = (
    "Phases are matched by op_name: jvp(...) is forward, transpose(jvp(...)) and gradient_tape "
    "are backward. Forward work in a kernel that computes gradients is recomputed and counts as "
    "backward; the scopes count it as forward. Anything else that uses gradients counts as "
    "optimizer, as does what feeds only that, unless it is in a named scope or its own loop. "
    "Collectives, scopes that recur from the forward pass, and scopes with a ppermute do not "
    "count. An instruction without op_name counts for the op whose value it passes on, or else for "
    "the op that reads it, also in a loop; a combined collective counts for the ops of its "
    "members, by bytes."
)
