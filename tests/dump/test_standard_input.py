"""Standard input as a file of a dump."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from xlareport.dump import standard_input
from xlareport.dump.spool import Spool
from xlareport.dump.standard_input import take_standard_input
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.limits import LIMITS


def take(monkeypatch: pytest.MonkeyPatch, folder: Path, data: bytes) -> tuple[str, bytes]:
    piped = SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: False)
    monkeypatch.setattr(standard_input.sys, "stdin", piped)
    name, location = take_standard_input(Spool(folder, LIMITS))
    return name, location.read_bytes()


@pytest.mark.parametrize(
    ("data", "ending"),
    [
        (b"HloModule m\n\nENTRY e {}\n", "txt"),
        (b'  {"traceEvents": []}', "json"),
        (b"\n\x05jit_f\x12\x02", "hlo.pb"),
        (b"\n2026-01-01 Compiling module jit_f\n", "log"),
    ],
)
def test_it_is_named_by_how_it_begins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: bytes, ending: str
) -> None:
    assert take(monkeypatch, tmp_path, data) == (f"standard-input.{ending}", data)


def test_nothing_on_standard_input_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(UnreadableInputError, match="Nothing came in"):
        take(monkeypatch, tmp_path, b"")


def test_a_terminal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(standard_input.sys, "stdin", terminal)
    with pytest.raises(UnreadableInputError, match="name a dump, or pipe one"):
        take_standard_input(Spool(tmp_path, LIMITS))
