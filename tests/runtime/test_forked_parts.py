"""Parts of a task in forks of a process: the same results, whatever befalls a fork."""

import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

from xlareport.runtime import forked_parts
from xlareport.runtime.forked_parts import run_parts, share_processes

NUMBERS = list(range(20))


def squared(number: int) -> tuple[int, str]:
    return number * number, "x" * 100_000


def parts(work: Callable[[int], object] = squared) -> list[Callable[[], object]]:
    return [partial(work, number) for number in NUMBERS]


@pytest.mark.parametrize("processes", [1, 2, 3, 50])
def test_results_come_in_the_order_of_the_parts(processes: int) -> None:
    assert run_parts(parts(), processes) == [squared(number) for number in NUMBERS]


def test_several_processes_take_part_and_none_is_left() -> None:
    everybody = get_context("fork").Barrier(3)

    def work(number: int) -> int:
        if number < 3:
            everybody.wait(60)  # so that no process does the parts of one that begins late
        return os.getpid()

    processes = set(run_parts(parts(work), 3))
    assert len(processes) == 3
    for fork in processes - {os.getpid()}:
        with pytest.raises(ProcessLookupError):
            os.kill(fork, 0)


def test_what_a_part_raises_is_raised_here() -> None:
    def work(number: int) -> int:
        if number == 7:
            raise KeyError(number)
        return number

    with pytest.raises(KeyError, match="7"):
        run_parts(parts(work), 2)


def test_parts_of_a_fork_that_died_are_done_here() -> None:
    own = os.getpid()

    def work(number: int) -> int:
        if number in (3, 4) and os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.005)
        return number

    assert run_parts(parts(work), 3) == NUMBERS


def test_a_result_that_no_pipe_can_take_is_made_here() -> None:
    made = run_parts(
        parts(lambda number: partial(squared, number) if number else threading.Lock()), 2
    )
    assert [each() for each in made[1:]] == [squared(number) for number in NUMBERS[1:]]


def test_a_full_disk_or_no_more_processes_leave_the_work_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(forked_parts.tempfile, "TemporaryFile", refuse)
    assert run_parts(parts(), 3) == [squared(number) for number in NUMBERS]
    assert not list(tmp_path.iterdir())


def test_a_task_gets_its_share_of_processes() -> None:
    assert share_processes(400_000_000, 410_000_000, 8) == 8
    assert share_processes(200_000_000, 410_000_000, 8) == 4
    assert share_processes(5_000_000, 410_000_000, 8) == 1
    assert share_processes(100_000, 100_000, 8) == 1
