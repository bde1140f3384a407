"""Reads the slots that each HLO instruction uses: `hlo-static-bundle-profile`."""

import re
from collections.abc import Mapping

from msgspec import Struct

from xlareport.runtime.errors import Problem

_SECTION = re.compile(rb"^HLO: (?:(?:ROOT )?%(\S{1,500}) = |<no-hlo-instruction>)", re.MULTILINE)
_ROW = re.compile(rb"^ - (\w[\w ]{0,80}): \((\d{1,15})/(\d{1,15})\)", re.MULTILINE)


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
