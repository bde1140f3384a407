"""Markers: a text of one program is found wherever it stands."""

import re
import signal

import pytest
from tests.analysis.located_module import TEXT

from xlareport.analysis.modules import marker
from xlareport.analysis.modules.marker import (
    BadMarkerError,
    SlowMarkerError,
    compile_marker,
    find_marker,
)
from xlareport.hlo.text import TextReader


def snapshots() -> list[object]:
    reader = TextReader()
    return [reader.read(TEXT.encode(), path) for path in ("a.txt", "b.txt")]


@pytest.mark.parametrize("marker", ["my_marker", "negate", r"f32\[3\]", "bitwise"])
def test_it_is_found_in_op_names_opcodes_shapes_and_names(marker: str) -> None:
    hit = find_marker(snapshots(), re.compile(marker))  # type: ignore[arg-type]
    assert hit is not None
    assert hit.instructions >= 1


def test_shared_instructions_count_once_over_all_snapshots() -> None:
    hit = find_marker(snapshots(), re.compile("my_marker"))  # type: ignore[arg-type]
    assert hit is not None
    assert (hit.instructions, hit.first) == (1, "bitwise.7")


def test_it_is_found_in_source_lines() -> None:
    hit = find_marker(snapshots(), re.compile(r"model\.py:12"))  # type: ignore[arg-type]
    assert hit is not None
    assert "loss" in hit.first


def test_what_is_nowhere_is_not_found() -> None:
    assert find_marker(snapshots(), re.compile("absent")) is None  # type: ignore[arg-type]


def test_a_broken_expression_is_named_with_its_reason() -> None:
    with pytest.raises(BadMarkerError, match="not a regular expression"):
        compile_marker("(")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system cannot end a search")
def test_a_search_that_takes_ages_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marker, "SECONDS", 0.05)
    long = TEXT.replace("bitwise.7", "a" * 60).encode()
    former = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(SlowMarkerError, match="--marker"):
        find_marker([TextReader().read(long, "a.txt")], re.compile("(a+)+!"))  # type: ignore[list-item]
    assert signal.getsignal(signal.SIGVTALRM) is former
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
