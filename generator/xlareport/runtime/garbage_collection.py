"""When Python looks for cycles of dead objects: seldom, or not at all.

Reading and matching make millions of small objects that live as long as the work; looking at all of
them again and again can take half of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (200_000, 50, 1_000)


def collect_rarely() -> None:
    """Look for them seldom from now on."""
    gc.set_threshold(*_THRESHOLDS)


def freeze_objects() -> None:
    """Exclude existing objects from garbage collection: the process is about to end."""
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
    """Look for them seldom within the `with` block."""
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
