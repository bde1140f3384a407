"""Reports by a cluster of Dask: the same bytes, whatever happens to its workers.

Needs `xlareport[dask]`: `make test-dask` runs these with it, `make test` skips them.
"""

import errno
import gc
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.test_report import Unpack, files_of

from xlareport.module_work import tasks
from xlareport.report import BuildOptions, build
from xlareport.runtime.errors import XlareportError
from xlareport.runtime.fleet import FleetError, open_fleet
from xlareport.runtime.resources import PACKAGE

dask = pytest.importorskip("dask", reason="Dask is an extra: make test-dask")
distributed = pytest.importorskip("distributed", reason="Dask is an extra: make test-dask")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SMALL = "jax-cpu-two-runs"
KILLS = int(os.environ.get("XLAREPORT_KILLS", "3"))
"""How many workers are killed; 50 were tried by hand."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Return a scheduler with two worker processes."""
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def local(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a site that processes of this machine made."""
    out = tmp_path_factory.mktemp("local")
    build(unpacked(SMALL), BuildOptions(out=out, html=False))
    return files_of(out / "site_src")


def dying(_: object) -> str:
    os._exit(1)


def died(item: object) -> str:
    return f"{item} died"


def test_results_come_in_order_and_in_batches(cluster: Any) -> None:
    with open_fleet(cluster.scheduler_address) as fleet:
        items = range(-300, 0)
        assert list(fleet.stream_in_order(abs, items, abs)) == [abs(item) for item in items]
        assert fleet.batches < 100
        assert sorted(fleet.stream(abs, [-1, 2], abs)) == [(-1, 1), (2, 2)]


def test_what_a_task_raises_is_told(cluster: Any) -> None:
    with (
        open_fleet(cluster.scheduler_address) as fleet,
        pytest.raises(FleetError, match="A worker failed: TypeError"),
    ):
        list(fleet.stream(len, [5], len))


def test_a_task_that_kills_its_workers_costs_itself_alone() -> None:
    """On a cluster of its own: Dask may give up a worker that dies while it starts."""
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        open_fleet(cluster.scheduler_address) as fleet,
    ):
        work = "__import__('os')._exit(1)"
        found = dict(fleet.stream(eval, ["1 + 1", work], died))
        assert found == {"1 + 1": 2, work: f"{work} died"}


def test_a_cluster_makes_the_same_site(
    cluster: Any, local: dict[str, bytes], unpacked: Unpack, tmp_path: Path
) -> None:
    options = BuildOptions(out=tmp_path, html=False, scheduler=cluster.scheduler_address)
    told: list[tuple[str, int, int]] = []
    build(unpacked(SMALL), options, lambda *step: told.append(step))
    assert files_of(tmp_path / "site_src") == local
    reading = [step for step in told if step[0] == "reading modules"]
    assert reading[-1][1] == reading[-1][2] > 1


def test_steps_of_large_modules_are_matched_by_all_workers(
    cluster: Any, unpacked: Unpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = unpacked("jax-cpu-train")
    build(dump, BuildOptions(out=tmp_path / "local", html=False))
    monkeypatch.setattr(tasks, "LARGE", 0)
    told: list[tuple[str, int, int]] = []
    options = BuildOptions(
        out=tmp_path / "cluster", html=False, scheduler=cluster.scheduler_address
    )
    for matched in (True, False):
        told.clear()
        build(dump, options, lambda *step: told.append(step))
        assert any(step[0].startswith("matching") for step in told) is matched  # else it is kept
        assert files_of(tmp_path / "cluster/site_src") == files_of(tmp_path / "local/site_src")


def test_killed_workers_cost_time_only(unpacked: Unpack, tmp_path: Path) -> None:
    """Kill workers at random moments, again and again, until so many builds had a victim."""
    build(unpacked(SMALL), BuildOptions(out=tmp_path / "local", html=False, pictures="none"))
    local = files_of(tmp_path / "local/site_src")
    killed: list[int] = []
    chance = random.Random(27)  # noqa: S311 - which worker, and when
    config = {"distributed.scheduler.allowed-failures": 20}
    with (
        dask.config.set(config),
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
    ):
        cluster.adapt(minimum=2, maximum=2, interval="1s")  # replaces those that Dask gives up
        for number in range(4 * KILLS):
            ended = threading.Event()
            victim = threading.Thread(target=_kill_later, args=(cluster, chance, ended, killed))
            victim.start()
            out, address = tmp_path / str(number), cluster.scheduler_address
            options = BuildOptions(out=out, html=False, pictures="none", scheduler=address)
            build(unpacked(SMALL), options)
            ended.set()
            victim.join()
            assert files_of(out / "site_src") == local
            shutil.rmtree(out)
            if len(killed) >= KILLS:
                break
    assert len(killed) == KILLS


def _kill_later(
    cluster: Any, chance: random.Random, ended: threading.Event, killed: list[int]
) -> None:
    """Kill one worker at some moment of the build; not one that only starts, which Dask gives up.

    The last one that runs is left, so that there is always somebody to go on.
    """
    ended.wait(chance.uniform(0.1, 1.5))
    running = [worker for worker in cluster.workers.values() if worker.worker_address]
    running = [each for each in running if each.worker_address in cluster.scheduler.workers]
    if len(running) > 1 and not ended.is_set():
        victim = chance.choice(running).pid
        os.kill(victim, signal.SIGKILL)
        killed.append(victim)


def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    edited, known = tmp_path / "edited", tmp_path / "scheduler.json"
    shutil.copytree(PACKAGE, edited / "xlareport")
    for name in ("templates", "site_src"):
        shutil.copytree(PACKAGE.parent.parent / name, edited / "xlareport" / name)
    with (edited / "xlareport/report.py").open("a", encoding="utf-8") as file:
        file.write("# edited\n")
    with _started("scheduler", known, edited):
        while not known.exists():
            time.sleep(0.1)
        with (
            _started("worker", known, edited, "--nthreads", "1"),
            pytest.raises(FleetError, match="other sources of xlareport"),
        ):
            open_fleet(str(known)).__enter__()


@pytest.mark.skipif(sys.platform != "linux", reason="asks for limits of Linux")
def test_a_worker_whose_disk_is_full_makes_the_same_site(
    local: dict[str, bytes], unpacked: Unpack, tmp_path: Path
) -> None:
    """One worker can write no more than so many bytes into a file, then nothing at all."""
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster:
        for room in (20_000, 0):
            with distributed.Client(cluster) as client:
                full = next(iter(client.scheduler_info()["workers"]))
                filled = client.run(_fill_disk, room, tmp_path / "file", workers=[full])
                assert filled == {full: errno.EFBIG}
            out = tmp_path / str(room)
            options = BuildOptions(out=out, html=False, scheduler=cluster.scheduler_address)
            build(unpacked(SMALL), options)
            assert files_of(out / "site_src") == local


def _fill_disk(room: int, path: Path) -> int | None:
    """Leave this process, and those that it begins, so many bytes in a file; return the error."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    try:
        path.write_bytes(bytes(room + 1))
    except OSError as error:
        return error.errno
    return None


def test_what_was_sent_does_not_stay_in_memory(tmp_path: Path) -> None:
    """Dask keeps the latest messages, unless told otherwise: they hold all items."""
    number, size, known = 4_000, 500, tmp_path / "scheduler.json"
    here = PACKAGE.parent
    with _started("scheduler", known, here), _started("worker", known, here, "--nthreads", "1"):
        while not known.exists():
            time.sleep(0.1)
        with open_fleet(str(known)) as fleet:
            assert list(fleet.stream_in_order(len, [b"first"], len)) == [len(b"first")]
            tracemalloc.start()
            try:
                items = (os.urandom(size) for _ in range(number))
                assert sum(fleet.stream_in_order(len, items, len)) == number * size
                gc.collect()
                left, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
    assert left < number * size / 2


@contextmanager
def _started(what: str, known: Path, packages: Path, *more: str) -> Iterator[None]:
    """Run a scheduler or a worker of Dask with packages of its own."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard"]
    process = subprocess.Popen(
        [*command, "--scheduler-file", str(known), *more],
        env={**os.environ, "PYTHONPATH": str(packages)},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def test_a_dump_that_workers_do_not_see_is_refused(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(FleetError, match="does not see"):
        open_fleet(cluster.scheduler_address, tmp_path / "nothing").__enter__()


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        ("tcp://127.0.0.1:1", "No scheduler of Dask answers at tcp://127.0.0.1:1"),
        ("local:none", "names no number of processes"),
        ("nowhere", "is no address"),
        ("dask", "names no scheduler"),
    ],
)
def test_what_is_no_scheduler_is_said(
    scheduler: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xlareport.runtime.fleet._TIMEOUT", "1s")
    with pytest.raises(XlareportError, match=message):
        open_fleet(scheduler).__enter__()


def test_a_killed_client_goes_on_with_what_is_kept(
    cluster: Any, local: dict[str, bytes], unpacked: Unpack, tmp_path: Path
) -> None:
    dump = unpacked(SMALL)
    command = [sys.executable, "-m", "xlareport", "build", str(dump), "--out", str(tmp_path)]
    command += ["--no-html", "--quiet", "--scheduler", cluster.scheduler_address]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as client:
        kept = tmp_path / ".cache/xlareport/modules"
        while client.poll() is None and len(list(kept.glob("*/*.kept"))) < 2:
            time.sleep(0.02)
        client.kill()
    assert not (tmp_path / "site_src").exists()
    before = {path: path.stat().st_ino for path in kept.glob("*/*.kept")}
    assert before
    build(dump, BuildOptions(out=tmp_path, html=False, scheduler=cluster.scheduler_address))
    assert files_of(tmp_path / "site_src") == local
    again = [path for path, number in before.items() if path.stat().st_ino != number]
    assert not again, "what was kept is not read again"
