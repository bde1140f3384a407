"""When the C library gives freed memory back to the system."""

import ctypes
import sys

_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of glibc's malloc.h."""
_LARGE = 1 << 17
"""Bytes; the limit that glibc begins with."""


def give_back_large_blocks() -> None:
    """Have this process give back each large block as soon as it is freed; on Linux with glibc.

    Otherwise glibc raises its limit to the size of the largest block that was freed, up to 32 MB:
    later large blocks are then allocated between small ones that stay, and memory grows.
    """
    if sys.platform == "linux":
        set_option = getattr(ctypes.CDLL(None), "mallopt", None)
        if set_option is not None:
            set_option(_MMAP_THRESHOLD, _LARGE)
