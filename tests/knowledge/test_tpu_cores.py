"""Resources of a core of each TPU."""

from xlareport.knowledge.devices import devices
from xlareport.knowledge.tpu_cores import cores_like, tpu_cores


def test_each_core_is_of_a_device_that_is_known() -> None:
    assert tpu_cores().keys() <= devices().keys()


def test_the_clock_gives_the_peak_of_the_maker() -> None:
    """Matrix units, their multiply-adds in a cycle, cores and clock: the peak of the device."""
    for key, core in tpu_cores().items():
        units = core.capacity[0]
        peak = 2 * core.macs_per_mxu_cycle * units * core.cores * core.clock
        assert abs(peak / devices()[key].matrix_flops["bf16"] - 1) < 0.02, key


def test_cores_are_told_apart_by_the_number_of_their_units() -> None:
    core = tpu_cores()["tpu-v5e"]
    capacity = dict(zip(("MXU", "XLU", "VALU", "VSTORE"), core.capacity, strict=True))
    assert core in cores_like(capacity)
    assert cores_like(capacity | {"MXU": 99}) == ()
