"""Restores broadcasts of StableHLO that the conversion through HLO split.

XLA writes a `broadcast_in_dim` that expands dimensions of size 1 as a broadcast, a reshape and a
broadcast (`XlaBuilder::BroadcastInDim`). Back in StableHLO these are three operations, which the
compiler simplifies to others before it converts them to HLO. Merged into one operation, they become
the original three instructions again.
"""

import re

from msgspec import Struct

_BROADCAST = re.compile(
    r"(\s*+)(%\d+) = stablehlo\.broadcast_in_dim (%\w+), dims = \[([\d, ]*+)\] : "
    r"\(tensor<((?:\d{1,18}x)*+)([a-zA-Z][a-zA-Z0-9<>]{0,40})>\) -> "
    r"tensor<((?:\d{1,18}x)*+)([a-zA-Z][a-zA-Z0-9<>]{0,40})>(.*+)"
)
_RESHAPE = re.compile(
    r"\s*+(%\d+) = stablehlo\.reshape (%\w+) : "
    r"\(tensor<((?:\d{1,18}x)*+)([a-zA-Z][a-zA-Z0-9<>]{0,40})>\) -> "
    r"tensor<((?:\d{1,18}x)*+)([a-zA-Z][a-zA-Z0-9<>]{0,40})>.*+"
)
_LONGEST_LINE = 10_000
"""Longer lines are constants."""


class _Broadcast(Struct, frozen=True):
    operand: str
    dims: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


class _Reshape(Struct, frozen=True):
    operand: str
    before: tuple[int, ...]
    after: tuple[int, ...]


def with_whole_broadcasts(text: str) -> str:
    """Return a module of StableHLO with these broadcasts as one operation."""
    values: dict[str, _Broadcast | _Reshape | None] = {}
    return "\n".join(_restored(line, values) for line in text.split("\n"))


def _restored(line: str, known: dict[str, _Broadcast | _Reshape | None]) -> str:
    """Return a line, and remember what its name represents: names are used after their lines."""
    if len(line) > _LONGEST_LINE or " = " not in line:
        return line
    reshape = _RESHAPE.fullmatch(line)
    if reshape:
        name, operand, before, _, after, _ = reshape.groups()
        known[name] = _Reshape(operand, _sizes(before), _sizes(after))
        return line
    match = _BROADCAST.fullmatch(line)
    if match is None:
        known[line.partition(" = ")[0].strip().partition(":")[0]] = None
        return line
    indent, name, operand, dims, before, kind, after, _, rest = match.groups()
    broadcast = _Broadcast(operand, _parse_dimensions(dims), _sizes(before), _sizes(after))
    known[name] = broadcast
    first = _first_of_three(broadcast, known)
    if first is None:
        return line
    sizes = "".join(f"{size}x" for size in first.before)
    listed = ", ".join(map(str, first.dims))
    return (
        f"{indent}{name} = stablehlo.broadcast_in_dim {first.operand}, dims = [{listed}] : "
        f"(tensor<{sizes}{kind}>) -> tensor<{after}{kind}>{rest}"
    )


def _first_of_three(
    last: _Broadcast, known: dict[str, _Broadcast | _Reshape | None]
) -> _Broadcast | None:
    """Return the broadcast with which a broadcast of three operations begins; None for others."""
    reshape = known.get(last.operand)
    first = known.get(reshape.operand) if isinstance(reshape, _Reshape) else None
    if not isinstance(reshape, _Reshape) or not isinstance(first, _Broadcast):
        return None
    if len(first.after) != len(last.after):
        return None
    dims = set(last.dims)
    fits = all(
        size == last.after[place] if place in dims else size == 1
        for place, size in enumerate(first.after)
    )
    is_in_order = list(last.dims) == sorted(dims)
    squeezed = tuple(first.after[place] for place in sorted(dims))
    return first if fits and is_in_order and squeezed == reshape.after else None


def _sizes(written: str) -> tuple[int, ...]:
    return tuple(int(size) for size in written.split("x") if size)


def _parse_dimensions(written: str) -> tuple[int, ...]:
    return tuple(int(number) for number in written.split(",") if number.strip())
