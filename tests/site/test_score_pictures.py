"""The score of pictures runs on the report of a small real dump, and finds its promises kept."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.walks import LONG_WALKS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not LONG_WALKS, reason="a quarter of a minute: `make walks` does it"),
]

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "score_pictures.py"


@pytest.mark.usefixtures("chromium")
def test_the_promises_of_pictures_are_kept(real_site: Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, real_site], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    heads, row = done.stdout.splitlines()
    found = dict(zip(heads.split()[1:], row.split()[1:], strict=True))
    assert int(found["pictures"]) > 50
    assert int(found["instructions"]) > 100
    assert found["unreached"] == "0"
