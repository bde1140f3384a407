"""Roots of all instructions at once are the ancestors of each; the census names each once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.history.instruction import SnapshotSequence, ancestors, descendants
from xlareport.analysis.history.roots import find_descendants, find_roots
from xlareport.analysis.matching.search.pairing import Place
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]


@pytest.fixture(
    scope="module", params=[("jax-cpu-train", "jit_train_step"), ("tpu-v5e-scan", None)]
)
def snapshots(request: pytest.FixtureRequest, unpacked: Unpack) -> SnapshotSequence:
    dump, name = request.param
    module = read_one_module(unpacked(dump), name, BuildOptions())
    return SnapshotSequence([snapshot.hlo for snapshot in module.snapshots])


def test_roots_are_the_ancestors_of_each(snapshots: SnapshotSequence) -> None:
    roots = find_roots(snapshots)
    last = len(snapshots.modules) - 1
    places = [
        Place(one.name, line.name)
        for one in snapshots.modules[last].computations
        for line in one.instructions
    ]
    assert places
    for place in places:
        expected = ancestors(snapshots, last, [place])
        assert roots[place.computation][place.instruction] == expected


def test_found_descendants_are_the_descendants_of_each(snapshots: SnapshotSequence) -> None:
    known = find_descendants(snapshots)
    for computation in snapshots.modules[0].computations:
        for line in computation.instructions:
            place = Place(computation.name, line.name)
            assert known[computation.name][line.name] == descendants(snapshots, 0, [place])
