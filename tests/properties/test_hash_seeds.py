"""A report is the same bytes in every run, whatever seed Python hashes strings with.

A process has one seed, so that builds of one process agree on the order of each set.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.walks import LONG_WALKS

DATA = Path(__file__).parent.parent / "data"
SMALL = ["resharded.tar.zst"]
DUMPS = sorted(path.name for path in DATA.glob("*.tar.zst") if not path.name.startswith("labelled"))
"""One module or a few of each device and framework; the labelled ones are many of few steps."""
SEEDS = ("1", "2")
BUILD = """
import hashlib, sys
from pathlib import Path
from xlareport.report import BuildOptions, build
dump, out = map(Path, sys.argv[1:])
build(dump, BuildOptions(out=out, html=False))
for path in sorted((out / "site_src").rglob("*")):
    if path.is_file():
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.relative_to(out))
"""


@pytest.mark.parametrize("name", DUMPS if LONG_WALKS else SMALL)
def test_a_report_is_the_same_under_every_seed(name: str, tmp_path: Path) -> None:
    first, second = (files_built(DATA / name, tmp_path / seed, seed) for seed in SEEDS)
    assert len(first) > 20
    assert sorted(first ^ second) == []


def files_built(dump: Path, out: Path, seed: str) -> set[str]:
    """Return the digest and the path of each file of a report that is built under a seed."""
    return {
        *subprocess.run(
            [sys.executable, "-c", BUILD, dump, out],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
    }
