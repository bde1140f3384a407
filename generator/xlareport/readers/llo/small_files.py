"""Reads the small files of the TPU's low-level compiler, each kind by a function.

- `hlo-static-bundle-profile`: the slots that each HLO instruction uses
- `deduplication-map`: which HLO instructions share one program
- `register-pressure`: the number of vector registers that a program would need; it is written only
  if there are too few, and without it the pressure is unknown
- `schedule-analysis_final_bundles`: how many bundles a program has
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from xlareport.runtime.errors import Problem

_SECTION = re.compile(rb"^HLO: (?:(?:ROOT )?%(\S{1,500}) = |<no-hlo-instruction>)", re.MULTILINE)
_ROW = re.compile(rb"^ - (\w[\w ]{0,80}): \((\d{1,15})/(\d{1,15})\)", re.MULTILINE)
_KEY = re.compile(r"key:(.{1,500})")
_SIZE = re.compile(r"equivalent_hlos\[size=(\d{1,9})\]:")
_PRESSURE = re.compile(rb"^Register pressure for (\w{1,20}) is (\d{1,9})", re.MULTILINE)
_COUNT = re.compile(
    rb"^[ \t]*+(total|empty|non empty) scheduled bundles:[ \t]++(\d{1,12})", re.MULTILINE
)


class BundleProfile(Struct, frozen=True):
    """Slots of an instruction."""

    instruction: str
    used: Mapping[str, int]
    """By the name of the row, as in `SMEM_SPILL_COUNT`."""


def read_bundle_profile(data: bytes, path: str) -> tuple[tuple[BundleProfile, ...], list[Problem]]:
    """Return the slots of each instruction; sections without an instruction are left out."""
    sections = [*_SECTION.finditer(data)]
    if not sections:
        return (), [Problem(path, None, "It has no sections of instructions.")]
    ends = [*(section.start() for section in sections[1:]), len(data)]
    return tuple(
        BundleProfile(
            section[1].decode("utf-8", "replace"),
            {row[1].decode(): int(row[2]) for row in _ROW.finditer(data, section.end(), end)},
        )
        for section, end in zip(sections, ends, strict=True)
        if section[1]
    ), []


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


def read_register_pressure(data: bytes, path: str) -> tuple[dict[str, int], list[Problem]]:
    """Return the registers needed at most at once by their kind, as in `vregs`."""
    pressures: dict[str, int] = {}
    for kind, count in _PRESSURE.findall(data):
        pressures[kind.decode()] = max(pressures.get(kind.decode(), 0), int(count))
    return pressures, [] if pressures else [Problem(path, None, "It states no register pressure.")]


class ScheduleCounts(Struct, frozen=True):
    """Bundles of a program."""

    total: int
    empty: int
    """Number of empty bundles."""
    nonempty: int


def read_schedule(data: bytes, path: str) -> tuple[ScheduleCounts | None, list[Problem]]:
    """Return the counts of bundles; None, without a problem, for a program without bundles."""
    counts = {name.decode(): int(count) for name, count in _COUNT.findall(data[:4000])}
    if not counts:
        return None, []
    if len(counts) < 3:
        return None, [Problem(path, None, "Some of its three counts of bundles are missing.")]
    counted = ScheduleCounts(counts["total"], counts["empty"], counts["non empty"])
    if counted.total != counted.empty + counted.nonempty:
        return counted, [Problem(path, None, "Empty and other bundles are not as many as all.")]
    return counted, []
