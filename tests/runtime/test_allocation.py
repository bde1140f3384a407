"""Large blocks go back to the system."""

import subprocess
import sys

import pytest

GROWS = """
import sys
from pathlib import Path
from xlareport.runtime.allocation import give_back_large_blocks

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


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for resident memory")
def test_freed_blocks_are_not_resident() -> None:
    command = [sys.executable, "-c", GROWS]
    given = subprocess.run([*command, "give"], check=True, capture_output=True, text=True)
    assert int(given.stdout) >= 19 << 20
