"""Differences of two `backend_config`s, by field name."""

import json
from collections.abc import Iterator, Mapping

from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.model import Instruction

_DEEPEST = 4
_NAMED = 4
_LONGEST = 40
"""Characters of a value that is repeated."""
_LONGEST_CHOICE = 80
_DEFAULTS = ("DEFAULT", "INVALID", "UNSPECIFIED")
"""Ends of the words that state no choice."""


def config_change(before: Instruction, after: Instruction) -> str:
    """Return the fields that were set, changed and cleared; '' if unreadable or unchanged."""
    old, new = read_backend_config(before), read_backend_config(after)
    if not isinstance(new, dict) or not isinstance(old, dict | None):
        return ""
    try:
        changes = list(_changes(old or {}, new, 0))
    except RecursionError:  # equality of what is nested too deeply
        return ""
    more = [f"{len(changes) - _NAMED} more"] if len(changes) > _NAMED else []
    return f"backend_config: {', '.join([*changes[:_NAMED], *more])}" if changes else ""


def _changes(old: Mapping[str, object], new: Mapping[str, object], depth: int) -> Iterator[str]:
    """Yield the fields that differ, those inside of others by their own names."""
    for name in {**new, **old}:
        was, now = old.get(name), new.get(name)
        if was == now or (_is_empty(was, 0) and _is_empty(now, 0)):
            continue
        if depth < _DEEPEST and isinstance(was, dict) and isinstance(now, dict):
            yield from _changes(was, now, depth + 1)
        elif _is_empty(was, 0):
            yield f"set {name}{_value(' to ', now) or _choice(now)}"
        elif _is_empty(now, 0):
            yield f"cleared {name}"
        else:
            yield f"changed {name}{_value(' from ', was)}{_value(' to ', now)}"


def _choice(value: object) -> str:
    """Return the choice that a message states: a word that is neither a number nor a default."""
    fields = value.items() if isinstance(value, dict) else ()
    chosen = [f"{name} {json.dumps(text)}" for name, text in fields if _is_choice(text)]
    return f" with {chosen[0]}" if len(chosen) == 1 and len(chosen[0]) <= _LONGEST_CHOICE else ""


def _is_choice(value: object) -> bool:
    named = isinstance(value, str) and value[:1].isalpha() and value.isascii()
    return named and isinstance(value, str) and not value.endswith(_DEFAULTS)


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
