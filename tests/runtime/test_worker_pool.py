"""Errands in processes: what comes of them, and what a death of one costs."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path

import pytest

from xlareport.runtime import worker_pool
from xlareport.runtime.worker_pool import InlineWorkers, Worker, WorkerPool, work_in_processes

pytestmark = pytest.mark.usefixtures("processes")
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


WORK = eval
"""A spawned process can import it, whichever way pytest imported this file."""
DIE = "__import__('os')._exit(1)"


def buried(thing: str) -> str:
    return f"died of {thing}"


@pytest.fixture(params=["spawned", "as this process may"])
def _begun(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "spawned":
        monkeypatch.setattr(worker_pool, "_context", lambda: get_context("spawn"))


@pytest.mark.usefixtures("_begun")
def test_every_thing_gets_its_result() -> None:
    found = dict(work_in_processes(["1 + 1", "2 + 2"], WORK, 2, buried))
    assert found == {"1 + 1": 2, "2 + 2": 4}


def test_nothing_to_do_is_no_error() -> None:
    assert list(work_in_processes([], WORK, 2, buried)) == []


@pytest.mark.usefixtures("_begun")
def test_a_death_costs_its_own_errand_only() -> None:
    found = dict(work_in_processes(["1", DIE, "2", f" {DIE}", "3", "4"], WORK, 2, buried))
    assert found.pop(DIE) == buried(DIE)
    assert found.pop(f" {DIE}") == buried(f" {DIE}")
    assert found == {"1": 1, "2": 2, "3": 3, "4": 4}


@pytest.mark.usefixtures("_begun")
def test_a_pool_works_on_after_a_death() -> None:
    with WorkerPool(2) as workers:
        assert workers.submit(WORK, DIE, buried).result() == buried(DIE)
        assert dict(workers.stream(WORK, ("20", "30"), buried)) == {"20": 20, "30": 30}


@pytest.mark.usefixtures("_begun")
def test_all_processes_start_with_the_pool() -> None:
    before = set(active_children())
    with WorkerPool(3) as workers:
        assert len(set(active_children()) - before) == 3
        assert workers.submit(WORK, DIE, buried).result() == buried(DIE)


@pytest.mark.usefixtures("_begun")
def test_an_exception_reaches_the_caller() -> None:
    with WorkerPool(1) as workers, pytest.raises(ZeroDivisionError):
        workers.submit(WORK, "1 / 0", buried).result()


def test_few_tasks_are_begun_ahead_of_their_results() -> None:
    taken: list[str] = []

    def items() -> Iterator[str]:
        for number in range(40):
            taken.append(str(number))
            yield str(number)

    with WorkerPool(1) as workers:
        results = workers.stream_in_order(WORK, items(), buried)
        assert next(results) == 0
        assert len(taken) < 10
        assert list(results) == list(range(1, 40))
        taken.clear()
        stream = workers.stream(WORK, items(), buried)
        next(stream)
        assert len(taken) < 10
        assert len(list(stream)) == 39


READY = partial(WORK, "40 + 2")


@pytest.mark.usefixtures("_begun")
def test_an_worker_answers_one_thing_after_another() -> None:
    with Worker(READY, WORK) as worker:
        assert [worker.ask(name, buried) for name in ("1 + 1", "2 + 2")] == [2, 4]
        assert worker.prepared == 42


@pytest.mark.usefixtures("_begun")
def test_an_worker_that_died_costs_no_more_than_its_answers() -> None:
    with Worker(READY, WORK) as worker:
        assert [worker.ask(one, buried) for one in (DIE, "2")] == [buried(DIE), buried("2")]
    with Worker(partial(WORK, DIE), WORK) as worker:
        assert worker.prepared is None
        assert worker.ask("2", buried) == buried("2")


def test_an_worker_ends_with_its_block_though_it_works() -> None:
    before = set(active_children())
    with Worker(partial(time.sleep, 60), WORK):
        (begun,) = set(active_children()) - before
    assert not begun.is_alive()


@pytest.mark.usefixtures("_begun")
def test_a_process_apart_ends_with_its_answer() -> None:
    with WorkerPool(1) as workers:
        answers = [workers.run_apart(WORK, "__import__('os').getpid()") for _ in range(2)]
        assert len({os.getpid(), *map(int, answers)}) == 3
        assert not any(_alive(int(process)) for process in answers)
    assert InlineWorkers().run_apart(WORK, "6 * 7") == 42


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text("ascii")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux who lives")
def test_workers_end_with_the_process_that_began_them() -> None:
    code = (
        "import os, time\n"
        "from xlareport.runtime.worker_pool import Worker, WorkerPool\n"
        "with WorkerPool(3) as pool:\n"
        "    print(*pool._pool._processes, flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        begun = [int(word) for word in one.stdout.readline().split()]
        assert begun
        one.kill()
    patience = time.monotonic() + 30
    while any(map(_alive, begun)) and time.monotonic() < patience:
        time.sleep(0.01)
    assert not any(map(_alive, begun))


@POSIX
def test_an_interrupt_ends_workers_without_a_word() -> None:
    code = (
        "import os, time\n"
        "from xlareport.runtime.worker_pool import Worker, WorkerPool\n"
        "try:\n"
        "    with WorkerPool(2) as pool:\n"
        "        pool.submit(time.sleep, 0, id).result()\n"
        "        print('begun', flush=True)\n"
        "        pool.submit(time.sleep, 60, id).result()\n"
        "except KeyboardInterrupt:\n"
        "    print('ended')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == "begun\n"
        os.killpg(one.pid, signal.SIGINT)
        said, complaints = one.communicate(timeout=30)
    assert (said, complaints) == ("ended\n", "")


def test_without_semaphores_the_work_is_done_in_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("xlareport.runtime.worker_pool.ProcessPoolExecutor", refuse)
    with WorkerPool(2) as workers:
        assert dict(workers.stream(abs, (-1, -2), lambda _: 0)) == {-1: 1, -2: 2}
        failed = workers.submit(len, 5, lambda _: 0)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            failed.result()


def test_inline_workers_work_here_and_pass_errors_on() -> None:
    here = os.getpid()
    found = dict(InlineWorkers().stream(lambda item: (item, os.getpid()), range(9), str))
    assert found == {item: (item, here) for item in range(9)}
    with pytest.raises(ZeroDivisionError):
        list(InlineWorkers().stream(lambda item: 1 // item, [1, 0], abs))
