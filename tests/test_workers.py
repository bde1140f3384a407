"""Errands in processes: what comes of them, and what a death of one costs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xlareport.workers import Crew, as_they_come, work_in_processes

POSIX = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def half(number: int) -> int:
    """Halve a number, but die of 13."""
    if number == 13:
        os._exit(1)
    return number // 2


def buried(number: int) -> int:
    return -number


def refused(number: int) -> int:
    raise ValueError(number)


def test_every_thing_gets_its_result() -> None:
    assert dict(work_in_processes([2, 4, 6], half, 2, buried)) == {2: 1, 4: 2, 6: 3}


def test_nothing_to_do_is_no_error() -> None:
    assert list(work_in_processes([], half, 2, buried)) == []


def test_a_death_costs_its_own_errand_only() -> None:
    found = dict(work_in_processes([2, 13, 4, 13, 6, 8], half, 2, buried))
    assert found == {2: 1, 13: -13, 4: 2, 6: 3, 8: 4}


def test_a_crew_works_on_after_a_death() -> None:
    with Crew(2) as crew:
        assert crew.submit(half, 13, buried).result() == -13
        again = [crew.submit(half, one, buried) for one in (20, 30)]
        assert {one.thing: one.result() for one in as_they_come(again)} == {20: 10, 30: 15}


def test_an_exception_reaches_the_caller() -> None:
    with Crew(1) as crew, pytest.raises(ValueError, match="7"):
        crew.submit(refused, 7, buried).result()


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
        "from xlareport.workers import Crew\n"
        "with Crew(3) as crew:\n"
        "    print(*crew._pool._processes, flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        workers = [int(word) for word in one.stdout.readline().split()]
        assert workers
        one.kill()
    patience = time.monotonic() + 30
    while any(map(_alive, workers)) and time.monotonic() < patience:
        time.sleep(0.01)
    assert not any(map(_alive, workers))


@POSIX
def test_an_interrupt_ends_workers_without_a_word() -> None:
    code = (
        "import os, time\n"
        "from xlareport.workers import Crew\n"
        "try:\n"
        "    with Crew(2) as crew:\n"
        "        crew.submit(time.sleep, 0, id).result()\n"
        "        print('begun', flush=True)\n"
        "        crew.submit(time.sleep, 60, id).result()\n"
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
