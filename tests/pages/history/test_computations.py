"""Timelines for the page script: which there are, and their forms."""

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.pages.history.computations import computation_payloads
from xlareport.report import BuildOptions, read_one_module
from xlareport.storage.payloads import decode_payload
from xlareport.storage.string_folding import Folded, unfold_strings

Unpack = Callable[[str], Path]


@pytest.fixture(scope="module")
def payloads(unpacked: Unpack) -> dict[str, Any]:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_rollout", BuildOptions())
    snapshots = SnapshotSequence([snapshot.hlo for snapshot in module.snapshots])
    stages = [(snapshot.stage.key, snapshot.stage.label) for snapshot in module.snapshots]
    return {
        computation_payload.key: decode_payload(computation_payload)
        for computation_payload in computation_payloads("x", snapshots, stages)
    }


def test_the_entry_comes_first_then_what_changes_most_often(payloads: dict[str, Any]) -> None:
    index = payloads["m/x/versions"]
    assert index["timelines"][0][0] == "main.5"
    steps = [len(frames) for _, frames, _, _ in index["timelines"][1:]]
    assert steps == sorted(steps, reverse=True)
    assert all(len(frames) > 1 and most > 2 for _, frames, _, most in index["timelines"])
    assert index["others"] == 0
    assert index["stages"][0][0] == "before_optimizations"


def test_every_form_says_how_long_it_lasts_and_what_it_uses(payloads: dict[str, Any]) -> None:
    reel = payloads["m/x/versions-0"]
    names = unfold_strings(Folded(*reel["names"]), 1_000_000)
    lives = list(accumulate(reel["lives"]))
    lengths, used = reel["operands"]
    rest = iter(used)
    for place, life in enumerate(lives):
        above = [int(str(next(rest)).partition("#")[0]) for _ in range(lengths[place])]
        assert reel["first"][place] < reel["end"][place]
        assert names[place]
        assert reel["looks"][reel["look"][place]][0]
        assert reel["shapes"][reel["shape"][place]][0]
        assert {life - one for one in above} <= {*lives} - {life}
    assert {names[place] for place in reel["roots"]} >= {"tuple.3"}


def test_where_nothing_changes_there_is_no_versions(unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_rollout", BuildOptions())
    snapshots = SnapshotSequence([module.snapshots[0].hlo])
    (made,) = computation_payloads("x", snapshots, [("a", "a")])
    assert (made.key, decode_payload(made)) == (
        "m/x/versions",
        {"stages": [["a", "a"]], "timelines": [], "others": 0},
    )


def test_every_computation_of_every_snapshot_is_told(
    payloads: dict[str, Any], unpacked: Unpack
) -> None:
    every = payloads["m/x/versions-all"]
    names = unfold_strings(Folded(*every["names"]), 1_000_000)
    module = read_one_module(unpacked("jax-cpu-train"), "jit_rollout", BuildOptions())
    for number, snapshot in enumerate(module.snapshots):
        alive = [
            place
            for place, (first, end) in enumerate(zip(every["first"], every["end"], strict=True))
            if first <= number < end
        ]
        assert len(alive) == len(snapshot.hlo.computations)
    assert {names[place] for place in alive} == set(module.snapshots[-1].hlo.by_name)
    held = [(file, size) for file, size in zip(every["in"], every["sizes"], strict=True) if size]
    for file in {file for file, _ in held}:
        reel = payloads[f"m/x/versions-{file}"]
        assert sum(size for one, size in held if one == file) == len(reel["lives"])
