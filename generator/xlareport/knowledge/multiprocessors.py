"""Resources of a multiprocessor of each compute capability: the table `multiprocessors.toml`."""

import re
from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from xlareport.runtime.resources import read_toml

WARP = 32
"""Threads of a warp, on every NVIDIA GPU so far."""
MOST_THREADS = 1024
"""Limit on threads of a block, on every NVIDIA GPU so far."""
_TARGET = re.compile(r"sm_(\d{1,2})\.?(\d)", re.ASCII)


class Multiprocessor(Struct, frozen=True):
    """Limits of one multiprocessor."""

    capability: str
    """`9.0`"""
    threads: int
    blocks: int
    registers: int
    """Of 32 bits, in all."""
    registers_of_thread: int
    register_unit: int
    """The registers of a warp are rounded up to it."""
    partitions: int
    """Schedulers, each with its own part of the registers."""
    shared: int
    """Bytes of shared memory that blocks can share among them."""
    shared_of_block: int
    shared_with_opt_in: int
    shared_unit: int
    shared_reserved: int
    """Bytes that the system takes in each block."""
    barriers: int
    """Named barriers for each block that can be resident; 0 where they are not counted."""
    source: str

    @property
    def warp(self) -> int:
        """Return the threads of a warp."""
        return WARP

    @property
    def warps(self) -> int:
        """Return how many warps are resident at most."""
        return self.threads // WARP


@cache
def multiprocessors() -> Mapping[str, Multiprocessor]:
    """Return the table by compute capability."""
    table = read_toml(__package__, "multiprocessors.toml")
    return {key: Multiprocessor(key, **entry) for key, entry in table.items()}


def capability_of(target: str) -> str:
    """Return the compute capability that a text names: `sm_90a`, `sm_9.0` give `9.0`; else ''."""
    match = _TARGET.search(target)
    return f"{int(match[1])}.{match[2]}" if match else ""
