import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "bench_module.py"


def test_the_benchmark_of_a_module_runs(data: Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, data / "jax-cpu-train", "train"],
        capture_output=True,
        text=True,
        check=True,
    )
    tables = done.stdout.split("together")
    assert len(tables) == 3
    assert "all" in tables[0]
    assert "without those that change nothing" in tables[1]
    assert tables[0].splitlines()[1] == tables[1].splitlines()[2]
