"""What the tests that run programs need: an interpreter with jax."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from xlareport.replay.child_process import Bounds, Child


@pytest.fixture(scope="session")
def jax_python() -> str:
    named = os.environ.get("XLAREPORT_REPLAY_PYTHON")
    if named:
        return named
    if importlib.util.find_spec("jaxlib") is None:
        pytest.skip("needs jax: `make test-replay`, or name an interpreter that has it")
    return sys.executable


@pytest.fixture
def child(jax_python: str, tmp_path: Path) -> Iterator[Child]:
    with Child(jax_python, tmp_path, Bounds(seconds=60)) as child:
        yield child
