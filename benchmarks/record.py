"""The record of what was measured last: `scores.toml`, of which the guide's page is made."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

_RECORD = Path(__file__).resolve().parent / "scores.toml"
_HEAD = "# What `make score` measured last, and what the guide shows. Not to be edited by hand.\n"
Row = Mapping[str, str | int]
"""What was measured of what: names and counts."""


def recorded(section: str) -> Sequence[Row]:
    """Return the rows of a section; none where it was never measured."""
    rows: Sequence[Row] = _read().get(section, ())
    return rows


def record(section: str, rows: Sequence[Row]) -> None:
    """Replace the rows of a section."""
    sections = {**_read(), section: rows}
    tables = (_table(name, row) for name in sorted(sections) for row in sections[name])
    _RECORD.write_text(_HEAD + "".join(tables), encoding="utf-8")


def _read() -> dict[str, Sequence[Row]]:
    return tomllib.loads(_RECORD.read_text(encoding="utf-8")) if _RECORD.exists() else {}


def _table(section: str, row: Row) -> str:
    lines = (f"{key} = {_value(value)}\n" for key, value in row.items())
    return f"\n[[{section}]]\n{''.join(lines)}"


def _value(value: str | int) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'
