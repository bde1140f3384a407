"""Devices in an order: listed, or counted and transposed."""

import pytest

from xlareport.hlo.shardings.device_order import MOST_DEVICES, DeviceOrder


def test_a_list_keeps_its_order() -> None:
    order = DeviceOrder.of([3, 0, 2])
    assert (order.count, order.devices()) == (3, (3, 0, 2))


def test_a_count_may_be_transposed() -> None:
    plain, transposed = DeviceOrder.counted([2, 3]), DeviceOrder.counted([2, 3], [1, 0])
    assert plain is not None
    assert transposed is not None
    assert plain.devices() == (0, 1, 2, 3, 4, 5)
    assert transposed.devices() == (0, 3, 1, 4, 2, 5)


@pytest.mark.parametrize(
    ("sizes", "order"), [([2, 3], [0]), ([2, 3], [0, 0]), ([2, 0], []), ([2] * 65, [])]
)
def test_an_impossible_order_is_none(sizes: list[int], order: list[int]) -> None:
    assert DeviceOrder.counted(sizes, order) is None


def test_very_many_devices_are_only_counted() -> None:
    order = DeviceOrder.counted([MOST_DEVICES, 2])
    assert order is not None
    assert order.count == 2 * MOST_DEVICES
    assert order.devices() is None
