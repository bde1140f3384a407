"""Every seed of the fuzzers, and what they found, passes the check of its target."""

import importlib
from pathlib import Path

import pytest

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
TARGETS = sorted(path.name for path in CORPUS.iterdir())


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_passes(name: str) -> None:
    check = importlib.import_module(f"targets.{name}").check
    seeds = sorted((CORPUS / name).iterdir())
    assert seeds
    for seed in seeds:
        check(seed.read_bytes())


def test_every_target_has_a_corpus() -> None:
    files = (CORPUS.parent / "targets").glob("*.py")
    checked = {file.stem for file in files if "def check(" in file.read_text("utf-8")}
    assert checked == set(TARGETS)
