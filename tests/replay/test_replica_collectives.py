"""Collectives between partitions become those between replicas."""

import pytest
from tests.modules import parse_module
from tests.replay.programs import entry

from xlareport.replay.placement import Placement
from xlareport.replay.rewrite import runnable
from xlareport.replay.runnable_program import NotRunnableError

ADD = """%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}"""


def lines(text: str, header: str = ", num_partitions=4") -> list[str]:
    module = parse_module(entry(f"%a = f32[4] parameter(0)\n{text}", ADD, header))
    return [line.text() for line in runnable(module, Placement(4, (), ())).entry.lines[1:]]


@pytest.mark.parametrize(
    ("written", "groups"),
    [
        ("channel_id=1, replica_groups=[2,2]<=[4], use_global_device_ids=true", "{{0,1},{2,3}}"),
        ("channel_id=1, replica_groups={{0}}", "{{0,1,2,3}}"),
        ("channel_id=1, replica_groups={}", "{{0,1,2,3}}"),
        ("replica_groups={{0}}", "{{0},{1},{2},{3}}"),
    ],
)
def test_groups_of_partitions_are_those_of_replicas(written: str, groups: str) -> None:
    assert lines(f"ROOT %r = f32[4] all-reduce(%a), {written}, to_apply=%add") == [
        f"ROOT %r = f32[4] all-reduce(%a), replica_groups={groups}, to_apply=%add"
    ]


def test_groups_of_replicas_stay() -> None:
    text = "ROOT %r = f32[4] all-reduce(%a), replica_groups={{0,2},{1,3}}, to_apply=%add"
    assert lines(text, ", replica_count=4") == [text]


def test_a_partition_is_the_replica_of_its_number() -> None:
    assert lines("ROOT %r = u32[] partition-id()") == ["ROOT %r = u32[] replica-id()"]
    assert lines("ROOT %r = u32[] replica-id()") == ["ROOT %r = u32[] constant(0)"]


def test_a_permutation_loses_its_channel() -> None:
    pairs = "source_target_pairs={{0,1},{1,0}}"
    assert lines(f"ROOT %r = f32[4] collective-permute(%a), channel_id=3, {pairs}") == [
        f"ROOT %r = f32[4] collective-permute(%a), {pairs}"
    ]


def test_an_all_reduce_of_several_is_one_of_each() -> None:
    shape = "(f32[4], f32[4])"
    text = f"ROOT %r = {shape} all-reduce(%a, %a), channel_id=1, replica_groups={{}}, to_apply=%add"
    assert [line.split("(")[0] for line in lines(text)] == [
        "%r.of.0 = f32[4] all-reduce",
        "%r.of.1 = f32[4] all-reduce",
        "ROOT %r = ",
    ]


def test_an_exchange_of_a_tuple_becomes_one_of_rows() -> None:
    shape = "(f32[4], f32[4])"
    groups = "channel_id=1, replica_groups={{0,1},{2,3}}"
    result = lines(f"ROOT %r = {shape} all-to-all(%a, %a), {groups}")
    assert result[3] == (
        "%r.sent = f32[2,4] all-to-all(%r.joined), replica_groups={{0,1},{2,3}}, dimensions={0}"
    )
    assert result[-1] == f"ROOT %r = {shape} tuple(%r.part.0, %r.part.1)"


def test_an_asynchronous_one_is_waited_for() -> None:
    text = """%s = (f32[4], f32[8]) all-gather-start(%a), channel_id=1, replica_groups=[2,2]<=[4],
    ROOT %r = f32[8] all-gather-done(%s)"""
    text = text.replace("[4],\n", "[4], dimensions={0}, use_global_device_ids=true\n")
    assert lines(text) == [
        "%s = f32[8] all-gather(%a), replica_groups={{0,1},{2,3}}, dimensions={0}",
        "ROOT %r = f32[8] copy(%s)",
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("all-reduce(%a), channel_id=1, replica_groups=what, to_apply=%add", "groups of devices"),
        (
            "all-reduce(%a), channel_id=1, replica_groups={{9}}, use_global_device_ids=true",
            "does not have",
        ),
        ("collective-permute(%a), source_target_pairs={{0,1}}", "between partitions and replicas"),
        ("ragged-all-to-all(%a), channel_id=1", "a collective"),
    ],
)
def test_what_is_not_known_is_refused(line: str, reason: str) -> None:
    with pytest.raises(NotRunnableError, match=reason):
        lines(f"ROOT %r = f32[4] {line}")
