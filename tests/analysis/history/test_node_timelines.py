"""Instructions live on from snapshot to snapshot, under whatever name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.node_timelines import (
    ComputationTimeline,
    build_timelines,
    most_at_once,
)
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]


def snapshots(*bodies: str) -> SnapshotSequence:
    reader = TextReader()
    texts = [f"HloModule m\n\nENTRY main {{\n{body}\n}}\n" for body in bodies]
    modules = [reader.read(text.encode(), "m.txt") for text in texts]
    return SnapshotSequence([one for one in modules if one is not None])


FIRST = """  x = f32[8] parameter(0)
  a = f32[8] negate(x)
  ROOT r = f32[8] add(a, x)"""
RENAMED = FIRST.replace("a =", "b.7 =").replace("(a,", "(b.7,")
GONE = """  x = f32[8] parameter(0)
  ROOT r = f32[8] add(x, x)"""


def told(timeline: ComputationTimeline) -> list[tuple[int, str, int, int]]:
    return [(one.node, one.instruction.name, one.first, one.end) for one in timeline.versions]


def test_what_never_changes_has_one_form() -> None:
    (timeline,) = build_timelines(snapshots(FIRST, FIRST))
    assert told(timeline) == [(0, "x", 0, 2), (1, "a", 0, 2), (2, "r", 0, 2)]
    assert (timeline.name, timeline.frames, timeline.end) == ("main", [0], 2)


def test_a_new_name_is_a_new_form_of_the_same_life() -> None:
    (timeline,) = build_timelines(snapshots(FIRST, RENAMED))
    assert [one for one in told(timeline) if one[0] == 1] == [(1, "a", 0, 1), (1, "b.7", 1, 2)]
    assert [one.operands for one in timeline.versions if one.node == 2] == [(1, 0)]


def test_what_goes_ends_and_its_users_change() -> None:
    (timeline,) = build_timelines(snapshots(FIRST, GONE, FIRST))
    a_first, a_again = [one for one in timeline.versions if one.instruction.name == "a"]
    assert (a_first.first, a_first.end) == (0, 1)
    assert (a_again.first, a_again.end) == (2, 3)
    assert a_first.node != a_again.node
    assert [one.operands for one in timeline.versions if one.node == 2][:2] == [(1, 0), (0, 0)]
    assert timeline.frames == [0, 1, 2]
    assert most_at_once(timeline) == 3


def test_at_each_snapshot_the_forms_are_the_computations(unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_rollout", BuildOptions())
    modules = [one.hlo for one in module.snapshots]
    found = build_timelines(SnapshotSequence(modules))
    for number, snapshot in enumerate(modules):
        alive = [
            one for timeline in found for one in timeline.versions if one.first <= number < one.end
        ]
        assert len({one.node for one in alive}) == len(alive)
        assert sorted(one.instruction.name for one in alive) == sorted(_names(snapshot))


def _names(module: HloModule) -> list[str]:
    return [line.name for one in module.computations for line in one.instructions]


@pytest.mark.parametrize("name", ["jit_train_step", "jit_rollout"])
def test_a_timeline_has_a_frame_wherever_a_form_begins(unpacked: Unpack, name: str) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), name, BuildOptions())
    for timeline in build_timelines(SnapshotSequence([one.hlo for one in module.snapshots])):
        assert {one.first for one in timeline.versions} <= set(timeline.frames)
        assert all(one.end in {*timeline.frames, timeline.end} for one in timeline.versions)
