"""Reads which HLO instructions share one program: `deduplication-map`."""

import re
from collections.abc import Mapping

from xlareport.runtime.errors import Problem

_KEY = re.compile(r"key:(.{1,500})")
_SIZE = re.compile(r"equivalent_hlos\[size=(\d{1,9})\]:")


def read_deduplication(
    data: bytes, path: str
) -> tuple[Mapping[str, tuple[str, ...]], list[Problem]]:
    """Return the instructions that share a program by the one whose name it was compiled under."""
    names_of: dict[str, tuple[str, ...]] = {}
    key, missing = "", 0
    for line in data.decode("utf-8", "replace").split("\n"):
        name, size = _KEY.fullmatch(line), _SIZE.fullmatch(line)
        if name:
            key = name[1]
        elif size and key:
            missing = int(size[1])
        elif key and line.startswith("  ") and missing:
            names_of[key] = (*names_of.get(key, ()), line.strip())
            missing -= 1
    if missing:
        return names_of, [Problem(path, None, f"Cut off: instructions are missing below {key}.")]
    return names_of, [] if key else [Problem(path, None, "It names no program.")]
