"""The benchmark of budgets runs on a small dump and names every budget."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.walks import LONG_WALKS

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "bench_site.py"
BUDGETS = ("every report has", "home page open", "largest page", "a key of", "after a key")


@pytest.mark.browser
@pytest.mark.skipif(not LONG_WALKS, reason="a quarter of a minute: `make walks` does it")
def test_the_benchmark_of_budgets_runs(data: Path, chromium: str) -> None:
    assert chromium
    done = subprocess.run(
        [sys.executable, SCRIPT, data / "jax-cpu-train", "--steps", "60"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(budget in done.stdout for budget in BUDGETS)
    assert "MB" in done.stdout
