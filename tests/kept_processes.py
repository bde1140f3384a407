"""What the builds of a run share: one MkDocs, this process for pools of one job, a digest.

Starting a process and importing everything in it costs more than a small build does.
"""

import pickle
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self

import pytest

from xlareport.runtime import worker_pool
from xlareport.runtime.worker_pool import InlineExecutor, WorkerPool
from xlareport.site import builder, kept_site
from xlareport.site.builder import MkdocsEnd, MkdocsRun, MkdocsWorker

START_POOL = WorkerPool.__init__
PROCESSES = worker_pool._pool  # noqa: SLF001 - what a test may change


class PicklingExecutor(InlineExecutor):
    """Does in this process what a worker would: on copies, and only with what can be pickled."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(_on_copies, pickle.dumps((fn, args, kwargs)))


def _on_copies(call: bytes) -> Any:
    work, args, kwargs = pickle.loads(call)  # noqa: S301 - our own
    return pickle.loads(pickle.dumps(work(*args, **kwargs)))  # noqa: S301 - our own


def start_pool(pool: WorkerPool, jobs: int) -> None:
    """Begin a pool without processes if it would have one, and no test has changed that."""
    START_POOL(pool, jobs)
    if jobs <= 1 and worker_pool._pool is PROCESSES:  # noqa: SLF001 - what a test may change
        pool._pool = PicklingExecutor()  # noqa: SLF001 - in place of processes


class KeptMkdocs(MkdocsWorker):
    """A process of MkDocs that stays for the next build from the same working directory."""

    def __init__(self) -> None:
        self.folder = Path.cwd()
        self.is_busy = False
        super().__init__()

    def __enter__(self) -> Self:
        self.is_busy = True
        return self

    def __exit__(self, *_: object) -> None:
        self.is_busy = False

    def ask(self, item: MkdocsRun, died: Callable[[MkdocsRun], MkdocsEnd]) -> MkdocsEnd:
        """Return the end of a run; after an interrupt its answer must not be the next run's."""
        try:
            return super().ask(item, died)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        super().__exit__()

    def is_usable(self) -> bool:
        return self._process.is_alive() and self.folder == Path.cwd()


class MkdocsKeeper:
    """Gives every build the process that is kept, or one of its own while that one is busy."""

    def __init__(self) -> None:
        self.kept: KeptMkdocs | None = None

    def worker(self) -> MkdocsWorker:
        if self.kept and self.kept.is_busy:
            return MkdocsWorker()
        if self.kept and not self.kept.is_usable():
            self.kept.end()
            self.kept = None
        self.kept = self.kept or KeptMkdocs()
        return self.kept


def share_processes() -> None:
    """Let all builds of this run do so."""
    patch = pytest.MonkeyPatch()
    patch.setattr(builder, "MkdocsWorker", MkdocsKeeper().worker)
    patch.setattr(WorkerPool, "__init__", start_pool)
    patch.setattr(kept_site, "user_folder", lambda: None)  # what tests alter stays in their folders
