"""The benchmark of pictures runs on a small dump."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.walks import LONG_WALKS

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "bench_pictures.py"


@pytest.mark.skipif(not LONG_WALKS, reason="seven seconds: `make walks` does it")
def test_the_benchmark_of_pictures_runs(data: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, SCRIPT, data / "ipu-dot-only", "--runs", "1", "--json", report]
    done = subprocess.run(
        [*command, "--sizes", "400", "4000"], capture_output=True, text=True, check=True
    )
    assert "complete report" in done.stdout
    found = json.loads(report.read_text("utf-8"))
    assert found["against"]["files"] > 0
    assert found["against"]["ours"]["seconds"] > 0
    assert (found["against"]["dot"] is None) == (found["against"]["theirs"] is None)
    small, large, *_ = found["growth"]
    assert small["instructions"] < large["instructions"]
    assert all(row["failed"] == 0 and row["largest_bytes"] < 1_000_000 for row in found["growth"])
    assert all(row["first_boxes"] <= 200 for row in found["growth"])
