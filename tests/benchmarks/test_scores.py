"""What was recorded of the scores is reached again, and the guide shows it."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.walks import LONG_WALKS

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


long = pytest.mark.skipif(not LONG_WALKS, reason="a minute of work: `make walks` does it")


def checked(script: str) -> str:
    """Return what a script prints when its check passes."""
    command = [sys.executable, BENCHMARKS / script, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@long
def test_as_many_trails_as_recorded_end_where_tags_say() -> None:
    assert "shared op_names, every snapshot, all, back" in checked("score_trails.py")


@long
def test_steps_and_histories_break_no_more_than_recorded() -> None:
    assert "steps that change something" in checked("score_steps.py")


def test_the_guide_shows_the_recorded_scores() -> None:
    checked("publish.py")
    page = BENCHMARKS.parent / "site_src/guide/matching.md"
    assert "| shared | all |" in page.read_text(encoding="utf-8")
