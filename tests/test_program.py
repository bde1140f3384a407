"""One module read whole."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from xlareport import reader_table
from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact
from xlareport.dump.source import Entry
from xlareport.program import ParsedModule, read_module

WHOLE = """HloModule m

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %r = f32[8]{0} negate(%x)
}
"""
CUT = WHOLE[: WHOLE.index("  ROOT")]
BEGIN, END = "module_0001.m.before_optimizations.txt", "module_0001.m.after_optimizations.txt"


def read(
    folder: Path, files: dict[str, str], times: Mapping[str, float] | None = None
) -> ParsedModule:
    for name, text in files.items():
        (folder / name).write_text(text)
    names = classify(list(files))
    modified = times or {}
    entries = [
        Entry(path, len(text), modified.get(path), folder / path) for path, text in files.items()
    ]
    pairs = zip(entries, names, strict=True)
    (module,) = group([Artifact(entry, name) for entry, name in pairs]).modules
    return read_module(module)


def test_a_snapshot_that_is_cut_off_gives_no_figures(tmp_path: Path) -> None:
    module = read(tmp_path, {BEGIN: WHOLE, END: CUT})
    assert [snapshot.stage.name for snapshot in module.snapshots] == ["before_optimizations"]
    assert [problem.path for problem in module.problems if "cut off" in problem.message] == [END]


def test_a_part_of_a_text_is_shown_where_nothing_else_is(tmp_path: Path) -> None:
    module = read(tmp_path, {END: CUT})
    assert [snapshot.stage.name for snapshot in module.snapshots] == ["after_optimizations"]


def test_whole_snapshots_are_all_kept(tmp_path: Path) -> None:
    module = read(tmp_path, {BEGIN: WHOLE, END: WHOLE})
    assert len(module.snapshots) == 2
    assert not module.problems


def test_a_snapshot_of_an_unknown_name_is_placed_by_what_it_holds(tmp_path: Path) -> None:
    middle = WHOLE.replace("negate", "sine")
    last = middle.replace("ROOT %r", "%s").replace("\n}", "\n  ROOT %r = f32[8]{0} abs(%s)\n}")
    files = {
        BEGIN: WHOLE,
        "module_0001.m.0000.p.after_a.before_b.txt": middle,
        "module_0001.m.0001.p.after_b.before_c.txt": last,
        END: last,
        "module_0001.m.before_config_assignment.txt": middle,
    }
    module = read(tmp_path, files)
    labels = [snapshot.stage.label for snapshot in module.snapshots]
    assert labels[2] == "before config assignment (placed by content)"
    assert [one.label for one in module.files.stages] == labels


def test_a_snapshot_of_an_unknown_name_alone_keeps_its_place(tmp_path: Path) -> None:
    module = read(tmp_path, {"module_0001.m.before_config_assignment.txt": WHOLE})
    assert [snapshot.stage.label for snapshot in module.snapshots] == ["before config assignment"]


PASSES = "module_0001.m.{:04d}.p.after_{}.before_{}.txt"
ASSIGNMENT = "module_0001.m.after_optimizations_before_buffer_assignment.txt"
IN_VMEM = WHOLE.replace("ROOT %r = f32[8]{0}", "ROOT %r = f32[8]{0:S(1)}")
RENAMED = IN_VMEM.replace("%r", "%s")
V6E = {
    BEGIN: WHOLE,
    PASSES.format(0, "a", "b"): WHOLE,
    ASSIGNMENT: WHOLE,
    PASSES.format(1, "b", "c"): IN_VMEM,
    PASSES.format(2, "c", "d"): RENAMED,
    END: RENAMED,
}
"""As TPU v5p and v6e write them: passes run between that snapshot and the last one."""
PLACED = "before buffer assignment (placed by {})"


def test_contents_place_a_named_snapshot_before_the_passes_that_follow_it(tmp_path: Path) -> None:
    module = read(tmp_path, V6E)
    labels = [snapshot.stage.label for snapshot in module.snapshots]
    assert labels[2] == PLACED.format("content")
    assert [one.label for one in module.files.stages] == labels


def test_a_named_snapshot_is_placed_where_the_numbers_of_a_module_restart(tmp_path: Path) -> None:
    restarted = {
        name.replace("module_0001", "module_0003") if name != BEGIN else name: text
        for name, text in V6E.items()
    }
    first = {"module_0001.m.0000.early.after_x.before_y.txt": WHOLE}
    module = read(tmp_path, {BEGIN: WHOLE} | first | restarted)
    assert module.snapshots[3].stage.label == PLACED.format("content")


def test_times_of_files_place_a_named_snapshot_before_contents_do(tmp_path: Path) -> None:
    files = dict.fromkeys(V6E, WHOLE)
    module = read(tmp_path, files, {name: float(at) for at, name in enumerate(files)})
    assert module.snapshots[2].stage.label == PLACED.format("time")


def test_times_that_contradict_the_numbers_tell_nothing(tmp_path: Path) -> None:
    files = dict.fromkeys(V6E, WHOLE)
    module = read(tmp_path, files, {name: -float(at) for at, name in enumerate(files)})
    assert module.snapshots[4].stage.label == "before buffer assignment"


def test_a_named_snapshot_stays_last_where_its_contents_fit_there(tmp_path: Path) -> None:
    files = {**V6E, ASSIGNMENT: V6E[END]}
    assert read(tmp_path, files).snapshots[4].stage.label == "before buffer assignment"


REPORT = "Memory Space: default (color=0)\nTotal bytes: 71144 (69.5KiB)\n"


def test_side_files_are_read_by_the_rows_of_the_reader_table(tmp_path: Path) -> None:
    files = {
        END: WHOLE,
        "module_0001.m.gpu_target_config.pbtxt": "gpu_device_info {\n  core_count: 114\n}\n",
        "module_0001.m.autotune_results.pbtxt": "version: 3\n",
    }
    module = read(tmp_path, files)
    assert module.side.of(reader_table.GPU_CORES) == 114
    assert module.side.of(reader_table.AUTOTUNE_RESULTS) == ()
    assert module.side.of(reader_table.FLAGFILE) is None
    assert not module.problems


@pytest.mark.parametrize(("text", "opened"), [(REPORT, 1), ("nothing\n", 2)])
def test_a_row_is_read_only_where_the_one_before_it_gave_nothing(
    tmp_path: Path, text: str, opened: int
) -> None:
    stem = "module_0001.m.cpu_after_optimizations-memory-usage-report"
    module = read(tmp_path, {END: WHOLE, f"{stem}.txt": text, f"{stem}.pb": "x"})
    assert sum(path.startswith(stem) for path in module.read) == opened


def test_what_a_side_file_does_not_say_is_a_problem_of_its_module(tmp_path: Path) -> None:
    tuned = "module_0001.m.autotune_results.pbtxt"
    module = read(tmp_path, {END: WHOLE, tuned: "results {\n"})
    assert {problem.path for problem in module.problems} == {tuned}


def test_a_side_file_that_ends_within_a_line_may_be_cut_off(tmp_path: Path) -> None:
    cores = "module_0001.m.gpu_target_config.pbtxt"
    text = "gpu_device_info {\n  core_count: 114\n}"
    module = read(tmp_path, {END: WHOLE, cores: text})
    assert module.side.of(reader_table.GPU_CORES) == 114
    (problem,) = module.problems
    assert problem.path == cores
    assert "cut off" in problem.message
    assert not read(tmp_path, {END: WHOLE, cores: text + "\n"}).problems


def test_allocations_that_a_buffer_assignment_lacks_are_a_problem(tmp_path: Path) -> None:
    stem = "module_0001.m.cpu_after_optimizations"
    assigned, report = f"{stem}-buffer-assignment.txt", f"{stem}-memory-usage-report.txt"
    text = (
        "BufferAssignment:\nallocation 0: size 71000, maybe-live-out:\n"
        "allocation 1: size 144, thread-local:\n"
    )
    assert not read(tmp_path, {END: WHOLE, assigned: text, report: REPORT}).problems
    cut = text[: text.index("allocation 1")]
    module = read(tmp_path, {END: WHOLE, assigned: cut, report: REPORT})
    (problem,) = module.problems
    assert problem.path == assigned
    assert "71,000 of the 71,144 bytes" in problem.message
    assert not read(tmp_path, {END: WHOLE, assigned: cut}).problems
