"""What builds of a run share is as strict as processes, and never an ended process."""

from pickle import PicklingError

import pytest
from tests.kept_processes import MkdocsKeeper

from xlareport.runtime.worker_pool import WorkerPool

VALUE = ["x"]


def test_a_pool_of_one_job_works_on_copies() -> None:
    with WorkerPool(1) as workers:
        result = workers.submit(list, VALUE, list).result()
        work = list.append
        assert workers.submit(work, VALUE, work).future.exception()
    assert result == VALUE
    assert result is not VALUE
    assert VALUE == ["x"]


def test_it_takes_only_what_can_be_sent_to_a_process() -> None:
    with WorkerPool(1) as workers, pytest.raises((PicklingError, AttributeError)):
        workers.submit(lambda value: value, VALUE, list)


def test_mkdocs_that_has_ended_is_started_again() -> None:
    keeper = MkdocsKeeper()
    first = keeper.worker()
    assert keeper.worker() is first
    assert keeper.kept
    keeper.kept.end()
    second = keeper.worker()
    assert second is not first
    assert keeper.kept.is_usable()
    keeper.kept.end()
