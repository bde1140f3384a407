import pytest

from xlareport.knowledge.devices import (
    DeviceTableError,
    device_named,
    devices,
    nominal_device,
    parse_devices,
)
from xlareport.knowledge.tpu_cores import tpu_cores


@pytest.mark.parametrize(
    ("description", "key"),
    [
        ("NVIDIA H100 80GB HBM3", "nvidia-h100"),
        ("NVIDIA A100-SXM4-80GB", "nvidia-a100"),
        ("sm_9.0a", "nvidia-h100"),
        ("TPU v5 lite", "tpu-v5e"),
        ("TPU v5p", "tpu-v5p"),
        ("TPU v5e", "tpu-v5e"),
        ("gfx942:sramecc+", "amd-mi300x"),
    ],
)
def test_a_device_is_known_by_the_longest_alias(description: str, key: str) -> None:
    assert device_named(description).key == key


def test_an_unknown_device_is_none_and_a_backend_has_a_nominal_one() -> None:
    assert device_named("abacus") is None
    assert nominal_device("GPU").nominal_for == "gpu"
    assert nominal_device("abacus").nominal_for == "cpu"


def test_every_device_has_figures_and_says_where_from() -> None:
    for device in devices().values():
        assert device.source
        assert device.matrix_peak("f32") > 0
        assert device.vector_peak() <= max(device.matrix_flops.values())


def test_vector_rates_of_tpus_are_those_of_their_cores() -> None:
    for key, core in tpu_cores().items():
        lanes = 8 * 128 * core.capacity[2] * core.cores
        assert devices()[key].vector_peak() == pytest.approx(lanes * core.clock, rel=0.005)


def test_other_work_than_matmuls_takes_no_known_time_without_a_rate() -> None:
    table = parse_devices(
        '[mine]\nname = "Mine"\nmatrix_flops = { f32 = 1e9 }\nbandwidth = 1e8\nsource = "me"\n'
    )
    work = [("f32", 4_000_000_000_000), ("bf16", 3_000_000_000_000)]
    assert table["mine"].vector_seconds(work) == 0
    assert devices()["tpu-v3"].vector_seconds(work) == pytest.approx(3.5)


def test_a_user_can_add_one() -> None:
    table = parse_devices(
        '[mine]\nname = "Mine"\nmatrix_flops = { f32 = 1e9 }\nbandwidth = 1e8\nsource = "me"\n'
    )
    assert device_named("mine", table).matrix_peak("bf16") == 1e9


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[broken", "not TOML"),
        ("x = 1", "device x"),
        ("[x]\nname = 'X'", "missing required field `matrix_flops`"),
        ("[x]\nname='X'\nsource=''\nmatrix_flops={f32=0}\nbandwidth=1", "> 0.0 - at `.*matrix"),
    ],
)
def test_a_broken_table_names_the_entry(text: str, reason: str) -> None:
    with pytest.raises(DeviceTableError, match=reason):
        parse_devices(text)


def test_a_newer_chip_is_slower_at_nothing() -> None:
    older, newer = devices()["tpu-v4"], devices()["tpu-v5p"]
    for kind in ("bf16", "f32", "f32 highest", "s8", "f64"):
        assert newer.matrix_peak(kind) >= older.matrix_peak(kind)
        assert newer.vector_peak(kind) >= older.vector_peak(kind)
    assert newer.bandwidth > older.bandwidth
    assert (newer.interconnect or 0) > (older.interconnect or 0)
