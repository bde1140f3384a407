"""Layout in processes that may be killed: each worker is one long-lived Graphviz.

A worker that takes too long, crashes or runs out of memory is replaced; that costs its own
picture and no other.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from xlareport.pictures.layout import Layout, LayoutFailure, parse_layout

TIME_LIMIT = 1.0
"""Seconds of computing for one layout; a picture has two at most. The worker counts them itself, so
that a busy machine does not change what is drawn.
"""

_PATIENCE = 5
"""Factor of the wall-clock limit, for processes that hang without computing."""

MEMORY_LIMIT = 1 << 30
"""Bytes for one worker."""

_CRASHED = LayoutFailure("crashed")
_OUT_OF_TIME = -signal.SIGPROF if hasattr(signal, "SIGPROF") else None
"""How a worker ends that computed too long; None where the system has no such clock."""
_INTERRUPTED = LayoutFailure("was interrupted")

_SCRIPT = Path(__file__).with_name("layout_worker.py")
_AHEAD = 4  # pictures per worker that are asked for before the first answer is taken


class LayoutPool:
    """Workers that lay out pictures, started when first needed and ended with the `with` block."""

    def __init__(self, jobs: int, time_limit: float = TIME_LIMIT) -> None:
        self.jobs = max(1, jobs)
        self._workers = [_Worker(time_limit) for _ in range(self.jobs)]
        self._idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
        """Idle workers, last in first out, so that no process is started without need."""
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(self.jobs, thread_name_prefix="layout")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the workers at once, even if they are busy."""
        for worker in self._workers:
            worker.stop()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.release()

    def layout_many(
        self, requests: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[str, Layout | LayoutFailure]]:
        """Lay out (key, DOT) pairs in parallel; the answers come in the order of the requests."""
        waiting: deque[tuple[str, Future[Layout | LayoutFailure]]] = deque()
        for key, dot in requests:
            waiting.append((key, self._threads.submit(self._layout, dot)))
            if len(waiting) >= _AHEAD * self.jobs:
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()

    def _layout(self, dot: str) -> Layout | LayoutFailure:
        """Return the answer of an idle worker; there are as many workers as threads."""
        worker = self._idle.get()
        try:
            return worker.ask(dot)
        finally:
            self._idle.put(worker)


class _Worker:
    """One process at a time, started again after a crash."""

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def ask(self, dot: str) -> Layout | LayoutFailure:
        """Return the positions, or why there are none; a process may have died since the last."""
        first = self._ask(dot)
        return self._ask(dot) if first == _CRASHED else first

    def _ask(self, dot: str) -> Layout | LayoutFailure:
        try:
            process = self._running()
        except OSError as error:
            return LayoutFailure(f"could not be started ({error})")
        if process is None:
            return _INTERRUPTED
        patience = self._time_limit * _PATIENCE
        started = time.monotonic()
        clock = threading.Timer(patience, _kill, [process])
        clock.start()
        try:
            return _exchange(process, dot.encode())
        except (OSError, ValueError):
            _end(process)
            hung = time.monotonic() - started >= patience
            return self._failure(late=hung or process.returncode == _OUT_OF_TIME)
        finally:
            clock.cancel()

    def stop(self) -> None:
        """Kill the process and let no other be started; whoever waits for it gets a failure."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                _kill(self._process)

    def release(self) -> None:
        """Release the resources of the stopped process."""
        if self._process is not None:
            _end(self._process)

    def _running(self) -> subprocess.Popen[bytes] | None:
        """Return a process that lives; None after `close`."""
        with self._lock:
            if self._closed:
                return None
            if self._process is not None and self._process.poll() is not None:
                _end(self._process)
                self._process = None
            if self._process is None:
                self._process = _start(self._time_limit)
            return self._process

    def _failure(self, *, late: bool) -> LayoutFailure:
        """Return the reason for the end of the process: the pool, the time limit or a crash."""
        if self._closed:
            return _INTERRUPTED
        if late:
            return LayoutFailure(f"took more than {self._time_limit:g} s")
        return _CRASHED


def _start(time_limit: float) -> subprocess.Popen[bytes]:
    """Start a worker in a process group of its own, out of reach of Ctrl-C and of the terminal."""
    return subprocess.Popen(  # noqa: S603 - our own script and two numbers
        [sys.executable, "-P", str(_SCRIPT), str(time_limit), str(MEMORY_LIMIT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _exchange(process: subprocess.Popen[bytes], dot: bytes) -> Layout | LayoutFailure:
    """Send one request and read its answer; raises ValueError where the answer is cut short."""
    if process.stdin is None or process.stdout is None:
        raise ValueError("the worker has no pipes")
    process.stdin.write(b"%d\n%s" % (len(dot), dot))
    process.stdin.flush()
    verdict, length = process.stdout.readline().split()
    answer = process.stdout.read(int(length))
    if len(answer) < int(length):
        raise ValueError("the worker died while it answered")
    if verdict == b"ok":
        return parse_layout(answer)
    return LayoutFailure(f"failed ({answer.decode(errors='replace')})")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process, and with it a `dot` that it may have started."""
    if process.poll() is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and give its pipes back; doing it twice is harmless."""
    _kill(process)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()
