"""The subjects whose histories are written: each thing once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.history.all_subjects import list_subjects
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]


@pytest.fixture(
    scope="module", params=[("jax-cpu-train", "jit_train_step"), ("tpu-v5e-scan", None)]
)
def snapshots(request: pytest.FixtureRequest, unpacked: Unpack) -> SnapshotSequence:
    dump, name = request.param
    module = read_one_module(unpacked(dump), name, BuildOptions())
    return SnapshotSequence([snapshot.hlo for snapshot in module.snapshots])


def test_the_census_holds_everything_once(snapshots: SnapshotSequence) -> None:
    subjects = list(list_subjects(snapshots))
    assert len({(subject.name, subject.number) for subject in subjects}) == len(subjects)
    entry = snapshots.modules[-1].entry
    assert entry is not None
    named = {subject.name for subject in subjects if subject.number}
    assert {f"{entry.name}/%{line.name}" for line in entry.instructions} <= named
    first = [place for subject in subjects if not subject.number for place in subject.places]
    assert len(first) == len(set(first)) == snapshots.modules[0].instruction_count
