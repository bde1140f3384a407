"""A pool of worker processes; a process that dies costs only the task it was working on."""

import os
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from itertools import islice
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct

from xlareport.runtime.garbage_collection import collect_rarely, freeze_objects

P = TypeVar("P")
T = TypeVar("T")
R = TypeVar("R")

_PRELOADED = frozenset({"xlareport", "mkdocs", "material"})
"""Packages of which a server of workers imports what this process did before it began."""
_ENDS = (signal.SIGINT, signal.SIGTERM)
_THREADS = Path("/proc/self/task")
"""Linux lists the threads of a process here, those of libraries included."""


class Task(Struct, Generic[T, R], frozen=True, eq=False):
    """A task submitted to the worker pool."""

    item: T
    future: Future[R]
    alone: Callable[[], R]

    def result(self) -> R:
        """Return the result; if the worker died, run the task again once in a fresh process."""
        try:
            return self.future.result()
        except BrokenExecutor:
            return self.alone()


Effort = Callable[[T], float]
"""About how many seconds a task takes."""
_AHEAD = 4
"""Tasks for each worker that are begun before a result is waited for."""


class Workers(ABC):
    """Executes tasks elsewhere: in processes of this machine, or of others."""

    is_remote = False
    """Whether results travel far, so that as much as possible is done where they are made."""

    @property
    @abstractmethod
    def jobs(self) -> int:
        """How many tasks are worked on at once."""

    @abstractmethod
    def submit(self, work: Callable[[T], R], item: T, died: Callable[[T], R]) -> Task[T, R]:
        """Have a worker call `work(item)`; `died(item)` is the result if that kills two processes.

        `work`, `item` and the result have to be picklable.
        """

    def stream(
        self,
        work: Callable[[T], R],
        items: Iterable[T],
        died: Callable[[T], R],
        effort: "Effort[T] | None" = None,
    ) -> Iterator[tuple[T, R]]:
        """Yield each item with its result, as they complete.

        Few tasks are started ahead, and no result is kept after it was yielded. `effort` estimates
        the seconds of an item, for workers that get several items at once.
        """
        del effort
        ahead = _AHEAD * self.jobs
        waiting = iter(items)
        begun = {task.future: task for task in self._some(work, waiting, ahead, died)}
        while begun:
            for future in wait(begun, return_when=FIRST_COMPLETED).done:
                task = begun.pop(future)
                yield task.item, task.result()
            for task in self._some(work, waiting, ahead - len(begun), died):
                begun[task.future] = task

    def stream_in_order(
        self, work: Callable[[T], R], items: Iterable[T], died: Callable[[T], R]
    ) -> Iterator[R]:
        """Return the result of each item, in order; the first few tasks start at once."""
        waiting = iter(items)
        begun = deque(self._some(work, waiting, _AHEAD * self.jobs, died))

        def results() -> Iterator[R]:
            while begun:
                yield begun.popleft().result()
                begun.extend(self._some(work, waiting, 1, died))

        return results()

    def run_apart(self, work: Callable[[T], R], item: T) -> R:
        """Return `work(item)` of a process of this machine that ends, and its memory with it."""
        return run_apart(work, item)

    def _some(
        self, work: Callable[[T], R], items: Iterator[T], number: int, died: Callable[[T], R]
    ) -> list[Task[T, R]]:
        return [self.submit(work, item, died) for item in islice(items, number)]


class WorkerPool(Workers):
    """Up to `jobs` worker processes that live as long as the `with` block.

    Create it early: a forked worker inherits what this process holds at that time, locks included.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool = _pool(jobs)
        self._spare = _pool(1)
        self._once = _pool(1)
        """For the first call of `run_apart`: made while this process can be forked."""

    @property
    def jobs(self) -> int:
        """How many processes there are at most."""
        return self._jobs

    def __enter__(self) -> Self:
        self._begun(os.getpid)
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes; tasks that have not started are canceled."""
        self._pool.shutdown(cancel_futures=True)
        self._spare.shutdown(cancel_futures=True)
        self._once.shutdown(cancel_futures=True)

    def submit(self, work: Callable[[T], R], item: T, died: Callable[[T], R]) -> Task[T, R]:
        """Have a worker call `work(item)`; `died(item)` is the result if that kills two processes.

        `work`, `item` and the result have to be picklable.
        """
        future = self._begun(partial(work, item))
        return Task(item, future, lambda: self._alone(work, item, died))

    def run_apart(self, work: Callable[[T], R], item: T) -> R:
        """Return `work(item)` of a process that ends; of this one if that dies."""
        once, self._once = self._once, _pool(1)
        with interrupts_held_back():
            future = once.submit(work, item)
        try:
            return future.result()
        except BrokenExecutor:
            return work(item)
        finally:
            once.shutdown()

    def _begun(self, call: Callable[[], R]) -> Future[R]:
        with interrupts_held_back():
            try:
                return self._pool.submit(call)
            except BrokenExecutor:
                self._pool = _pool(self._jobs)
                return self._pool.submit(call)

    def _alone(self, work: Callable[[T], R], item: T, died: Callable[[T], R]) -> R:
        """Run the task alone, so that a crash cannot take other tasks with it."""
        try:
            with interrupts_held_back():
                future = self._spare.submit(work, item)
            return future.result()
        except BrokenExecutor:
            self._spare = _pool(1)
            return died(item)


class InlineWorkers(Workers):
    """Does each task in this process, when it is submitted: for callers that start no others."""

    @property
    def jobs(self) -> int:
        """One: tasks are executed one after the other."""
        return 1

    def submit(self, work: Callable[[T], R], item: T, died: Callable[[T], R]) -> Task[T, R]:
        """Call `work(item)`; nothing has to be picklable, and no process can die."""
        return Task(item, InlineExecutor().submit(work, item), partial(died, item))


class Worker(Generic[P, T, R]):
    """A process that prepares itself at once, then answers one request at a time.

    It lives as long as the `with` block.
    """

    def __init__(self, prepare: Callable[[], P], work: Callable[[T], R]) -> None:
        context = _context()
        self._line, other = context.Pipe()
        ends = self._line, other
        self._process: Any = context.Process(target=_serve, args=(ends, prepare, work), daemon=True)  # type: ignore[attr-defined]
        with interrupts_held_back():
            self._process.start()
        other.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, even if it is busy."""
        self._process.terminate()
        self._process.join()
        self._line.close()

    @cached_property
    def prepared(self) -> P | None:
        """The result of `prepare`; None if the process has died."""
        try:
            answer: P = self._line.recv()
        except (EOFError, OSError):
            return None
        return answer

    def ask(self, item: T, died: Callable[[T], R]) -> R:
        """Return `work(item)`, or `died(item)` if the process has died."""
        _ = self.prepared
        try:
            self._line.send(item)
            answer: R = self._line.recv()
        except (EOFError, OSError):
            return died(item)
        return answer


def work_in_processes(
    items: Sequence[T], work: Callable[[T], R], jobs: int, died: Callable[[T], R]
) -> Iterator[tuple[T, R]]:
    """Yield each item with its result, as they complete, from a pool of its own."""
    with WorkerPool(min(jobs, len(items))) as workers:
        yield from workers.stream(work, items, died)


def run_apart(work: Callable[[T], R], item: T) -> R:
    """Return `work(item)` of a process that ends, and its memory with it."""
    with WorkerPool(1) as workers:
        return workers.run_apart(work, item)


class InlineExecutor(Executor):
    """Runs each call at once in this process, where no other can be started."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Return a future that is done."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it is the result's
            future.set_exception(error)
        return future


def _pool(workers: int) -> Executor:
    """Return a pool of processes; where semaphores cannot be made, work in this process.

    They need a `/dev/shm` that can be written, which some containers and sandboxes do not have.
    """
    try:
        pool = ProcessPoolExecutor(max(workers, 1), mp_context=_context(), initializer=begin_worker)
    except OSError:
        return InlineExecutor()
    # All processes start with the first task. One started later, while another dies, fails the
    # thread that ends the pool (it counts the processes), and is never ended itself.
    pool._safe_to_dynamically_spawn_children = False  # type: ignore[attr-defined]  # noqa: SLF001 - no argument says so
    return pool


def _context() -> BaseContext:
    """Fork where this process has a single thread: then no worker imports anything again.

    Where it has more, as in a notebook, fork from a server that imported the same once.
    """
    if _THREADS.is_dir() and sum(1 for _ in _THREADS.iterdir()) == 1:
        return get_context("fork")
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(
        [name for name in sys.modules if name.partition(".")[0] in _PRELOADED]
    )
    return context


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Block SIGINT and SIGTERM while a process starts, until it has its own handlers."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    former = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _serve(
    ends: tuple[Connection, Connection], prepare: Callable[[], P], work: Callable[[T], R]
) -> None:
    """Send the result of `prepare`, then answer requests until the other side hangs up."""
    other, line = ends
    other.close()
    begin_worker()
    with suppress(EOFError):
        line.send(prepare())
        freeze_objects()
        while True:
            line.send(work(line.recv()))


def begin_worker() -> None:
    """Let Ctrl-C, SIGTERM and the end of the parent process end this process silently.

    What it has from its parent is never collected.
    """
    collect_rarely()
    freeze_objects()
    for number in _ENDS:
        signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent: Any = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
