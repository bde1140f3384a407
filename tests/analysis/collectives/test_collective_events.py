"""Changes of a collective by passes."""

from collections.abc import Mapping
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from xlareport.analysis.collectives.collective_events import NO_NAME, Passes, list_events
from xlareport.analysis.collectives.find import ASYNC_FUSIONS, Collective
from xlareport.analysis.collectives.trail import CollectiveLink
from xlareport.analysis.steps.boundaries import boundaries
from xlareport.dump.modules import SnapshotFiles
from xlareport.knowledge.grades import Grade

PLAIN = Collective(
    *("all-reduce", "main", "r", ("main", "r"), None, ("r",), "synchronous", "", (), None)
)
LATER = replace(PLAIN, instruction="s", parts=("s",))
STARTED = replace(LATER, done="d", parts=("s", "d"), form="start and done")


def passes(*stages: SnapshotFiles) -> Passes:
    snapshots = [SimpleNamespace(stage=stage) for stage in stages]
    return Passes(snapshots, boundaries(stages, [False] * (len(stages) - 1)))


def stage(number: int, after: str, before: str, pipeline: str = "opt") -> SnapshotFiles:
    return SnapshotFiles("pass", number, pipeline, after, before, ())


THREE = (
    stage(0, "pipeline-start", "combiner"),
    stage(1, "combiner", "dce"),
    stage(2, "dce", "pipeline-end"),
)


def events(**link: object) -> Mapping[str, str]:
    given = {
        "number": 1,
        "before": (PLAIN,),
        "after": LATER,
        "grade": Grade.EXACT,
        "siblings": ("s",),
    }
    made = CollectiveLink(**given | {"moved": False} | link)
    return {event.event: event.detail for event in list_events([made], passes(*THREE))}


def test_a_collective_that_only_has_another_name_has_no_event() -> None:
    assert events() == {}


def test_several_that_became_one_were_merged() -> None:
    other = replace(PLAIN, instruction="q")
    assert events(before=(PLAIN, other)) == {"merged": "`r`, `q` became `s`."}


def test_one_that_another_read_was_folded_into_it() -> None:
    other = replace(PLAIN, instruction="q")
    assert events(before=(PLAIN, other), folded=(PLAIN,)) == {
        "folded": "`r` folded into `q`, which reads it: `s` reduces over all."
    }


def test_one_that_became_several_was_split() -> None:
    assert events(siblings=("s", "t")) == {"split": "`r` became `s`, `t`."}


def test_a_move_names_both_computations() -> None:
    assert events(moved=True, after=replace(LATER, computation="body")) == {
        "moved": "From `main` to `body`."
    }


def test_another_kind_is_a_rewrite() -> None:
    assert events(after=replace(LATER, kind="reduce-scatter")) == {
        "rewritten": "`r` was an all-reduce."
    }


@pytest.mark.parametrize(
    ("before", "after", "event"),
    [
        (PLAIN, STARTED, "asynchronous"),
        (STARTED, LATER, "synchronous"),
        (STARTED, replace(STARTED, form=ASYNC_FUSIONS), "fused"),
        (STARTED, replace(STARTED, thread="sparsecore"), "offloaded"),
        (STARTED, replace(STARTED, is_sync=True), "synchronous"),
    ],
)
def test_another_form_is_an_event(before: Collective, after: Collective, event: str) -> None:
    assert [*events(before=(before,), after=after)] == [event]


def test_events_are_in_the_order_of_the_snapshots_with_their_passes() -> None:
    links = [
        CollectiveLink(2, (PLAIN,), STARTED, Grade.EXACT, ("s",), moved=False),
        CollectiveLink(1, (PLAIN,), LATER, Grade.GUESSED, ("s", "t"), moved=False),
    ]
    first, last = list_events(links, passes(*THREE))
    assert (first.event, first.by, first.grade) == ("split", "combiner", "guessed")
    assert (last.event, last.by, last.by_reason) == ("asynchronous", "dce", None)
    assert first.stage == THREE[1].label


def test_without_a_pass_there_is_a_reason() -> None:
    unnamed = SnapshotFiles("after_spmd", None, None, None, None, ())
    (event,) = list_events(
        [CollectiveLink(1, (PLAIN,), STARTED, Grade.EXACT, ("s",), moved=False)],
        passes(SnapshotFiles("before_optimizations", None, None, None, None, ()), unnamed),
    )
    assert (event.by, event.by_reason) == (None, NO_NAME)


def test_a_pipeline_inside_of_a_pass_is_named_by_the_pass_around_it() -> None:
    around = passes(
        stage(0, "pipeline-start", "spmd", "outer"),
        stage(1, "pipeline-start", "cleanup", "inner"),
        stage(2, "spmd", "dce", "outer"),
    )
    assert around.ran_before(1) == "spmd"
