"""The fields of an instruction's backend config that differ."""

import json
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

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
_FEW_FIELDS = 3
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
    if [_is_id(field.name) for field in fields] == [True]:
        fields = [replace(fields[0], is_default=False)]
    if not fields and old != new:
        fields = [_quiet_field(old or {}, new)]
    return ConfigChange(tuple(fields)) if fields else None


def _is_id(name: str) -> bool:
    """Return whether a field is an id, which states something where it alone was set, even as 0.

    Where a pass writes out all fields, one of them may be an id that nothing was given.
    """
    return name.endswith("_id")


def _quiet_field(old: Mapping[str, object], new: Mapping[str, object]) -> FieldChange:
    """Return what is written where no field states anything else than before."""
    if new.keys() - old.keys():
        return FieldChange("set", "empty fields", is_default=True)
    return FieldChange("wrote", "the same values", " in another form", is_default=True)


def _changes(
    old: Mapping[str, object], new: Mapping[str, object], depth: int
) -> Iterator[FieldChange]:
    """Yield the fields that differ, those inside of others by their own names."""
    for name in {**new, **old}:
        was, now = old.get(name), new.get(name)
        if _is_same(was, now) or (_is_empty(was, 0) and _is_empty(now, 0)):
            continue
        if depth < _DEEPEST and isinstance(was, dict) and isinstance(now, dict):
            yield from _changes(was, now, depth + 1)
        elif _is_empty(was, 0):
            values = _value_words(" to ", now) or _choices(now)
            yield FieldChange("set", name, values, _is_default(now, 0))
        elif _is_empty(now, 0):
            yield FieldChange("cleared", name)
        else:
            yield FieldChange(
                "changed", name, f"{_value_words(' from ', was)}{_value_words(' to ', now)}"
            )


def _is_same(was: object, now: object) -> bool:
    """Whether two values are equal; protos in JSON have 64-bit numbers as words, such as "1"."""
    one_is_word = isinstance(was, str) != isinstance(now, str)
    if one_is_word and not isinstance(was, bool) and not isinstance(now, bool):
        return isinstance(was, str | int) and isinstance(now, str | int) and str(was) == str(now)
    return was == now


def _choices(value: object) -> str:
    """Return what a new message or list states: numbers and words that are no defaults.

    Of a message with few fields also the zeros: they are what the pass found.
    """
    if isinstance(value, list):
        listed = _list_words(value)
        return f" to {listed}" if listed else ""
    if not isinstance(value, dict):
        return ""
    stated = {name: known for name, known in value.items() if _is_stated(known, len(value))}
    if not stated:
        return " to defaults" if _is_default(value, 0) else ""
    chosen = [f"{name} {words}" for name, known in stated.items() if (words := _json_text(known))]
    named = [words for words in chosen if len(words) <= _LONGEST_CHOICE][:_MOST_CHOICES]
    more = [f"{len(chosen) - len(named)} more"] if len(chosen) > len(named) else []
    return f" with {english.listing([*named, *more])}" if named else ""


def _is_stated(value: object, fields: int) -> bool:
    """Return whether a field of a new message, which has so many, states something."""
    if isinstance(value, dict):
        return False
    return not _is_default(value, 0) or (fields <= _FEW_FIELDS and str(value) == "0")


def _list_words(values: Sequence[object]) -> str:
    """Return the numbers of a list, of several the sizes of tiles: `[16]`, `[[1,16,8]]`."""
    parts = [value.get("sizes") if isinstance(value, dict) else value for value in values]
    words = [_list_words(part) if isinstance(part, list) else str(part) for part in parts]
    is_plain = all(words) and all(isinstance(part, list | int | str) for part in parts)
    text = f"[{','.join(words)}]"
    return text if words and is_plain and len(text) <= _LONGEST else ""


def _json_text(value: object) -> str:
    """Return a value as JSON; a number that JSON has as a word, as the number."""
    if isinstance(value, list):
        return _list_words(value)
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


def _value_words(preposition: str, value: object) -> str:
    """Return a short value as JSON after a preposition; '' for long and nested values."""
    if isinstance(value, dict | list):
        return ""
    text = json.dumps(value)
    return f"{preposition}{text}" if len(text) <= _LONGEST else ""
