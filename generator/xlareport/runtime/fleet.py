"""Workers on other machines: a cluster of Dask distributed, which is an extra.

Small tasks are sent in batches, a result stays with its worker until it is requested, and it is
sent as bytes. Workers must run the same program: equal sources, Python and libraries.
"""

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from xlareport import __version__
from xlareport.runtime.batches import Batch, BatchResults, do_batch, pack_batch, unpack
from xlareport.runtime.errors import XlareportError
from xlareport.runtime.garbage_collection import collect_rarely
from xlareport.runtime.program_digest import digest_program
from xlareport.runtime.worker_pool import Effort, Task, Workers

T = TypeVar("T")
R = TypeVar("R")

_TARGET = 2.0
"""Total seconds of the tasks of one batch."""
_MOST_TASKS = 200
"""Limit on tasks of one batch."""
_AHEAD = 2
"""Batches for each thread of a worker that are started before a result is requested."""
_RETRIES = 2
"""How often a batch is begun again after an error of the worker itself."""
_PATIENCE = 60.0
"""Seconds without any worker after which a build gives up."""
_TIMEOUT = "20s"
"""How long a scheduler may take to answer."""
_GLANCE = 5.0
"""Seconds between looks at whether there are workers."""
_LEARNED = 0.3
"""Weight of the latest batch in what is known of the speed of workers."""
_SETTINGS = {
    "distributed.admin.low-level-log-length": 0,  # messages kept: 1,000 hold all modules
    "distributed.worker.profile.enabled": False,  # looks at each worker 100 times a second
}
"""Settings of Dask in this process, and in the workers that it starts."""
_LOCAL = "local:"
_CONFIGURED = "dask"


class FleetError(XlareportError):
    """The cluster cannot be used, or was lost."""


class _Begun(Struct):
    """A batch on its way, and what it is expected to take."""

    batch: Batch
    seconds: float = 0.0


@contextmanager
def open_fleet(scheduler: str, seen: Path | None = None) -> Iterator["Fleet"]:
    """Connect to a cluster, and check that all of its workers can do the work.

    `scheduler` is an address, the path of a scheduler file, `local:N` for N processes of this
    machine, or `dask` for what the configuration of Dask names. `seen` is a path that workers
    have to see. Raises FleetError.
    """
    if find_spec("distributed") is None:
        raise FleetError("--scheduler needs Dask: pip install 'xlareport[dask]'.")
    import dask  # noqa: PLC0415 - an extra

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(_SETTINGS), _client(scheduler) as client:
        _check_workers(client, seen)
        yield Fleet(client)


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    """Connect to a scheduler; raises FleetError."""
    from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra, slow to import

    if scheduler.startswith(_LOCAL):
        number = scheduler.removeprefix(_LOCAL)
        if not number.isdecimal() or not 0 < int(number) <= 1_000:
            raise FleetError(f"--scheduler {scheduler} names no number of processes: local:4.")
        options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
        with (
            LocalCluster(int(number), silence_logs=logging.CRITICAL, **options) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(**_address(scheduler), timeout=_TIMEOUT)
    except (OSError, ValueError, TypeError) as error:
        raise FleetError(f"No scheduler of Dask answers at {scheduler}: {error}.") from error
    with client:
        yield client


def _address(scheduler: str) -> dict[str, Any]:
    """Return the arguments by which Dask connects to a scheduler; raises FleetError."""
    if scheduler == _CONFIGURED:
        import dask  # noqa: PLC0415 - an extra

        configured = dask.config.get("scheduler-address", None)
        if not configured:
            raise FleetError(
                "The configuration of Dask names no scheduler: set DASK_SCHEDULER_ADDRESS."
            )
        return {"address": configured}
    if "://" in scheduler:
        return {"address": scheduler}
    if Path(scheduler).is_file():
        return {"scheduler_file": scheduler}
    raise FleetError(
        f"--scheduler {scheduler} is no address such as tcp://host:8786, no scheduler file, "
        "no local:N and not `dask`."
    )


def _check_workers(client: Any, seen: Path | None) -> None:
    """Raise FleetError unless there are workers, all of this program, that see a path."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        raise FleetError("The scheduler has no worker.") from error
    # functions that every worker has, whatever its version of xlareport
    versions = _asked(client, version, "xlareport")
    for worker, other in versions.items():
        if other != version("xlareport"):
            raise FleetError(
                _foreign(worker, f"xlareport {other}" if isinstance(other, str) else "no xlareport")
            )
    for worker, digest in _asked(client, digest_program).items():
        if digest != digest_program():
            raise FleetError(_foreign(worker, f"other sources of xlareport {__version__}"))
    for worker, is_there in _asked(client, os.path.exists, str(seen or os.curdir)).items():
        if is_there is False:
            raise FleetError(
                f"The worker {worker} does not see {seen}. Put the dump where all workers see it "
                "under the same path, or name it by a URL such as s3://."
            )


def _asked(client: Any, function: Callable[..., Any], *arguments: str) -> dict[str, Any]:
    """Return the result or exception of a function in each worker that is alive.

    A worker that died in the meantime is left out: each batch requests its worker again.
    """
    answers = client.run(function, *arguments, on_error="return")
    return {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}


def _foreign(worker: str, what_it_has: str) -> str:
    return (
        f"The worker {worker} has {what_it_has}, or another Python or other libraries; here is "
        f"xlareport {__version__}. A report is made by one program: install the same everywhere."
    )


class Fleet(Workers):
    """The workers of a cluster."""

    is_remote = True

    def __init__(self, client: Any) -> None:
        self.client = client
        self.batches = 0
        """Batches done."""
        self._slowness = 1.0
        """Measured seconds for each expected second."""

    @property
    def jobs(self) -> int:
        """How many threads all workers have now."""
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def submit(self, work: Callable[[T], R], item: T, died: Callable[[T], R]) -> Task[T, R]:
        """Have a worker call `work(item)`; `died(item)` is the result if that kills workers."""
        future: Future[R] = Future()
        (pair,) = self.stream(work, [item], died)
        future.set_result(pair[1])
        return Task(item, future, partial(died, item))

    def stream(
        self,
        work: Callable[[T], R],
        items: Iterable[T],
        died: Callable[[T], R],
        effort: Effort[T] | None = None,
    ) -> Iterator[tuple[T, R]]:
        """Yield each item with its result, as they complete; raises FleetError."""
        waiting = iter(items)
        effort = effort or _equal_effort
        begun: dict[Any, _Begun] = {}
        try:
            self._begin(begun, work, waiting, effort)
            while begun:
                for future in self._completed(begun):
                    batch = begun.pop(future)
                    yield from self._results(future, batch, work, died)
                    del future
                self._begin(begun, work, waiting, effort)
        finally:
            if begun:
                self.client.cancel(list(begun), force=True)

    def stream_in_order(
        self, work: Callable[[T], R], items: Iterable[T], died: Callable[[T], R]
    ) -> Iterator[R]:
        """Yield the result of each item, in order."""
        early: dict[int, R] = {}
        following = 0
        numbered = partial(_numbered, work)
        for (number, _), result in self.stream(
            numbered, enumerate(items), partial(_numbered, died)
        ):
            early[number] = result
            while following in early:
                yield early.pop(following)
                following += 1

    def _begin(
        self,
        begun: dict[Any, _Begun],
        work: Callable[[T], R],
        waiting: Iterator[T],
        effort: Effort[T],
    ) -> None:
        """Send batches until all workers have enough to do."""
        wanted = _AHEAD * self.jobs
        while len(begun) < wanted:
            seconds: list[float] = []
            batch = pack_batch(_program_digest(), work, self._enough(waiting, effort, seconds))
            if not batch.blocks:
                return
            begun[self._send(batch)] = _Begun(batch, sum(seconds))

    def _enough(self, waiting: Iterator[T], effort: Effort[T], seconds: list[float]) -> Iterator[T]:
        """Yield the items of a batch, and add to `seconds` what each is expected to take."""
        for item in islice(waiting, _MOST_TASKS):
            seconds.append(effort(item))
            yield item
            if sum(seconds) * self._slowness >= _TARGET:
                return

    def _send(self, batch: Batch) -> Any:
        return self.client.submit(_run, batch, pure=False, retries=_RETRIES, key=None)

    def _completed(self, begun: dict[Any, _Begun]) -> list[Any]:
        """Wait until some batch is done; raises FleetError where no worker is left."""
        from distributed import wait  # noqa: PLC0415 - an extra

        alone_since: float | None = None
        while True:
            try:
                return list(wait(list(begun), _GLANCE, return_when="FIRST_COMPLETED").done)
            except TimeoutError:
                pass
            except Exception as error:
                raise FleetError(_lost(error)) from error
            if self.client.status not in ("running", "connecting"):
                raise FleetError(_lost("the connection was closed"))
            now = time.monotonic()
            alone_since = None if self.client.nthreads() else alone_since or now
            if alone_since is not None and now - alone_since > _PATIENCE:
                raise FleetError(f"The cluster has had no worker for {_PATIENCE:.0f} s. {_AGAIN}")

    def _results(
        self, future: Any, begun: _Begun, work: Callable[[T], R], died: Callable[[T], R]
    ) -> Iterator[tuple[T, R]]:
        """Yield the results of a batch; if it killed workers, of each of its items alone."""
        try:
            done = self._result(future)
        except BrokenExecutor:
            for item in begun.batch.items():
                yield item, self._alone(work, item, died)
            return
        self.batches += 1
        if begun.seconds:
            measured = done.seconds / begun.seconds
            self._slowness += _LEARNED * (measured - self._slowness)
        results = deque(done.results)
        del done
        for item in begun.batch.items():
            yield item, unpack(results.popleft())

    def _alone(self, work: Callable[[T], R], item: T, died: Callable[[T], R]) -> R:
        batch = pack_batch(_program_digest(), work, [item])
        future = self._send(batch)
        self._completed({future: _Begun(batch)})
        try:
            result: R = unpack(self._result(future).results[0])
        except BrokenExecutor:
            return died(item)
        return result

    def _result(self, future: Any) -> BatchResults:
        """Return the results of a batch; raises BrokenExecutor if it killed workers."""
        from distributed import KilledWorker  # noqa: PLC0415 - an extra

        try:
            done: BatchResults = future.result()
        except KilledWorker as error:
            raise BrokenExecutor from error
        except XlareportError:
            raise
        except Exception as error:
            if future.cancelled():
                raise FleetError(_lost(error)) from error
            words = f"{type(error).__name__}: {error}"
            raise FleetError(f"A worker failed: {words}. {_AGAIN}") from error
        return done


_AGAIN = "Run the same command again to continue from OUT/.cache, if workers can write to it."


def _lost(error: object) -> str:
    return f"The scheduler was lost ({error}). {_AGAIN}"


def _run(batch: Batch) -> BatchResults:
    """Do the tasks of a batch, in a worker."""
    if batch.program != _program_digest():
        raise FleetError(_foreign("that joined later", "another version of xlareport"))
    _prepare_worker()
    try:
        return do_batch(batch)
    except XlareportError:
        raise
    except Exception as error:  # noqa: BLE001 - its traceback may be too deep to travel: Dask then waits forever
        words = f"{type(error).__name__}: {error}"
        raise FleetError(f"A worker failed: {words}. {_AGAIN}") from None


def _equal_effort(_: object) -> float:
    """Return the expected seconds of a task without an estimate."""
    return 0.02


def _numbered(work: Callable[[T], R], pair: tuple[int, T]) -> R:
    return work(pair[1])


@cache
def _program_digest() -> str:
    return digest_program()


@cache
def _prepare_worker() -> None:
    """Let the worker collect garbage rarely, once in its life."""
    collect_rarely()
