"""The pytest plugin: a fixture that captures how XLA compiles a program.

Every pytest session loads it, so the library is imported when the fixture is used.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xlareport.api import Report


@pytest.fixture
def xla_capture(tmp_path: Path) -> "Callable[[Sequence[str]], Report]":
    """Return a function that runs a command so that XLA dumps, and returns the report.

    The test fails where the command does, or where XLA dumped nothing.
    """
    from xlareport.testing import capture_report  # noqa: PLC0415 - only tests that ask

    taken: list[Path] = []

    def capture(command: Sequence[str]) -> "Report":
        taken.append(tmp_path / f"xla-dump-{len(taken)}")
        return capture_report(command, taken[-1])

    return capture
