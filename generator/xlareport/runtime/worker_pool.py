"""Processes that work on errands, of which each may die without costing the rest."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    as_completed,
)
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from xlareport.runtime.garbage_collection import collect_seldom

P = TypeVar("P")
T = TypeVar("T")
R = TypeVar("R")

SHARE = "XLAREPORT_SHARE"
"""The environment tells a program that works for one of several which share is its: `NUMBER/OF`,
from 0."""

_ENDS = (signal.SIGINT, signal.SIGTERM)
_THREADS = Path("/proc/self/task")
"""Linux lists the threads of a process here, those of libraries included."""


@dataclass(frozen=True, slots=True, eq=False)
class Errand(Generic[T, R]):
    """One thing that a process of the crew works on, or will."""

    thing: T
    future: Future[R]
    alone: Callable[[], R]

    def result(self) -> R:
        """Wait for what comes of it; where its process died, it is tried once more."""
        try:
            return self.future.result()
        except BrokenExecutor:
            return self.alone()


class Crew:
    """Up to `jobs` processes that live as long as the `with` block.

    Begin it early: where it forks, workers have what this process has at that time, locks included.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._pool = _pool(jobs)
        self._spare = _pool(1)

    def __enter__(self) -> Self:
        self._begun(os.getpid)
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes; what none of them has begun stays undone."""
        self._pool.shutdown(cancel_futures=True)
        self._spare.shutdown(cancel_futures=True)

    def submit(self, work: Callable[[T], R], thing: T, died: Callable[[T], R]) -> Errand[T, R]:
        """Have `work(thing)` done; `died(thing)` stands in where it ends a process of its own.

        `work`, `thing` and what is made of them have to be values that can travel.
        """
        future = self._begun(partial(work, thing))
        return Errand(thing, future, lambda: self._alone(work, thing, died))

    def _begun(self, call: Callable[[], R]) -> Future[R]:
        with _interrupts_held_back():
            try:
                return self._pool.submit(call)
            except BrokenExecutor:
                self._pool = _pool(self.jobs)
                return self._pool.submit(call)

    def _alone(self, work: Callable[[T], R], thing: T, died: Callable[[T], R]) -> R:
        """Try it where no other errand can end the process."""
        try:
            with _interrupts_held_back():
                future = self._spare.submit(work, thing)
            return future.result()
        except BrokenExecutor:
            self._spare = _pool(1)
            return died(thing)


class Aide(Generic[P, T, R]):
    """One process that begins at once, gets ready, and is then asked one thing at a time.

    It lives as long as the `with` block.
    """

    def __init__(self, ready: Callable[[], P], work: Callable[[T], R]) -> None:
        context = _context()
        self._line, other = context.Pipe()
        ends = self._line, other
        self._process: Any = context.Process(target=_serve, args=(ends, ready, work), daemon=True)  # type: ignore[attr-defined]
        with _interrupts_held_back():
            self._process.start()
        other.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, whatever it is doing."""
        self._process.terminate()
        self._process.join()
        self._line.close()

    @cached_property
    def made(self) -> P | None:
        """What came of getting ready; None where the process is no more."""
        try:
            found: P = self._line.recv()
        except (EOFError, OSError):
            return None
        return found

    def ask(self, thing: T, died: Callable[[T], R]) -> R:
        """Return `work(thing)`, or `died(thing)` where the process is no more."""
        _ = self.made
        try:
            self._line.send(thing)
            found: R = self._line.recv()
        except (EOFError, OSError):
            return died(thing)
        return found


def as_they_come(errands: Iterable[Errand[T, R]]) -> Iterator[Errand[T, R]]:
    """Yield errands when they are done; those whose process died come last."""
    waiting = {one.future: one for one in errands}
    lost = []
    for future in as_completed(waiting):
        if isinstance(future.exception(), BrokenExecutor):
            lost.append(waiting[future])
        else:
            yield waiting[future]
    yield from lost


def work_in_processes(
    things: Sequence[T], work: Callable[[T], R], jobs: int, died: Callable[[T], R]
) -> Iterator[tuple[T, R]]:
    """Yield each thing with its result, as they come, from a crew of its own; see `Crew.submit`."""
    with Crew(min(jobs, len(things))) as crew:
        for one in as_they_come([crew.submit(work, thing, died) for thing in things]):
            yield one.thing, one.result()


def _pool(workers: int) -> Executor:
    return ProcessPoolExecutor(max(workers, 1), mp_context=_context(), initializer=_begin)


def _context() -> BaseContext:
    """Fork where this process has a single thread: then no worker imports anything again."""
    alone = _THREADS.is_dir() and sum(1 for _ in _THREADS.iterdir()) == 1
    return get_context("fork" if alone else "spawn")


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Begin processes that hear of an end only when they are ready to end without a word."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    former = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _serve(
    ends: tuple[Connection, Connection], ready: Callable[[], P], work: Callable[[T], R]
) -> None:
    """Get ready, say what came of it, then answer until the other side hangs up."""
    other, line = ends
    other.close()
    _begin()
    with suppress(EOFError):
        line.send(ready())
        while True:
            line.send(work(line.recv()))


def _begin() -> None:
    """End at Ctrl-C and SIGTERM without a word, and with the process that began this one."""
    collect_seldom()
    for one in _ENDS:
        signal.signal(one, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent: Any = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
