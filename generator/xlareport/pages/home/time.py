"""Where the main program's time goes: by phase of a training step, by layer, by scope."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from xlareport.analysis.cost.breakdown import CostPart
from xlareport.analysis.cost_report.report import CostReport
from xlareport.pages.cost.treemap import treemap, treemap_words
from xlareport.pages.home.shares import SharesBar, shares_bar
from xlareport.runtime import units


@dataclass(frozen=True, slots=True)
class TimeView:
    """The estimated time of the main program, divided."""

    words: str
    bars: tuple[SharesBar, ...]
    treemap: Markup
    """Empty where fewer than two scopes take any time."""
    treemap_words: str


def time_view(cost: CostReport | None) -> TimeView | None:
    """Return how the time divides; None where nothing could be counted."""
    if cost is None or not cost.seconds:
        return None
    bars = []
    if cost.phases:
        bars.append(shares_bar("By phase", _timed(cost.phases), "not known (no op_name)"))
    if any(part.name for part in cost.layers):
        bars.append(shares_bar("By layer", _timed(cost.layers), "no layer in the op_name"))
    return TimeView(
        words=f"Roofline time, not measured.{_missing(cost)}",
        bars=tuple(bars),
        treemap=Markup(treemap(cost.scopes)),  # noqa: S704 - made and escaped there
        treemap_words=treemap_words(cost.scopes),
    )


def _timed(parts: Sequence[CostPart]) -> list[tuple[str, float]]:
    return [(part.name, part.seconds) for part in parts]


def _missing(cost: CostReport) -> str:
    """Return why a division is not shown, and how the phases are known."""
    words = _PHASES if cost.phases else ""
    if not any(part.name for part in cost.layers):
        words += " No layers: no op_name has a named scope or a scanned loop."
    unnamed = sum(part.seconds for part in cost.layers if not part.name)
    whole = sum(part.seconds for part in cost.layers)
    if whole and 0 < unnamed < whole:
        words += f" {units.share(unnamed / whole)} has no layer in its op_name."
    return words


_PHASES = (
    " Phases are matched by op_name: jvp(...) is forward, transpose(jvp(...)) and gradient_tape "
    "are backward; what uses gradients but is not backward is optimizer."
)
