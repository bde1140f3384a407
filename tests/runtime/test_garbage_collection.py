"""When Python collects garbage: as before once the work is done, whatever came of it."""

import gc
import subprocess
import sys

import pytest

from xlareport.runtime.garbage_collection import no_collections, rare_collections

GROWS = """
import sys
from pathlib import Path
from xlareport.runtime.garbage_collection import give_back_large_blocks

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if "give" in sys.argv:
    give_back_large_blocks()
large = b"x" * (1 << 24)
del large  # which raises the limit of glibc
blocks = [b"x" * size for size in [1 << 20, 600] * 20]  # small ones between large ones
before = resident()
del blocks[::2]
print(before - resident())
"""


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


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for resident memory")
def test_freed_blocks_are_not_resident() -> None:
    command = [sys.executable, "-c", GROWS]
    given = subprocess.run([*command, "give"], check=True, capture_output=True, text=True)
    assert int(given.stdout) >= 19 << 20
