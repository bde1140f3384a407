"""When Python looks for cycles of dead objects, and when the C library gives back freed memory.

Reading and matching make millions of small objects that live as long as the work: looking at all of
them for cycles again and again can take half of the time.
"""

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of glibc's malloc.h."""
_LARGE = 1 << 17
"""Bytes; the limit that glibc begins with."""
_THRESHOLDS = (200_000, 50, 1_000)


def collect_rarely() -> None:
    """Collect garbage rarely from now on."""
    gc.set_threshold(*_THRESHOLDS)


def freeze_objects() -> None:
    """Exclude existing objects from garbage collection: they live as long as this process."""
    gc.freeze()


@contextmanager
def frozen_objects() -> Iterator[None]:
    """Freeze the present objects within the `with` block, so that forks share their memory."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage rarely within the `with` block."""
    former = gc.get_threshold()
    collect_rarely()
    try:
        yield
    finally:
        gc.set_threshold(*former)


@contextmanager
def no_collections() -> Iterator[None]:
    """Do not look for them within the `with` block."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def give_back_large_blocks() -> None:
    """Have this process give back each large block as soon as it is freed; on Linux with glibc.

    Otherwise glibc raises its limit to the size of the largest block that was freed, up to 32 MB:
    later large blocks are then allocated between small ones that stay, and memory grows.
    """
    if sys.platform == "linux":
        set_option = getattr(ctypes.CDLL(None), "mallopt", None)
        if set_option is not None:
            set_option(_MMAP_THRESHOLD, _LARGE)
