"""Which file of a module each row of the table of readers takes."""

from pathlib import Path

import pytest

from xlareport import reader_table
from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.dump.source import Entry
from xlareport.storage.typed_values import read_values

BEGINNING = "module_0001.jit_f"
SNAPSHOT = f"{BEGINNING}.cpu_after_optimizations.txt"


def module(*endings: str) -> ModuleFiles:
    paths = [SNAPSHOT, *(f"{BEGINNING}.{ending}" for ending in endings)]
    artifacts = [
        Artifact(Entry(path, 0, None, Path(path)), name)
        for path, name in zip(paths, classify(paths), strict=True)
    ]
    (files,) = group(artifacts).modules
    return files


def chosen(row: reader_table.SideFile[object], *endings: str) -> str | None:
    paths = [artifact.path for artifact in row.choose(module(*endings))]
    return paths[0].removeprefix(f"{BEGINNING}.") if paths else None


AFTER = "cpu_after_optimizations-buffer-assignment.txt"
BEFORE = "0002.pipeline.after_a.before_b-buffer-assignment.txt"
LIVE = "cpu_after_optimizations-live-range.txt"


@pytest.mark.parametrize("endings", [(AFTER, BEFORE), (BEFORE, AFTER)])
def test_the_file_of_the_final_module_is_taken(endings: tuple[str, ...]) -> None:
    assert chosen(reader_table.BUFFER_ASSIGNMENT, *endings) == AFTER


def test_live_ranges_are_in_a_file_of_their_own_or_in_the_buffer_assignment() -> None:
    assert chosen(reader_table.LIVE_RANGES, AFTER, LIVE) == LIVE
    assert chosen(reader_table.LIVE_RANGES, AFTER) == AFTER


def test_thunks_are_taken_as_they_run() -> None:
    last = "thunk_sequence_after_thunk_passes.txt"

    assert chosen(reader_table.THUNKS, "thunk_sequence.txt", last) == last


def test_what_a_dump_does_not_have_is_none() -> None:
    assert chosen(reader_table.PASS_METADATA) is None


def test_the_values_that_pages_show_have_a_declared_type() -> None:
    """They are kept from build to build, where their types are checked."""
    shown = [row for row in reader_table.ROWS if row.is_shown]
    assert reader_table.AUTOTUNE_RESULTS in shown
    for row in shown:
        assert read_values(row.values_type, []) == ()
