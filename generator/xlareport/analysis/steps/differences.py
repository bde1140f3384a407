"""Differences between two lines of the same instruction."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.shape_changes import Difference, compare_shapes, shortened
from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES
from xlareport.runtime import english

_QUIET: Mapping[str, Kind] = {
    "sharding": Kind.SHARDING,
    "backend_config": Kind.CONFIG,
    "metadata": Kind.METADATA,
    "frontend_attributes": Kind.METADATA,
    "origin": Kind.METADATA,
    "original_value": Kind.METADATA,
}
_SHARDY = "xla.sdy.sharding"
_PRECISION = frozenset({"operand_precision", "algorithm"})
_WEIGHT = {kind: weight for weight, kind in enumerate(Kind)}
_WITH_NUMBERS = _WEIGHT | {Kind.ATTRIBUTES: _WEIGHT[Kind.OPERANDS]}
"""Other dimension numbers are no consequence of what is read."""
_WITH_ATTRIBUTES = _WEIGHT | {Kind.ATTRIBUTES: _WEIGHT[Kind.REDIRECTED] - 0.5}
"""Other attributes are told before who gives the operands now."""
_ELEMENT = "get-tuple-element"
"""Its only attribute, the index, follows from the tuple that it reads."""
_NUMBERED = frozenset(
    {
        "broadcast",
        "concatenate",
        "convolution",
        "dot",
        "gather",
        "reduce",
        "reverse",
        "scatter",
        "sort",
        "transpose",
    }
)
"""Opcodes whose attributes refer to dimensions by number."""


def by_weight(kinds: Iterable[Kind], opcode: str) -> tuple[Kind, ...]:
    """Return the kinds of difference of an instruction, the weightiest first."""
    weights = _WITH_NUMBERS if opcode in _NUMBERED else _WITH_ATTRIBUTES
    weights = _WEIGHT if opcode == _ELEMENT else weights
    if opcode in COMBINED_COLLECTIVES:  # in a loop they run once in each iteration
        weights = {**weights, Kind.HOISTED: weights[Kind.TYPE] - 0.5}
    if opcode == "copy":  # of the part that an iteration makes
        weights = {**weights, Kind.SUNK: weights[Kind.TYPE] - 0.5}
    return tuple(sorted(kinds, key=lambda kind: weights[kind]))


def compare(
    before: Instruction, after: Instruction, callees: Mapping[str, str]
) -> dict[Kind, Difference]:
    """Return the kinds of difference between two lines, with old and new values.

    Operands are compared by the caller, who knows the pairings; `callees` maps old names of called
    computations to new ones.
    """
    result: dict[Kind, Difference] = {**compare_shapes(before.shape, after.shape)}
    if before.attributes_text != after.attributes_text:
        result |= _attributes(before, after, callees)
    if not before.operands and before.argument != after.argument:
        result[Kind.ATTRIBUTES] = str(shortened(before.argument, after.argument))
    if before.name != after.name:
        result[Kind.RENAMED] = f"%{before.name} → %{after.name}"
    return result


def _attributes(
    before: Instruction, after: Instruction, callees: Mapping[str, str]
) -> dict[Kind, str]:
    old, new = before.attributes, after.attributes
    called = {attribute for attribute, _ in before.called}
    attributes: dict[Kind, str] = {}
    for name in {**old, **new}:
        if old.get(name) == new.get(name):
            continue
        if name in called and _same_callees(before, after, callees):
            continue
        kind = _kind_of(name, f"{old.get(name)}{new.get(name)}")
        message = attribute_change(name, before, after)
        if kind is Kind.CONFIG:
            message = config_change(before, after) or message
        attributes[kind] = f"{attributes[kind]}; {message}" if kind in attributes else message
    return attributes


def _kind_of(name: str, values: str) -> Kind:
    """Return the kind of change of an attribute; Shardy writes shardings as frontend attributes."""
    if name == "frontend_attributes" and _SHARDY in values:
        return Kind.SHARDING
    return _QUIET.get(name, Kind.PRECISION if name in _PRECISION else Kind.ATTRIBUTES)


def attribute_change(name: str, before: Instruction, after: Instruction) -> str:
    """Return old and new value of an attribute: `algorithm: none → dot_bf16_bf16_f32`."""
    change = shortened(before.attributes.get(name, ""), after.attributes.get(name, ""))
    return f"{name}: {change}"


def _same_callees(before: Instruction, after: Instruction, callees: Mapping[str, str]) -> bool:
    continued = [callees.get(name, name) for _, name in before.called]
    return continued == [name for _, name in after.called]


_DEEPEST = 4
_NAMED = 4
_LONGEST = 40
"""Characters of a value that is repeated."""
_LONGEST_CHOICE = 80
_MOST_CHOICES = 6
"""Fields of a new message that are named; a tile of a Triton GEMM has as many."""
_DEFAULTS = ("DEFAULT", "INVALID", "UNSPECIFIED")
"""Ends of the words that state no choice."""
_CONFIG = "backend_config: "
_TO_DEFAULT = re.compile(
    rf'set \w+ to (?:defaults|false|"?0(?:\.0)?"?|"\w*(?:{"|".join(_DEFAULTS)})")'
)
_MORE = re.compile(r"\d+ more")


def config_change(before: Instruction, after: Instruction) -> str:
    """Return the fields that were set, changed and cleared; '' if unreadable or unchanged.

    Fields that were set to defaults come last.
    """
    old, new = read_backend_config(before), read_backend_config(after)
    if not isinstance(new, dict) or not isinstance(old, dict | None):
        return ""
    try:
        changes = sorted(_changes(old or {}, new, 0), key=_is_to_default)
    except RecursionError:  # equality of what is nested too deeply
        return ""
    more = [f"{len(changes) - _NAMED} more"] if len(changes) > _NAMED else []
    return f"{_CONFIG}{', '.join([*changes[:_NAMED], *more])}" if changes else ""


def sets_defaults(detail: str) -> bool:
    """Return whether a change of a backend config, in words, only set fields to defaults."""
    changes = detail.removeprefix(_CONFIG).split(", ")
    return all(_is_to_default(change) or _MORE.fullmatch(change) for change in changes)


def _is_to_default(change: str) -> bool:
    return _TO_DEFAULT.fullmatch(change) is not None


def _changes(old: Mapping[str, object], new: Mapping[str, object], depth: int) -> Iterator[str]:
    """Yield the fields that differ, those inside of others by their own names."""
    for name in {**new, **old}:
        was, now = old.get(name), new.get(name)
        if was == now or (_is_empty(was, 0) and _is_empty(now, 0)):
            continue
        if depth < _DEEPEST and isinstance(was, dict) and isinstance(now, dict):
            yield from _changes(was, now, depth + 1)
        elif _is_empty(was, 0):
            yield f"set {name}{_value(' to ', now) or _choices(now)}"
        elif _is_empty(now, 0):
            yield f"cleared {name}"
        else:
            yield f"changed {name}{_value(' from ', was)}{_value(' to ', now)}"


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
