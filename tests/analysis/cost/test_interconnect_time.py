"""The model of the interconnect, by hand."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.cost.interconnect_time import links_of, model_time
from xlareport.analysis.cost.wire import ONE_SHOT, TWO_SHOT, CollectiveTraffic
from xlareport.knowledge.devices import devices
from xlareport.knowledge.interconnects import interconnects

MEBIBYTE = 1 << 20
BYTES = "; bytes alone, no latency"
H100, V5E, V5P = (devices()[key] for key in ("nvidia-h100", "tpu-v5e", "tpu-v5p"))


def traffic(kind: str, share: float, size: int, devices: int = 8) -> CollectiveTraffic:
    groups = [tuple(range(start, start + size)) for start in range(0, devices - size + 1, size)]
    return CollectiveTraffic(
        kind, MEBIBYTE, round(MEBIBYTE * share), size, groups, devices, devices
    )


def test_a_switch_sends_at_the_bandwidth_of_a_device() -> None:
    time = model_time(traffic("all-reduce", 2 * 7 / 8, 8), H100)
    assert time.seconds == pytest.approx(MEBIBYTE * 1.75 / 450e9)


def test_between_domains_each_member_sends_its_share() -> None:
    time = model_time(traffic("all-gather", 15 / 16, 16, devices=16), H100)
    assert time.seconds == pytest.approx(MEBIBYTE * 15 / 16 / (50e9 * 8))
    alone = CollectiveTraffic("all-gather", MEBIBYTE, MEBIBYTE // 2, 2, [(0, 8), (1, 9)], 16, 16)
    assert model_time(alone, H100).seconds == pytest.approx(MEBIBYTE / 2 / 50e9)


def test_an_all_to_all_between_domains_is_bound_by_what_leaves() -> None:
    time = model_time(traffic("all-to-all", 15 / 16, 16, devices=16), H100)
    assert time.seconds == pytest.approx(MEBIBYTE / 2 / 50e9)


def test_a_line_of_a_torus_has_one_link_at_its_ends() -> None:
    time = model_time(traffic("all-gather", 3 / 4, 4), V5E)
    assert time.seconds == pytest.approx(MEBIBYTE * 0.75 / 50e9)


def test_a_group_of_the_whole_slice_lies_along_all_its_dimensions() -> None:
    time = model_time(traffic("all-gather", 7 / 8, 8), replace(V5E, slice_shape=(2, 4, 1)))
    assert time.seconds == pytest.approx(MEBIBYTE * 7 / 8 / (2 * 50e9))
    ring = model_time(
        traffic("all-gather", 63 / 64, 64, devices=64), replace(V5P, slice_shape=(4, 4, 4))
    )
    assert ring.seconds == pytest.approx(MEBIBYTE * 63 / 64 / (3 * 2 * 100e9))


def test_a_slice_of_a_3d_torus_has_rings_only_in_whole_cubes() -> None:
    gather = traffic("all-gather", 3 / 4, 4, devices=16)
    line = MEBIBYTE * 0.75 / 100e9
    along_z = replace(gather, groups=[tuple(range(at, 16, 4)) for at in range(4)])
    assert model_time(along_z, replace(V5P, slice_shape=(2, 2, 4))).seconds == pytest.approx(line)
    assert model_time(gather, V5P).seconds == pytest.approx(line)
    cubes = traffic("all-gather", 3 / 4, 4, devices=64)
    assert model_time(cubes, replace(V5P, slice_shape=(4, 4, 4))).seconds == pytest.approx(line / 2)
    assert model_time(cubes, V5P).seconds == pytest.approx(line / 2)


def test_devices_are_numbered_along_x_first() -> None:
    """Four devices in a row are a block of 2x2 chips: both links of each chip send."""
    device = replace(V5E, slice_shape=(2, 4, 1))
    block = model_time(traffic("all-gather", 3 / 4, 4), device)
    assert block.seconds == pytest.approx(MEBIBYTE * 0.75 / (2 * 50e9))
    in_order = ", if devices are in the order of their ids"
    assert block.reason == f"50 GB/s of one link, a block of 2x2 chips{in_order}{BYTES}"
    columns = replace(traffic("all-gather", 3 / 4, 4), groups=[(0, 2, 4, 6), (1, 3, 5, 7)])
    line = model_time(columns, device)
    assert line.seconds == pytest.approx(MEBIBYTE * 0.75 / 50e9)
    assert line.reason == f"50 GB/s of one link, a line of 4 chips{in_order}{BYTES}"


def test_a_dump_says_which_devices_run_the_program() -> None:
    """A mesh can be made for the torus: here the program's devices 0 to 3 are a column."""
    device = replace(V5E, slice_shape=(2, 4, 1), assignment=(0, 2, 4, 6, 1, 3, 5, 7))
    time = model_time(traffic("all-gather", 3 / 4, 4), device)
    assert time.reason == f"50 GB/s of one link, a line of 4 chips{BYTES}"


def test_groups_share_the_links_between_their_members() -> None:
    device = replace(V5E, slice_shape=(2, 4, 1))
    apart = replace(
        traffic("all-gather", 1 / 2, 2), groups=[(number, number + 4) for number in range(4)]
    )
    time = model_time(apart, device)
    assert time.seconds == pytest.approx(MEBIBYTE / 2 / (50e9 / 2))
    assert "2 links apart, which other groups share" in time.reason


def test_without_places_a_group_lies_along_one_dimension() -> None:
    device = replace(V5E, slice_shape=(2, 4, 1))
    for unknown in (
        traffic("all-gather", 3 / 4, 4, devices=16),
        replace(traffic("all-gather", 3 / 4, 4), groups=[(0, 1, 2, 5), (3, 4, 6, 7)]),
        replace(traffic("all-gather", 3 / 4, 4), groups=[]),
    ):
        time = model_time(unknown, device)
        assert time.seconds == pytest.approx(MEBIBYTE * 0.75 / 50e9)
        assert time.reason.endswith(f"a line of 4 chips, if it lies along one dimension{BYTES}")


def test_a_permute_over_two_links_shares_them() -> None:
    pairs = [(0, 4), (4, 0), (2, 6), (6, 2)]
    permute = CollectiveTraffic("collective-permute", MEBIBYTE, MEBIBYTE, 2, pairs, 8, 4)
    time = model_time(replace(permute, pairs=pairs), replace(V5E, slice_shape=(2, 4, 1)))
    assert time.seconds == pytest.approx(2 * MEBIBYTE / 50e9)
    assert time.reason == f"50 GB/s of one link, shared by 2 messages{BYTES}"


def test_an_all_to_all_of_a_line_is_bound_by_its_middle() -> None:
    time = model_time(traffic("all-to-all", 7 / 8, 8), V5E)
    assert time.seconds == pytest.approx(8 * MEBIBYTE / 4 / 50e9)


def test_a_permute_takes_one_link() -> None:
    permute = CollectiveTraffic("collective-permute", MEBIBYTE, MEBIBYTE, 2, [(0, 1), (1, 2)], 8, 2)
    assert model_time(permute, V5E).seconds == pytest.approx(MEBIBYTE / 50e9)


def test_nothing_is_said_without_a_bandwidth() -> None:
    time = model_time(traffic("all-reduce", 1.75, 8), devices()["nominal-cpu"])
    assert time.seconds is None
    assert "no bandwidth" in time.reason
    apart = model_time(traffic("all-gather", 15 / 16, 16, devices=16), devices()["amd-mi300x"])
    assert apart.seconds is None


def test_latency_counts_for_each_step_where_a_table_has_one() -> None:
    links = replace(interconnects()["nvidia-h100"], latency=1e-6)
    own = replace(H100, links=links)
    quick, slow = (model_time(traffic("all-reduce", 1.75, 8), one) for one in (H100, own))
    assert slow.seconds == pytest.approx((quick.seconds or 0) + 14e-6)
    assert quick.reason == f"{slow.reason}{BYTES}"
    by_kernel = {
        algorithm: model_time(replace(traffic("all-reduce", 7, 8), algorithm=algorithm), own)
        for algorithm in (ONE_SHOT, TWO_SHOT)
    }
    sent = 7 * MEBIBYTE / 450e9
    assert by_kernel[ONE_SHOT].seconds == pytest.approx(sent + 1e-6)
    assert by_kernel[TWO_SHOT].seconds == pytest.approx(sent + 2e-6)


def test_a_device_without_an_entry_has_its_bandwidth() -> None:
    links = links_of(devices()["nvidia-t4"])
    assert links is not None
    assert (links.topology, links.bandwidth) == ("switch", devices()["nvidia-t4"].interconnect)
