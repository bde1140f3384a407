from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from xlareport.analysis.steps.boundaries import DumpMode, boundaries, dump_mode
from xlareport.dump import filename
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact, SnapshotFiles
from xlareport.dump.source import open_source

Unpack = Callable[[str], Path]


def stage(sequence: int, pipeline: str, after: str, before: str | None) -> SnapshotFiles:
    return SnapshotFiles("pass", sequence, pipeline, after, before, ())


def stages(*named: tuple[str, str, str | None]) -> list[SnapshotFiles]:
    return [stage(number, *one) for number, one in enumerate(named)]


PASSES = ("algsimp", "dce", "cse", "reshape-mover", "sort", "copy", "fusion", "pipeline-end")

EVERY = stages(
    ("p", "pipeline-start", "algsimp"),
    *(("p", done, to_do) for done, to_do in pairwise(PASSES)),
)
CHANGED = [one for one in EVERY if one.after not in {"dce", "sort"}]


def test_a_pass_that_the_file_before_announced_ran_alone() -> None:
    first = boundaries(EVERY, [False] * (len(EVERY) - 1))[0]
    assert (first.ran, first.certain) == ("algsimp", True)
    assert first.note == "Only `algsimp` ran."
    assert first.actor == "`algsimp`"


def test_a_pass_that_was_not_announced_only_ran_last() -> None:
    boundary = boundaries(CHANGED, [False] * (len(CHANGED) - 1))[1]
    assert (boundary.ran, boundary.certain) == ("cse", False)
    assert boundary.note.startswith(
        "Attributed to `cse`, the last pass between the files 0001 and 0003; earlier passes are "
    )
    assert boundary.actor == "Passes up to and including `cse`"


def test_the_start_of_a_pipeline_is_no_pass() -> None:
    boundary = boundaries(
        stages(("p", "pipeline-start", "dce"), ("q", "pipeline-start", "cse")), [True]
    )[0]
    assert (boundary.ran, boundary.pipeline_start, boundary.identical) == (None, True, True)
    assert (
        boundary.note
        == "The file was written because `q` began; nothing changed since the last file."
    )
    assert boundary.actor == "Passes before `q`"


def test_a_change_before_a_pipeline_began_is_nobodys_and_the_last_known_pass_is_named() -> None:
    named = stages(("p", "algsimp", "dce"), ("q", "pipeline-start", "cse"))
    boundary = boundaries(named, [False])[0]
    assert (boundary.ran, boundary.certain) == (None, False)
    assert "left no file of their own; the last that did is `algsimp`" in boundary.note


def test_a_pipeline_that_begins_inside_a_pass_shows_what_that_pass_did() -> None:
    named = stages(
        ("spmd-partitioner", "shardy", "spmd-partitioning"),
        ("cleanup", "pipeline-start", "dce"),
        ("cleanup", "dce", "pipeline-end"),
        ("spmd-partitioner", "spmd-partitioning", "inliner"),
    )
    first, _, third = boundaries(named, [False] * 3)
    assert (first.ran, first.certain, first.pipeline_start) == ("spmd-partitioning", True, True)
    assert first.actor == "`spmd-partitioning`"
    assert first.note == (
        "The file was written because `cleanup` began inside `spmd-partitioning` (matched: the "
        "file 0000 names it as the next pass, a later file as done)."
    )
    assert third.ran == "spmd-partitioning"


def test_the_cleanup_of_the_partitioner_runs_in_it_though_another_pass_was_next() -> None:
    named = stages(
        ("partitioner", "shardy", "rng"),
        ("spmd-cleanup", "pipeline-start", "dce"),
        ("partitioner", "tpu-spmd-partitioning", "inliner"),
    )
    first, _ = boundaries(named, [False] * 2)
    assert (first.ran, first.certain) == ("tpu-spmd-partitioning", False)
    assert first.actor == "Passes up to and including `tpu-spmd-partitioning`"
    assert first.note.endswith("inside `tpu-spmd-partitioning`; earlier passes are possible.")


def test_a_pipeline_that_is_a_pass_itself_or_comes_before_one_made_no_change_yet() -> None:
    itself = stages(
        ("p", "dce", "simplification"),
        ("simplification", "pipeline-start", "algsimp"),
        ("p", "simplification", "cse"),
    )
    unnamed = stages(
        ("p", "dce", "simplification"),
        ("simplification", "pipeline-start", "algsimp"),
        ("p", "layout-assignment", "cse"),
    )
    again = stages(
        ("p", "dce", "fusion"), ("q", "pipeline-start", "algsimp"), ("p", "pipeline-start", "dce")
    )
    for named in (itself, unnamed, again):
        assert boundaries(named, [False] * 2)[0].ran is None


def test_snapshots_inside_a_pass_are_its_own_work() -> None:
    named = stages(
        ("p", "pipeline-start", "copy-insertion"),
        ("copy-insertion", "adding_copies", None),
        ("copy-insertion", "removing_copies", None),
        ("p", "copy-insertion", "dce"),
    )
    first, second, third = boundaries(named, [False] * 3)
    assert (first.ran, first.certain) == ("copy-insertion", True)
    assert first.note == "Written inside `copy-insertion`, after adding copies."
    assert (second.ran, second.certain) == ("copy-insertion", True)
    assert (third.ran, third.certain, third.actor) == ("copy-insertion", True, "`copy-insertion`")


def test_what_a_pass_wrote_before_it_set_to_work_is_not_its_work() -> None:
    tiling = SnapshotFiles("pass", 1, "tiling-rewriter", None, "tiling_rewriter", ())
    boundary = boundaries([*stages(("p", "a", "b")), tiling], [False])[0]
    assert boundary.ran is None
    assert boundary.actor == "Passes up to tiling rewriter in `tiling-rewriter`"


def test_what_a_helper_of_a_pass_wrote_is_the_work_of_that_pass() -> None:
    tiling = SnapshotFiles("pass", 1, "tiling-rewriter", None, "tiling_rewriter", ())
    [start, after, end] = stages(
        ("p", "pipeline-start", "layout-assignment"),
        ("tiling-rewriter", "tiling_propagation", None),
        ("p", "layout-assignment", "dce"),
    )
    first, second, third = boundaries([start, tiling, after, end], [False] * 3)
    assert (first.ran, first.certain, first.actor) == (
        "layout-assignment",
        True,
        "`layout-assignment`",
    )
    assert (
        first.note
        == "Written inside `tiling-rewriter` in `layout-assignment`, before tiling rewriter."
    )
    assert (second.ran, second.certain) == ("tiling-rewriter", True)
    assert second.actor == "`tiling-rewriter` in `layout-assignment`"
    assert (third.ran, third.certain, third.actor) == (
        "layout-assignment",
        True,
        "`layout-assignment`",
    )


def test_every_boundary_was_written_if_nearly_all_files_chain() -> None:
    assert dump_mode(EVERY).mode is DumpMode.EVERY


def test_a_gap_proves_that_only_changes_were_written() -> None:
    found = dump_mode(CHANGED)
    assert found.mode is DumpMode.CHANGED
    assert "left no file of their own" in found.evidence


def test_some_passes_only() -> None:
    assert dump_mode(stages(("p", "fusion", "cse"))).mode is DumpMode.SOME
    some = [one for one in EVERY if one.after != "pipeline-start"]
    assert dump_mode(some[1:]).mode is DumpMode.SOME


def test_no_passes_or_too_few() -> None:
    named = SnapshotFiles("before_optimizations", None, None, None, None, ())
    assert dump_mode([named]).mode is DumpMode.NONE
    assert dump_mode(EVERY[:3]).mode is DumpMode.UNKNOWN


def test_a_real_dump_made_with_a_dot_and_a_star(unpacked: Unpack) -> None:
    with open_source(unpacked("jax-cpu-train")) as source:
        artifacts = [Artifact(entry, filename.parse(entry.path)) for entry in source.entries]
        [module] = [one for one in group(artifacts).modules if one.name == "jit_train_step"]
    assert dump_mode(module.stages).mode in {DumpMode.CHANGED, DumpMode.UNKNOWN}
