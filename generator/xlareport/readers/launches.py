"""Reads how a thunk launches its kernel: blocks, threads of a block, dynamic shared memory."""

import re
from math import prod

from msgspec import Struct

_TODAY = re.compile(
    r"grid: \[(?P<blocks>[\d, ]{1,40})\] threads: \[(?P<threads>[\d, ]{1,40})\]"
    r" {1,8}shared_memory: (?P<shared>\d{1,12}) bytes",
    re.ASCII,
)
_UNTIL_2025 = re.compile(
    r"blocks: \{(?P<blocks>[\d, ]{1,40})\}, threads/block: \{(?P<threads>[\d, ]{1,40})\}", re.ASCII
)


class Launch(Struct, frozen=True):
    """A launch configuration of a kernel."""

    blocks: int
    """Over all dimensions."""
    threads: int
    """Of a block, in all dimensions together."""
    dynamic_shared: int | None
    """Bytes of a block that the launch adds; None where the file does not say."""


def read_launch(description: str) -> Launch | None:
    """Return the launch that a thunk's description states; None where it states none."""
    match = _TODAY.search(description) or _UNTIL_2025.search(description)
    if match is None:
        return None
    fields = match.groupdict()
    blocks, threads = _product(fields["blocks"]), _product(fields["threads"])
    if blocks is None or threads is None:
        return None
    shared = fields.get("shared")
    return Launch(blocks, threads, int(shared) if shared else None)


def _product(text: str) -> int | None:
    numbers = [number.strip() for number in text.split(",")]
    sizes = [int(number) for number in numbers if number]
    return prod(sizes) if sizes and all(sizes) else None
