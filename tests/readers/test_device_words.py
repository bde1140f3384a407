"""What every parser promises holds for this one: `tests/properties/test_parsers.py`."""

from tests.readers.parsers import Parser, with_path

from xlareport.readers.device_words import read_device_assignment, read_device_words

DEVICE = b'platform_version: "TFRT TPU v5"\ndevice_description_str: "a\\"b"\ndevice_kind: "x"\n'
ASSIGNMENT = b"""num_replicas: 2
device_assignment {
  replica_count: 2
  computation_count: 2
  computation_devices {
    replica_device_ids: 0
    replica_device_ids: 3
  }
  computation_devices {
    replica_device_ids: 1
    replica_device_ids: 2
  }
}
num_partitions: 2
"""
PARSERS = (
    Parser(with_path(read_device_words), DEVICE, says=False),
    Parser(with_path(read_device_assignment), ASSIGNMENT, says=False),
)
"""For `tests/properties/test_parsers.py`."""


def test_devices_are_in_the_order_of_replicas_then_partitions() -> None:
    assert read_device_assignment(ASSIGNMENT, "execution_options.txt") == ((0, 1, 3, 2), [])
    fewer = ASSIGNMENT.replace(b"replica_count: 2", b"replica_count: 3")
    assert read_device_assignment(fewer, "execution_options.txt") == ((), [])
    assert read_device_assignment(b"num_replicas: 2\n", "execution_options.txt") == ((), [])
