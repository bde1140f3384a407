"""The passes that changed most come first."""

from dataclasses import replace

from tests.analysis.passes.three_steps import stages

from xlareport.analysis.modules.summary import StepSummary
from xlareport.analysis.passes.busiest import rank_busiest
from xlareport.analysis.steps.boundaries import boundaries


def _done(added: int, removed: int, modified: int, weight: float) -> StepSummary:
    return StepSummary(
        changed=True, added=added, removed=removed, modified=modified, headline="", weight=weight
    )


def test_the_passes_that_changed_what_is_heavy_come_first_and_nobodys_changes_are_kept() -> None:
    between = boundaries(stages(), [False, False])
    steps = [None, _done(5, 0, 4, 1.0), _done(1, 2, 0, 40.0)]
    first, second = rank_busiest(between, steps)
    assert (first.name, first.steps, first.certain, first.changes) == ("b", 1, 1, 3)
    assert (second.name, second.added, second.removed) == ("a", 5, 0)
    unnamed = [replace(one, ran=None) for one in between]
    (nobody,) = rank_busiest(unnamed, steps)
    assert (nobody.name, nobody.steps) == (None, 2)
