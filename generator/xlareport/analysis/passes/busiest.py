"""Which passes did most: the changes of all steps, by the pass that ran last in each."""

from collections.abc import Sequence
from dataclasses import dataclass

from xlareport.analysis.modules.summary import StepSummary
from xlareport.analysis.steps.boundaries import Boundary


@dataclass(frozen=True, slots=True)
class Busy:
    """Everything that was seen to change when one pass had run."""

    name: str | None
    """None for the changes that no file ascribes to a pass."""
    steps: int
    """Steps that changed something."""
    certain: int
    """Those of them in which no other pass ran."""
    added: int
    removed: int
    modified: int
    weight: float = 0.0
    """What they did to what is heavy, for ranking; no unit."""

    @property
    def changes(self) -> int:
        """Changes of any kind."""
        return self.added + self.removed + self.modified


def rank_busiest(
    between: Sequence[Boundary], steps: Sequence[StepSummary | None]
) -> tuple[Busy, ...]:
    """Return the passes that changed anything, those that did most first.

    `steps` has what led to each snapshot, None for the first.
    """
    busies: dict[str | None, Busy] = {}
    for boundary in between:
        step = steps[boundary.number]
        if step is not None and step.changed:
            known = busies.get(boundary.ran, Busy(boundary.ran, 0, 0, 0, 0, 0))
            busies[boundary.ran] = Busy(
                name=boundary.ran,
                steps=known.steps + 1,
                certain=known.certain + boundary.certain,
                added=known.added + step.added,
                removed=known.removed + step.removed,
                modified=known.modified + step.modified,
                weight=known.weight + step.weight,
            )
    return tuple(sorted(busies.values(), key=lambda busy: (-busy.weight, busy.name or "")))
