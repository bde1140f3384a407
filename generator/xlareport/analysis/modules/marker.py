"""The marker: a text that only one program contains, and that therefore decides which it is."""

import re
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.errors import XlareportError


class BadMarkerError(XlareportError):
    """The marker is not a regular expression."""

    def __init__(self, marker: str, reason: str) -> None:
        super().__init__(f"--marker {marker!r} is not a regular expression: {reason}.")


SECONDS = 20
"""Of computing that the search for a marker may take in one module; good ones take fractions."""


class SlowMarkerError(Exception):
    """The search was given up: some expressions take ages on some texts."""

    def __init__(self) -> None:
        super().__init__(f"--marker was given up here after {SECONDS} s: write it more simply")


class MarkerHit(Struct, frozen=True):
    """Where a marker was found in a module."""

    instructions: int
    """Distinct lines that contain it, over all snapshots."""
    first: str
    """The name of the first instruction that does."""


def compile_marker(marker: str) -> re.Pattern[str]:
    """Compile the user's expression; raises BadMarkerError."""
    try:
        return re.compile(marker)
    except re.error as error:
        raise BadMarkerError(marker, str(error)) from error


def find_marker(snapshots: Iterable[HloModule], marker: re.Pattern[str]) -> MarkerHit | None:
    """Look for the marker in every instruction of every snapshot; each shared one is read once.

    Raises SlowMarkerError where that takes too long.
    """
    with _limited():
        instructions = [
            instruction for instruction in _distinct(snapshots) if marker.search(instruction.text)
        ]
        if instructions:
            return MarkerHit(len(instructions), instructions[0].name)
        return _in_sources(snapshots, marker)


@contextmanager
def _limited() -> Iterator[None]:
    """Stop a computation that takes too long; only in the main thread, as in all workers.

    Python's `re` has no time limit, but handles signals during a search.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer"):  # Windows has none
        yield
        return
    former = signal.signal(signal.SIGVTALRM, _give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)


def _give_up(*_: object) -> None:
    raise SlowMarkerError


def _distinct(snapshots: Iterable[HloModule]) -> Iterable[Instruction]:
    computations: set[Computation] = set()
    instructions: set[Instruction] = set()
    for module in snapshots:
        for computation in module.computations:
            if computation not in computations:
                computations.add(computation)
                fresh = [
                    instruction
                    for instruction in computation.instructions
                    if instruction not in instructions
                ]
                instructions.update(fresh)
                yield from fresh


def _in_sources(snapshots: Iterable[HloModule], marker: re.Pattern[str]) -> MarkerHit | None:
    for module in snapshots:
        for frame in module.stack_frames.values():
            if marker.search(f"{frame.file}:{frame.line} {frame.function}"):
                return MarkerHit(0, f"{frame.function} in {frame.file}")
    return None
