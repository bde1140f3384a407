"""Runs parts of one task on several cores: forks of this process, which share its memory.

If a process cannot be forked safely, and for a single part, this process does all.
"""

import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from multiprocessing import get_context
from typing import IO, Any, TypeVar

from xlareport.runtime.garbage_collection import frozen_objects
from xlareport.runtime.worker_pool import begin_worker, interrupts_held_back

R = TypeVar("R")

_SEVERAL = 4_000_000
"""Bytes of a task from which on several processes work on it."""
_NUMBER = 4
"""Bytes of the number of a part on its way through the pipe."""
_MOST_PARTS = 1_000
"""Parts whose numbers fit into any pipe at once."""
_DAMAGED = (EOFError, OSError, pickle.UnpicklingError, ValueError)


def share_processes(size: int, total: int, processes: int) -> int:
    """Return how many processes work on a task of `size` bytes among tasks of `total`: its share.

    A small task, for which a fork is not worth its beginning, gets one.
    """
    return max(1, round(processes * size / total)) if size >= _SEVERAL else 1


def run_parts(parts: Sequence[Callable[[], R]], processes: int) -> list[R]:
    """Return the result of each part, in order; exceptions of parts are raised here.

    Up to `processes` work, including this one, each on the next part that is free. Results have to
    be picklable. If a fork dies, this process does its part.
    """
    if (
        min(processes, len(parts)) < 2
        or not sys.platform.startswith("linux")
        or len(parts) > _MOST_PARTS
    ):
        return [part() for part in parts]
    with frozen_objects():
        done = _shared(parts, min(processes, len(parts)) - 1)
    return [done[number] if number in done else part() for number, part in enumerate(parts)]


def _shared(parts: Sequence[Callable[[], R]], forks: int) -> dict[int, R]:
    """Return the results that this process and its forks have made, by the number of the part."""
    done: dict[int, R] = {}
    with ExitStack() as stack:
        line, end = os.pipe()
        stack.callback(os.close, line)
        os.write(end, b"".join(number.to_bytes(_NUMBER) for number in range(len(parts))))
        os.close(end)
        begun = []
        with suppress(OSError):  # no more processes, or no room for their results
            for _ in range(forks):
                file = stack.enter_context(tempfile.TemporaryFile(prefix="xlareport-"))
                begun.append((_fork(parts, line, file), file))
        while (number := _next(line)) is not None:
            done[number] = parts[number]()
        for process, file in begun:
            process.join()
            done |= _results(file)
    return done


def _fork(parts: Sequence[Callable[[], R]], line: int, file: IO[bytes]) -> Any:
    # a process of the `fork` context takes its target as it is, without pickling it
    process = get_context("fork").Process(target=_do_parts, args=(parts, line, file))
    with interrupts_held_back():
        process.start()
    return process


def _do_parts(parts: Sequence[Callable[[], R]], line: int, file: IO[bytes]) -> None:
    """Do parts until none is left; a part that raises is left to the parent process."""
    begin_worker()
    while (number := _next(line)) is not None:
        with suppress(Exception):
            written = pickle.dumps((number, parts[number]()), pickle.HIGHEST_PROTOCOL)
            file.write(written)
            file.flush()
    os._exit(0)


def _next(line: int) -> int | None:
    """Return the number of a part that no process has begun; None where there is none left."""
    number = os.read(line, _NUMBER)
    return int.from_bytes(number) if len(number) == _NUMBER else None


def _results(file: IO[bytes]) -> dict[int, Any]:
    """Return the results that a fork has written, up to its end."""
    done = {}
    with suppress(*_DAMAGED):
        file.seek(0)
        while True:
            number, result = pickle.load(file)  # noqa: S301 - written by a fork of this process
            done[number] = result
    return done
