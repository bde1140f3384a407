"""Times of passes and steps, from metadata or from the files."""

from pathlib import Path

from msgspec.structs import replace
from tests.analysis.passes.three_steps import FILES, metadata, stages

from xlareport.analysis.passes.pass_times import (
    StepTime,
    estimate_step_times,
    refine_boundaries,
)
from xlareport.analysis.steps.boundaries import boundaries
from xlareport.dump.source import Entry
from xlareport.readers.pass_metadata import read_pass_metadata


def test_the_time_of_a_step_is_that_of_its_passes_or_lies_between_its_files() -> None:
    measured = estimate_step_times(stages(), metadata())
    assert [step_time and step_time.measured for step_time in measured[1:]] == [True, True]
    own = sum(timed.self_time or 0 for timed in metadata().timed())
    assert sum(step_time.seconds for step_time in measured if step_time) <= own / 1e6
    dated = [
        replace(one, artifacts=(replace(one.artifacts[0], entry=Entry("x", 9, at, Path())),))
        for at, one in zip((3, 3, 5), stages(), strict=True)
    ]
    *_, last = estimate_step_times(dated, None)
    assert last == StepTime(2.0, measured=False)
    assert isinstance(last.seconds, float)
    assert estimate_step_times(dated, None) == (None, None, last)
    assert estimate_step_times([], None) == ()


def test_metadata_makes_it_certain_what_ran_inside_a_step() -> None:
    known = boundaries(stages(), [False, False])
    first, second = refine_boundaries(known, stages(), metadata())
    assert (first.ran, first.certain) == ("a", True)
    assert (second.ran, second.certain, second.actor) == ("b", True, "`b`")
    assert "exactly 2 passes ran here: `quiet`, `b`; `b` reported a change" in second.note


def test_a_pass_that_was_at_work_around_the_files_made_what_nobody_reported() -> None:
    runs = (
        ("pipeline-start", 10, 20, FILES[0]),
        ("spmd", 30, 90, None),
        ("pipeline-start", 40, 50, FILES[1]),
    )
    text = "".join(
        f'pass_metadata {{\n  pass_name: "{name}"\n  pipeline_name: "p"\n'
        f"  start_timestamp_usec: {start}\n  end_timestamp_usec: {end}\n"
        + (f'  dump_filenames: "/dump/{file}"\n' if file else "")
        + "}\n"
        for name, start, end, file in runs
    )
    read, _ = read_pass_metadata(text.encode(), "module_0001.metadata.textproto")
    assert read is not None
    (found, _) = refine_boundaries(boundaries(stages(), [False, False]), stages(), read)
    assert (found.ran, found.certain, found.actor) == ("spmd", True, "`spmd`")
    assert found.note.endswith("`spmd` was still at work when the file was written.")


def test_every_pass_of_a_step_is_listed_with_what_it_reported() -> None:
    _, second = refine_boundaries(boundaries(stages(), [False, False]), stages(), metadata())
    assert second.inside == (("quiet", False), ("b", True))
