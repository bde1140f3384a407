"""Bytes that collectives send: groups, senders and algorithms, by hand."""

from fractions import Fraction

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost.wire import (
    ONE_SHOT,
    RING,
    TWO_SHOT,
    CollectiveTraffic,
    SentBytes,
    count_data_bytes,
    count_sent,
    find_traffic,
    group_size,
    name_algorithm,
    wire_share,
)
from xlareport.hlo.model import HloModule

ADD = """%add (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}
"""
FOUR = "replica_groups=[2,4]<=[8], use_global_device_ids=true, channel_id=1"


def module(line: str, before: str = "", header: str = ", num_partitions=8") -> HloModule:
    body = f"ENTRY %e {{\n  %a = f32[4]{{0}} parameter(0)\n  ROOT %r = {line}\n}}\n"
    return parse_module(f"HloModule m{header}\n\n{ADD}\n{before}\n{body}")


def site(read: HloModule) -> Site:
    entry = read.by_name["e"]
    root = entry.root
    assert root is not None
    return Site(root, shapes_of(entry))


def traffic(line: str, before: str = "", header: str = ", num_partitions=8") -> CollectiveTraffic:
    read = module(line, before, header)
    (only,) = find_traffic(read, site(read))
    return only


@pytest.mark.parametrize(
    ("kind", "devices", "algorithm", "share"),
    [
        ("all-reduce", 1, RING, Fraction(0)),
        ("all-reduce", 4, RING, Fraction(3, 2)),
        ("all-reduce", 4, TWO_SHOT, Fraction(3, 2)),
        ("all-reduce", 4, ONE_SHOT, Fraction(3)),
        ("all-gather", 4, RING, Fraction(3, 4)),
        ("reduce-scatter", 4, ONE_SHOT, Fraction(3, 4)),
        ("all-to-all", 2, RING, Fraction(1, 2)),
        ("collective-permute", 8, RING, Fraction(1)),
        ("collective-broadcast", 8, RING, Fraction(1)),
    ],
)
def test_each_device_sends_a_share_of_the_data(
    kind: str, devices: int, algorithm: str, share: Fraction
) -> None:
    assert wire_share(kind, devices, algorithm) == share


def test_a_collective_has_its_groups_bytes_and_senders() -> None:
    reduced = traffic(f"f32[4]{{0}} all-reduce(%a), {FOUR}, to_apply=%add")
    assert (reduced.kind, reduced.data_bytes, reduced.wire_bytes) == ("all-reduce", 16, 24)
    assert (reduced.group_size, reduced.devices, reduced.senders) == (4, 8, 8)
    assert [list(group) for group in reduced.groups] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert not reduced.between_replicas


def test_a_permute_sends_from_those_that_send_to_others() -> None:
    pairs = "source_target_pairs={{0,1},{1,0},{2,2}}"
    moved = traffic(f"f32[4]{{0}} collective-permute(%a), channel_id=1, {pairs}")
    assert (moved.senders, moved.pairs) == (2, ((0, 1), (1, 0), (2, 2)))
    of_replicas = traffic(
        f"f32[4]{{0}} collective-permute(%a), {pairs}", header=", replica_count=4, num_partitions=2"
    )
    assert (of_replicas.senders, of_replicas.between_replicas) == (4, True)
    assert (of_replicas.replicas, of_replicas.devices) == (4, 8)


def test_nobody_sends_in_a_permute_without_pairs() -> None:
    """The result of a device that no pair sends to is zeros."""
    moved = traffic("f32[4]{0} collective-permute(%a), channel_id=1, source_target_pairs={}")
    assert (moved.data_bytes, moved.wire_bytes, moved.senders) == (16, 0, 0)


def test_the_last_of_a_broadcast_sends_to_nobody() -> None:
    sent = traffic(f"f32[4]{{0}} collective-broadcast(%a), {FOUR}")
    assert (sent.senders, sent.wire_bytes) == (6, 16)


@pytest.mark.parametrize(
    ("groups", "header", "size"),
    [
        ("replica_groups={{0,1},{2,3}}, channel_id=1", ", num_partitions=8", 16),
        ("replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true", "", 2),
        ("replica_groups={}", ", replica_count=3, num_partitions=8", 3),
        ("replica_groups={}, channel_id=1", ", replica_count=3, num_partitions=8", 24),
        ("replica_groups={{0,1}}", ", num_partitions=8", 2),
        ("replica_groups=what", ", num_partitions=8", None),
    ],
)
def test_a_group_has_the_partitions_of_its_replicas_unless_ids_are_global(
    groups: str, header: str, size: int | None
) -> None:
    read = module(f"f32[4]{{0}} all-reduce(%a), {groups}, to_apply=%add", header=header)
    assert group_size(read, "all-reduce", site(read).instruction)[0] == size


@pytest.mark.parametrize(
    ("line", "data"),
    [
        ("bf16[4]{0} all-reduce(%a), to_apply=%add", 16),
        ("f64[4]{0} all-reduce(%a), to_apply=%add", 16),
        ("(f64[4]{0}, f32[4]{0}) all-reduce(%a, %a), to_apply=%add", 32),
        ("bf16[16]{0} all-gather(%a), dimensions={0}", 64),
        ("f64[16]{0} all-gather(%a), dimensions={0}", 64),
        ("(f32[4]{0}, f64[16]{0}) all-gather-start(%a), dimensions={0}", 64),
    ],
)
def test_the_data_has_the_type_that_is_sent(line: str, data: int) -> None:
    """Of an all-reduce of bf16 elements that gives f32 ones, the wire carries the former."""
    assert count_data_bytes(site(module(line))) == data


@pytest.mark.parametrize(
    ("line", "data"),
    [
        ("f32[16]{0} all-gather(%a), dimensions={0}", 64),
        ("f32[1]{0} reduce-scatter(%a), dimensions={0}, to_apply=%add", 16),
        ("(f32[4]{0}, f32[16]{0}) all-gather-start(%a), dimensions={0}", 64),
        ("f32[64]{0} ragged-all-to-all(%a, %a, %a, %a, %a, %a)", 16),
        ("f32[4]{0} all-reduce(%gone), to_apply=%add", None),
    ],
)
def test_the_data_is_the_larger_of_operands_and_result(line: str, data: int | None) -> None:
    assert count_data_bytes(site(module(line))) == data


def test_the_kernel_of_the_config_names_the_algorithm() -> None:
    def named(strategy: str) -> str:
        config = (
            f'backend_config={{"collective_backend_config":{{"kernel_strategy":"{strategy}"}}}}'
        )
        line = f"f32[4]{{0}} all-reduce(%a), {FOUR}, to_apply=%add, {config}"
        return name_algorithm(site(module(line)).instruction)

    assert named("KERNEL_STRATEGY_TRITON_ONE_SHOT") == ONE_SHOT
    assert named("KERNEL_STRATEGY_DEFAULT") == RING
    assert named("KERNEL_STRATEGY_NEW") == "ring, for KERNEL_STRATEGY_NEW is not known"
    assert named("a b") == "ring, for its kernel strategy is not known"


SCATTERED = f"""%all-reduce-scatter (b: f32[4]) -> f32[1] {{
  %b = f32[4]{{0}} parameter(0)
  %n = f32[4]{{0}} all-reduce(%b), {FOUR}, to_apply=%add
  %z = s32[] constant(0)
  ROOT %d = f32[1]{{0}} dynamic-slice(%n, %z), dynamic_slice_sizes={{1}}
}}
"""


def test_a_fusion_that_holds_a_collective_counts_as_it() -> None:
    held = traffic("f32[1]{0} fusion(%a), kind=kCustom, calls=%all-reduce-scatter", SCATTERED)
    assert (held.kind, held.data_bytes, held.wire_bytes) == ("reduce-scatter", 16, 12)


def test_a_fusion_that_only_goes_on_with_one_counts_nothing() -> None:
    going = SCATTERED.replace("channel_id=1", "channel_id=1, chain_id=3")
    read = module("f32[1]{0} fusion(%a), kind=kCustom, calls=%all-reduce-scatter", going)
    assert find_traffic(read, site(read)) == ()


def test_what_is_no_collective_sends_nothing() -> None:
    read = module("f32[4]{0} negate(%a)")
    assert find_traffic(read, site(read)) == ()


FORTH = ((0, 1), (2, 3))
BACK = ((1, 0), (3, 2))


def permute(
    pairs: tuple[tuple[int, int], ...], *, replicas: int = 1, between: bool = False
) -> CollectiveTraffic:
    senders = len({source for source, target in pairs if source != target})
    return CollectiveTraffic(
        "collective-permute",
        100,
        100,
        2,
        pairs,
        4,
        senders * (4 // replicas if between else replicas),
        pairs=pairs,
        between_replicas=between,
        replicas=replicas,
    )


ALL = CollectiveTraffic("all-gather", 400, 300, 4, (), 4, 4)


def test_devices_that_send_in_turns_send_the_mean() -> None:
    sent = count_sent([(permute(FORTH), 3), (permute(BACK), 3), (ALL, 2)])
    assert sent == SentBytes(most=900, least=900, by_all=3600, is_exact=True)


def test_the_device_that_sends_most_counts() -> None:
    sent = count_sent([(permute(((0, 1), (1, 2), (2, 3))), 1), (permute(((1, 0), (2, 1))), 1)])
    assert sent == SentBytes(most=200, least=0, by_all=500, is_exact=True)


def test_the_device_that_sends_least_counts_too() -> None:
    """An exchange of edges: the first and the last of four have one neighbor each."""
    forth, back = ((0, 1), (1, 2), (2, 3)), ((1, 0), (2, 1), (3, 2))
    sent = count_sent([(permute(forth), 1), (permute(back), 1), (ALL, 1)])
    assert sent == SentBytes(most=500, least=400, by_all=1800, is_exact=True)


def test_a_device_that_sends_to_itself_sends_nothing() -> None:
    sent = count_sent([(permute(((0, 0), (1, 2))), 1)])
    assert sent == SentBytes(most=100, least=0, by_all=100, is_exact=True)


def test_pairs_of_replicas_add_to_those_of_partitions() -> None:
    sent = count_sent(
        [
            (permute(((0, 1),), replicas=2), 1),
            (permute(((1, 0),), replicas=2, between=True), 1),
        ]
    )
    assert sent == SentBytes(most=200, least=0, by_all=400, is_exact=True)


def test_the_end_of_a_broadcast_is_not_known() -> None:
    broadcast = CollectiveTraffic("collective-broadcast", 100, 100, 4, (), 4, 3)
    assert count_sent([(broadcast, 1)]) == SentBytes(most=100, least=0, by_all=300, is_exact=False)
    assert count_sent([]) == SentBytes(most=0, least=0, by_all=0, is_exact=True)
