"""Reads the VMEM usage of each instruction: the JSON inside `vmem_report.html`."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from xlareport.runtime.errors import Problem

_BEGIN = "DATA ="
_SCOPED = "SCOPED"
_MOST_ALLOCATIONS = 1_000_000


class VmemUse(Struct, frozen=True):
    """VMEM that an instruction reserves while it runs."""

    instruction: str
    scoped: int
    """Bytes of its own scratch, spilled registers included."""
    others: int
    """Bytes of buffers of the module that are in VMEM at the same time."""
    purposes: Mapping[str, int]
    """Scoped bytes by what they are for; `SPILL` for spilled vector registers."""


class VmemReport(Struct, frozen=True):
    """VMEM of a module's programs."""

    capacity: int | None
    """Bytes that the core has; None where the file does not say."""
    uses: tuple[VmemUse, ...]


def read_vmem_report(data: bytes, path: str) -> tuple[VmemReport | None, list[Problem]]:
    """Read the report; None where its JSON cannot be read."""
    text = data.decode("utf-8", "replace")
    begin = text.find("{", text.find(_BEGIN)) if _BEGIN in text else -1
    if begin < 0:
        return None, [Problem(path, None, "It holds no data of VMEM.")]
    try:
        value, _ = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return None, [
            Problem(path, text.count("\n", 0, begin) + 1, "Its JSON is cut off or broken.")
        ]
    return VmemReport(_capacity(value), tuple(_uses(value))), []


def _capacity(value: Any) -> int | None:
    return _parse_size(_field(_field(value, "global_info"), "vmem_capacity"))


def _uses(value: Any) -> Iterator[VmemUse]:
    breakdowns = _field(value, "hlo_breakdowns")
    for name, breakdown in breakdowns.items() if isinstance(breakdowns, dict) else ():
        blocks = _items(_field(breakdown, "blocks"))
        scoped = [block for block in blocks if _field(block, "block_type") == _SCOPED]
        scoped_bytes = sum(_block_size(block) for block in scoped)
        others = sum(_block_size(block) for block in blocks) - scoped_bytes
        yield VmemUse(str(name), scoped_bytes, others, _purposes(scoped))


def _block_size(block: Any) -> int:
    return _parse_size(_field(block, "block_size")) or 0


def _purposes(blocks: list[Any]) -> Mapping[str, int]:
    purposes: Counter[str] = Counter()
    for block in blocks:
        for allocation in _items(_field(block, "allocations")):
            size = _parse_size(_field(allocation, "size"))
            if size:
                purposes[str(_field(allocation, "tag") or "")[:200]] += size
    return dict(purposes)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _items(value: Any) -> list[Any]:
    return value[:_MOST_ALLOCATIONS] if isinstance(value, list) else []


def _parse_size(value: Any) -> int | None:
    """Return a size; the file writes some numbers as texts."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
