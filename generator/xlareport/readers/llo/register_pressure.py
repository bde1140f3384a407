"""Reads the number of vector registers that a program would need: `register-pressure`.

The file is written only if there are too few; without it the pressure is unknown.
"""

import re

from xlareport.runtime.errors import Problem

_PRESSURE = re.compile(rb"^Register pressure for (\w{1,20}) is (\d{1,9})", re.MULTILINE)


def read_register_pressure(data: bytes, path: str) -> tuple[dict[str, int], list[Problem]]:
    """Return the registers needed at most at once by their kind, as in `vregs`."""
    pressures: dict[str, int] = {}
    for kind, count in _PRESSURE.findall(data):
        pressures[kind.decode()] = max(pressures.get(kind.decode(), 0), int(count))
    return pressures, [] if pressures else [Problem(path, None, "It states no register pressure.")]
