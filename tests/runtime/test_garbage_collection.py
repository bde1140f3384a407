"""When Python collects garbage: as before once the work is done, whatever came of it."""

import gc

import pytest

from xlareport.runtime.garbage_collection import no_collections, rare_collections


def _fail() -> None:
    with no_collections():
        raise ValueError(f"off: {not gc.isenabled()}")


@pytest.mark.parametrize("enabled", [True, False])
def test_what_was_on_before_is_on_again(*, enabled: bool) -> None:
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(ValueError, match="off: True"):
            _fail()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_collections_are_rare_and_then_as_before() -> None:
    of_the_tests = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    try:
        with rare_collections():
            assert gc.get_threshold()[0] > 100_000
        assert gc.get_threshold() == (700, 10, 10)
    finally:
        gc.set_threshold(*of_the_tests)
