"""Attribute lists: `a=b, c={...}, d="..."` split at depth zero, quote-aware."""

import re
from collections.abc import Mapping

from msgspec import Struct

from xlareport.hlo import quoting
from xlareport.runtime.whole_numbers import parse_whole_number

CALLING = frozenset(
    {
        "body",
        "branch_computations",
        "called_computations",
        "calls",
        "comparator",
        "condition",
        "false_computation",
        "scatter",
        "select",
        "to_apply",
        "true_computation",
    }
)
"""The attributes that name computations."""

_FIELD = re.compile(rf"\b(\w++)\s*+[=:]\s*+({quoting.STRING}|[^\s,{{}}\"]++)", re.DOTALL)
_COMMENTED = " # metadata="
_NAME = re.compile(r"\s*+([^\s=,{}()\[\]\"]++)\s*+(=?+)\s*+")
_VALUE = re.compile(
    quoting.repeated(
        rf"[^,{{}}()\[\]\"]++|{quoting.STRING}|{quoting.nested('{', '}', 3)}"
        rf"|{quoting.nested('[', ']', 1)}|{quoting.nested('(', ')', 1)}"
    )
    + r"(?=,|\Z)",
    re.DOTALL,
)
_COMPUTATION = re.compile(r"%?+([\w.\-]++)\Z")


class Metadata(Struct, frozen=True):
    """The `metadata={...}` of an instruction, texts unescaped."""

    op_name: str = ""
    op_type: str = ""
    source_file: str = ""
    source_line: int | None = None
    stack_frame_id: int | None = None

    @staticmethod
    def parse(text: str) -> "Metadata":
        """Parse the braces and their content; an empty text gives an empty record."""
        if not text:
            return _NO_METADATA
        fields = dict(_FIELD.findall(text))
        return Metadata(
            op_name=_unquoted(fields.get("op_name", "")),
            op_type=_unquoted(fields.get("op_type", "")),
            source_file=_unquoted(fields.get("source_file", "")),
            source_line=parse_whole_number(fields.get("source_line", "")),
            stack_frame_id=parse_whole_number(fields.get("stack_frame_id", "")),
        )


_NO_METADATA = Metadata()


def _unquoted(value: str) -> str:
    return quoting.unescape(value[1:-1] if value.startswith('"') else value)


class AttributeList:
    """An attribute list as written, split on first use; shared by all who have the same."""

    __slots__ = ("_called", "_metadata", "_values", "text")

    def __init__(self, text: str, metadata: Metadata | None = None) -> None:
        """Keep the text; `metadata` takes the place of that in the text."""
        self.text = text
        self._values: Mapping[str, str] | None = None
        self._called: tuple[tuple[str, str], ...] | None = None
        self._metadata = metadata

    @property
    def values(self) -> Mapping[str, str]:
        """Names and values as written, in order."""
        if self._values is None:
            self._values = split_attributes(self.text)
        return self._values

    @property
    def called(self) -> tuple[tuple[str, str], ...]:
        """Called computations as (attribute, computation name), in order."""
        if self._called is None:
            self._called = called_computations(self.values)
        return self._called

    @property
    def metadata(self) -> Metadata:
        """The value of `metadata={...}`; empty if there is none."""
        if self._metadata is None:
            self._metadata = Metadata.parse(self.values.get("metadata", ""))
        return self._metadata


def split_attributes(text: str) -> Mapping[str, str]:
    """Split `a=b, c={...}` into names and values as written, in order; a bare word gets ''."""
    values: dict[str, str] = {}
    place, size = 0, len(text)
    while place < size:
        name = _NAME.match(text, place)
        end = _end_of_value(text, name.end() if name and name[2] else place)
        if name:
            _add(values, name[1], text[name.end() : end].rstrip() if name[2] else "")
        place = end + 1
    return values


def _add(values: dict[str, str], name: str, value: str) -> None:
    """Add an attribute; texts of 2017 have the metadata in a comment after the last one.

    A mesh has its devices behind a comma of its own: `mesh['x'=2], device_ids=(1,0) {'x'}`.
    """
    last = next(reversed(values), "")
    if name == "device_ids" and values.get(last, "").startswith("mesh["):
        values[last] += f", device_ids={value}"
        return
    before, mark, metadata = value.partition(_COMMENTED)
    if mark and quoting.is_balanced(before):
        values.setdefault(name, before.rstrip())
        values.setdefault("metadata", metadata)
    else:
        values.setdefault(name, value)


def _end_of_value(text: str, start: int) -> int:
    quick = _VALUE.match(text, start)
    return quick.end() if quick else _end_of_deep_value(text, start)


def _end_of_deep_value(text: str, start: int) -> int:
    depth = 0
    for place, mark in quoting.marks(text, start):
        if mark == "," and depth <= 0:
            return place
        depth += quoting.DEPTH.get(mark, 0)
    return len(text)


def called_computations(attributes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return (attribute, computation name) for each called computation, in order."""
    result = attributes.keys() & CALLING
    if not result:
        return ()
    return tuple(
        (attribute, name)
        for attribute, value in attributes.items()
        if attribute in result
        for name in computation_names(value)
    )


def computation_names(value: str) -> list[str]:
    """Return the names in `%a`, `a` or `{%a, /*index=5*/%b}`, without `%`."""
    words = (word.strip() for word in quoting.COMMENT.sub("", value).strip("{} ").split(","))
    return [name[1] for word in words if (name := _COMPUTATION.match(word))]
