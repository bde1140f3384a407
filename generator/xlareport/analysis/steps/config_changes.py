"""The fields of an instruction's backend config that differ."""

import json
from collections.abc import Iterator, Mapping

from xlareport.analysis.steps.details import ConfigChange, FieldChange
from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.model import Instruction
from xlareport.runtime import english

_DEEPEST = 4
_LONGEST = 40
"""Characters of a value that is repeated."""
_LONGEST_CHOICE = 80
_MOST_CHOICES = 6
"""Fields of a new message that are named; a tile of a Triton GEMM has as many."""
_DEFAULTS = ("DEFAULT", "INVALID", "UNSPECIFIED")
"""Ends of the words that state no choice."""


def config_change(before: Instruction, after: Instruction) -> ConfigChange | None:
    """Return the fields that were set, changed and cleared; None if unreadable or unchanged."""
    old, new = read_backend_config(before), read_backend_config(after)
    if not isinstance(new, dict) or not isinstance(old, dict | None):
        return None
    try:
        fields = sorted(_changes(old or {}, new, 0), key=lambda field: field.is_default)
    except RecursionError:  # equality of what is nested too deeply
        return None
    return ConfigChange(tuple(fields)) if fields else None


def _changes(
    old: Mapping[str, object], new: Mapping[str, object], depth: int
) -> Iterator[FieldChange]:
    """Yield the fields that differ, those inside of others by their own names."""
    for name in {**new, **old}:
        was, now = old.get(name), new.get(name)
        if was == now or (_is_empty(was, 0) and _is_empty(now, 0)):
            continue
        if depth < _DEEPEST and isinstance(was, dict) and isinstance(now, dict):
            yield from _changes(was, now, depth + 1)
        elif _is_empty(was, 0):
            values = _value(" to ", now) or _choices(now)
            yield FieldChange("set", name, values, _is_default(now, 0))
        elif _is_empty(now, 0):
            yield FieldChange("cleared", name)
        else:
            yield FieldChange("changed", name, f"{_value(' from ', was)}{_value(' to ', now)}")


def _choices(value: object) -> str:
    """Return what a new message states: its numbers and words that are no defaults."""
    if not isinstance(value, dict):
        return ""
    if _is_default(value, 0):
        return " to defaults"
    chosen = [
        f"{name} {_written(stated)}"
        for name, stated in value.items()
        if not isinstance(stated, dict | list) and not _is_default(stated, 0)
    ]
    named = [words for words in chosen if len(words) <= _LONGEST_CHOICE][:_MOST_CHOICES]
    more = [f"{len(chosen) - len(named)} more"] if len(chosen) > len(named) else []
    return f" with {english.listing([*named, *more])}" if named else ""


def _written(value: object) -> str:
    """Return a value as JSON; a number that JSON has as a word, as the number."""
    is_number = isinstance(value, str) and value.removeprefix("-").isdecimal()
    return str(value) if is_number else json.dumps(value)


def _is_default(value: object, depth: int) -> bool:
    """Whether a value states nothing: zero, false, or a word for a default."""
    if isinstance(value, dict):
        return depth < _DEEPEST and all(_is_default(part, depth + 1) for part in value.values())
    if isinstance(value, str):
        return value in ("", "0") or value.endswith(_DEFAULTS)
    return not value


def _is_empty(value: object, depth: int) -> bool:
    """Whether a value holds nothing, but for empty lists and messages."""
    if isinstance(value, dict) and depth < _DEEPEST:
        return all(_is_empty(item, depth + 1) for item in value.values())
    return value is None or value in ("", [], {})


def _value(preposition: str, value: object) -> str:
    """Return a short value as JSON after a preposition; '' for long and nested values."""
    if isinstance(value, dict | list):
        return ""
    text = json.dumps(value)
    return f"{preposition}{text}" if len(text) <= _LONGEST else ""
