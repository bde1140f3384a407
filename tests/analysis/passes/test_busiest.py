"""The passes that changed most come first."""

from dataclasses import replace
from pathlib import Path

from xlareport.analysis.modules.summary import StepSummary
from xlareport.analysis.passes.busiest import rank_busiest
from xlareport.analysis.steps.boundaries import boundaries
from xlareport.dump.classify import classify
from xlareport.dump.modules import Artifact, SnapshotFiles, group
from xlareport.dump.source import Entry

FILES = (
    "module_0001.f.0000.p.after_pipeline-start.before_a.txt",
    "module_0001.f.0001.p.after_a.before_b.txt",
    "module_0001.f.0002.p.after_b.before_pipeline-end.txt",
)


def stages() -> tuple[SnapshotFiles, ...]:
    names = classify(FILES)
    found = group(
        [Artifact(Entry(p, 9, None, Path(p)), n) for p, n in zip(FILES, names, strict=True)]
    )
    return found.modules[0].stages


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
