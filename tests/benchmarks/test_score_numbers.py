"""Scores of where numbers may change: a module that takes too long ends nothing."""

import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import TimeoutExpired

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import score_numbers
from score_numbers import Verdict


def test_a_module_that_takes_too_long_is_not_run(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verdicts(_: str, files: score_numbers.ModuleFiles) -> Iterator[Verdict]:
        yield Verdict("a step", differs=True, named=("precision",))
        if files.name == "jit_train_step":
            raise TimeoutExpired("python", 300)

    monkeypatch.setattr(score_numbers, "verdicts", verdicts)
    monkeypatch.setattr(score_numbers, "jax_python", lambda: "python")
    monkeypatch.setattr(sys, "argv", ["score_numbers.py", str(data / "jax-cpu-train")])
    score_numbers.main()
    output = capsys.readouterr().out
    assert "not run, takes over 300 s: jax-cpu-train/module_0002.jit_train_step" in output
    assert "right        3\n" in output
    assert "modules not run: 1\n" in output
