"""What every parser promises holds for this one: `tests/properties/test_parsers.py`."""

from tests.readers.parsers import Parser, with_path

from xlareport.readers.device_words import read_device_words

DEVICE = b'platform_version: "TFRT TPU v5"\ndevice_description_str: "a\\"b"\ndevice_kind: "x"\n'
PARSERS = (Parser(with_path(read_device_words), DEVICE, says=False),)
"""For `tests/properties/test_parsers.py`."""
