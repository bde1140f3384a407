"""Traffic between chips that run two devices each, counted by hand."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.cost.chip_traffic import count_between_chips
from xlareport.analysis.cost.interconnect_time import model_time
from xlareport.analysis.cost.wire import CollectiveTraffic
from xlareport.knowledge.devices import devices

MEBIBYTE = 1 << 20
IRONWOOD = devices()["tpu-7x"]
PLACED = replace(IRONWOOD, slice_shape=(2, 2, 1), assignment=tuple(range(8)))
ALL = (tuple(range(8)),)
EVENS_AND_ODDS = (0, 2, 4, 6), (1, 3, 5, 7)
SAME_CHIPS = (0, 1), (2, 3), (4, 5), (6, 7)


def traffic(kind: str, *groups: tuple[int, ...]) -> CollectiveTraffic:
    size = len(groups[0])
    share = (size - 1) / size * (2 if kind == "all-reduce" else 1)
    return CollectiveTraffic(kind, MEBIBYTE, round(MEBIBYTE * share), size, groups, 8, 8)


def permute(*pairs: tuple[int, int]) -> CollectiveTraffic:
    return CollectiveTraffic(
        "collective-permute", MEBIBYTE, MEBIBYTE, 2, pairs, 8, len(pairs), pairs=pairs
    )


def test_one_device_per_chip_sends_what_it_sends() -> None:
    every = traffic("all-gather", *ALL)
    between = count_between_chips(every, replace(devices()["tpu-v5e"], slice_shape=(2, 4, 1)))
    assert (between.traffic, between.chips.shape, between.sharing) == (every, (2, 4, 1), 1)


def test_two_devices_of_each_chip_gather_through_its_links_once() -> None:
    time = model_time(traffic("all-gather", *ALL), PLACED)
    assert time.seconds == pytest.approx(MEBIBYTE * 0.75 / (2 * 100e9))
    words = (
        "100 GB/s of one link, a block of 2x2 chips with 2 devices each; bytes alone, no latency"
    )
    assert time.reason == words
    reduced = model_time(traffic("all-reduce", *ALL), PLACED)
    assert reduced.seconds == pytest.approx(2 * (time.seconds or 0))


def test_groups_of_one_device_of_each_chip_share_its_links() -> None:
    time = model_time(traffic("all-gather", *EVENS_AND_ODDS), PLACED)
    assert time.seconds == pytest.approx(2 * MEBIBYTE * 0.75 / (2 * 100e9))
    assert time.reason.startswith(
        "100 GB/s of one link, a block of 2x2 chips with 2 devices each, whose links 2 groups share"
    )


def test_both_devices_of_a_chip_send_parts_of_their_own_in_an_all_to_all() -> None:
    between = count_between_chips(traffic("all-to-all", *ALL), PLACED)
    assert between.traffic.wire_bytes == 2 * MEBIBYTE * 3 // 4
    apart = count_between_chips(traffic("all-to-all", *EVENS_AND_ODDS), PLACED)
    assert apart.traffic.wire_bytes == between.traffic.wire_bytes


def test_no_time_is_modeled_within_a_chip() -> None:
    for inside in (traffic("all-reduce", *SAME_CHIPS), permute((0, 1), (3, 2))):
        time = model_time(inside, PLACED)
        assert time.seconds is None
        assert time.reason == "the bandwidth between the devices of a chip is not known"


def test_messages_of_both_devices_share_a_link() -> None:
    time = model_time(permute((0, 2), (1, 3), (4, 5)), PLACED)
    assert time.seconds == pytest.approx(2 * MEBIBYTE / 100e9)
    assert time.reason == "100 GB/s of one link, shared by 2 messages; bytes alone, no latency"


def test_the_assignment_says_which_devices_share_a_chip() -> None:
    crossed = replace(PLACED, assignment=(0, 2, 4, 6, 1, 3, 5, 7))
    assert (
        model_time(traffic("all-gather", (0, 4), (1, 5), (2, 6), (3, 7)), crossed).seconds is None
    )
    part = replace(PLACED, assignment=(8, 9, 10, 11, 12, 13, 14, 15))
    assert count_between_chips(traffic("all-gather", *ALL), part).chips.shape == ()


def test_without_a_slice_a_line_has_half_as_many_chips_as_devices() -> None:
    time = model_time(traffic("all-gather", *ALL), IRONWOOD)
    assert time.seconds == pytest.approx(MEBIBYTE * 0.75 / 100e9)
    assert "a line of 4 chips" in time.reason


def test_groups_of_replicas_and_partitions_are_not_of_devices() -> None:
    """Two replicas of four partitions: replicas 0 and 1 are devices 0 and 4, for one."""
    pair = replace(traffic("all-reduce", (0, 1)), replicas=2)
    assert count_between_chips(pair, PLACED).traffic == pair


def test_permutes_of_both_devices_of_a_chip_share_its_links_in_an_unknown_slice() -> None:
    pairs = permute((0, 2), (1, 3))
    between = count_between_chips(pairs, IRONWOOD).traffic
    assert between.data_bytes == 2 * pairs.data_bytes
