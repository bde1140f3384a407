"""Comparisons of pairs of dumps of which it is known what changed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.compare import compare
from xlareport.records.compare import ComparisonRecord
from xlareport.report import BuildOptions


def compared(base: Path, head: Path) -> ComparisonRecord:
    return compare(base, head, BuildOptions(), site=False).view


@pytest.fixture(scope="session")
def pairs(unpacked: Callable[[str], Path]) -> Path:
    return unpacked("pairs-unseen")
