import pytest

from xlareport.knowledge.devices import DeviceTableError, devices, parse_devices
from xlareport.knowledge.interconnects import interconnects


def test_every_interconnect_is_of_a_device_and_agrees_with_it() -> None:
    for key, links in interconnects().items():
        assert links.bandwidth == devices()[key].interconnect
        assert links.source.startswith(("https://", "no device"))
        if links.topology == "torus":
            assert links.link is not None
            assert links.dimensions is not None
            assert links.link * 2 * links.dimensions == links.bandwidth


def test_every_device_that_sends_has_its_bandwidth() -> None:
    assert {
        key for key, device in devices().items() if device.interconnect
    } - interconnects().keys() <= {
        "nvidia-t4",
        "nvidia-l4",
    }


OWN = """[mine]
name = "Mine"
matrix_flops = { bf16 = 1e14 }
bandwidth = 1e12
source = "me"
links = { topology = "torus", dimensions = 2, link = 1e10, bandwidth = 4e10, source = "me" }
"""


def test_a_user_may_say_how_a_device_is_connected() -> None:
    links = parse_devices(OWN)["mine"].links
    assert links is not None
    assert (links.topology, links.link, links.dimensions, links.latency) == ("torus", 1e10, 2, 0)


@pytest.mark.parametrize("change", ["star", "-1e10", "nan"])
def test_what_cannot_be_is_refused(change: str) -> None:
    text = OWN.replace("torus", change) if change == "star" else OWN.replace("1e10,", f"{change},")
    with pytest.raises(DeviceTableError):
        parse_devices(text)


def test_a_missing_figure_is_named() -> None:
    with pytest.raises(DeviceTableError, match="`bandwidth`"):
        parse_devices(OWN.replace(", bandwidth = 4e10", ""))
    with pytest.raises(DeviceTableError, match="`dimensions`"):
        parse_devices(OWN.replace("dimensions = 2, ", ""))
