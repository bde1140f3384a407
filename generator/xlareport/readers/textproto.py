"""Protobuf's text format as XLA prints it: one field a line, messages in braces."""

import re
from typing import TypeAlias

from msgspec import Struct, field

from xlareport.readers.debug_options import unquoted
from xlareport.readers.lines import FileProblems, decoded_lines
from xlareport.runtime.errors import Problem

_OPENS = re.compile(r"([A-Za-z_]\w*+):?\s*+\{", re.ASCII)
_FIELD = re.compile(r"([A-Za-z_]\w*+):\s*+(.*)", re.ASCII)
_MOST_NESTED = 200


class Message(Struct):
    """A message: its fields by name, each with all its values in order."""

    fields: dict[str, list["FieldValue"]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return the first value of a field as text; empty where it is absent or a message."""
        first = self.fields.get(name, [""])[0]
        return first if isinstance(first, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the values of a field that are no messages."""
        return tuple(text for text in self.fields.get(name, ()) if isinstance(text, str))

    def messages(self, name: str) -> tuple["Message", ...]:
        """Return the values of a field that are messages."""
        return tuple(
            message for message in self.fields.get(name, ()) if isinstance(message, Message)
        )

    def number(self, name: str) -> float | None:
        """Return the first value of a field as a number; None where it is none."""
        try:
            return float(self.text(name))
        except ValueError:
            return None


FieldValue: TypeAlias = str | Message


def read_textproto(data: bytes, path: str) -> tuple[Message, list[Problem]]:
    """Read the whole text; a line that is neither a field nor a brace is a problem."""
    problems, stack = FileProblems(path), [Message()]
    for number, raw in enumerate(decoded_lines(data, problems), 1):
        line = raw.strip()
        opened, match = _OPENS.fullmatch(line), _FIELD.fullmatch(line)
        if opened and len(stack) < _MOST_NESTED:
            inner = Message()
            stack[-1].fields.setdefault(opened[1], []).append(inner)
            stack.append(inner)
        elif line == "}" and len(stack) > 1:
            stack.pop()
        elif match and not opened:
            stack[-1].fields.setdefault(match[1], []).append(unquoted(match[2]))
        elif line and not line.startswith("#"):
            problems.add(number, f"neither a field nor a brace: {line[:80]}")
    if len(stack) > 1:
        problems.add(None, "the text ends inside a message")
    return stack[0], problems.all()
