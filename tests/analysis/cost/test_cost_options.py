"""The device that estimates of a module are made for."""

from msgspec.structs import replace

from xlareport.analysis.cost.cost_options import CostOptions, choose_device
from xlareport.knowledge.devices import devices

OTHERS = CostOptions(others="TPU_VERSION_6acc60406 slice-shape=2x2x1")


def test_a_module_without_a_device_takes_that_of_the_others_of_its_backend() -> None:
    device, grade = choose_device("", "tpu", OTHERS)
    assert (device.key, device.slice_shape, grade) == ("tpu-7x", (2, 2, 1), "others")
    assert choose_device("", "cpu", OTHERS)[0].nominal_for == "cpu"
    assert choose_device("", None, OTHERS)[1] == "guessed"


def test_its_own_device_and_that_of_the_user_come_first() -> None:
    assert choose_device("TPU v4", "tpu", OTHERS)[0].key == "tpu-v4"
    chosen = replace(OTHERS, device=devices()["tpu-v5p"])
    device, grade = choose_device("", "tpu", chosen)
    assert (device.key, grade) == ("tpu-v5p", "chosen")
