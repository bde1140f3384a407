"""Reads flags as a dump writes them: `*.debug_options`, `*.flagfile`, `*.tpu_comp_env.txt`.

`debug_options` holds the options that are not at their default; the other two hold every flag, and
say nothing of defaults.
"""

import re

from msgspec import Struct

from xlareport.readers.lines import FileProblems, decoded_lines
from xlareport.runtime.errors import Problem

_FIELD = re.compile(r"([A-Za-z_]\w*+): ?+(.*)", re.ASCII)
_OPENS = re.compile(r"([A-Za-z_]\w*+):? \{", re.ASCII)
_FLAG = re.compile(r"--([A-Za-z_]\w*+)(?:=(.*))?+", re.ASCII)
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.DOTALL)
_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r"}


class FlagValue(Struct, frozen=True):
    """A flag as written; a repeated flag has one setting for each of its values."""

    name: str
    value: str
    """Without quotes and escapes; a message stays as it is written, on one line."""
    line: int
    """In the file, counted from 1."""


def read_debug_options(data: bytes, path: str) -> tuple[tuple[FlagValue, ...], list[Problem]]:
    """Read `name: value` lines, as in `*.debug_options` and `*.tpu_comp_env.txt`."""
    problems = FileProblems(path)
    reader = _Fields(problems)
    for number, line in enumerate(decoded_lines(data, problems), 1):
        reader.line(number, line.strip())
    return reader.result(), problems.all()


def read_flagfile(data: bytes, path: str) -> tuple[tuple[FlagValue, ...], list[Problem]]:
    """Read `--name=value` lines; a flag without a value is `true`."""
    problems = FileProblems(path)
    settings = []
    for number, line in enumerate(decoded_lines(data, problems), 1):
        match = _FLAG.fullmatch(line.strip())
        if match:
            value = "true" if match[2] is None else match[2]
            settings.append(FlagValue(match[1], value, number))
        elif line.strip() and not line.startswith("#"):
            problems.add(number, f"expected `--name=value`: {line[:80]}")
    return tuple(settings), problems.all()


class _Fields:
    """Reads fields at the top; what is in braces belongs to the field that opened them."""

    def __init__(self, problems: FileProblems) -> None:
        self._troubles = problems
        self._settings: list[FlagValue] = []
        self._open: list[str] = []
        self._depth = 0
        self._message = FlagValue("", "", 0)

    def line(self, number: int, line: str) -> None:
        if self._depth:
            self._read_setting(line)
        elif opened := _OPENS.fullmatch(line):
            self._message, self._open, self._depth = FlagValue(opened[1], "", number), [], 1
        elif match := _FIELD.fullmatch(line):
            self._settings.append(FlagValue(match[1], unquoted(match[2]), number))
        elif line and not line.startswith("#"):
            self._troubles.add(number, f"expected `name: value`: {line[:80]}")

    def _read_setting(self, line: str) -> None:
        self._depth += line.endswith("{") - (line == "}")
        if self._depth:
            self._open.append(line)
            return
        value = f"{{ {' '.join(self._open)} }}" if self._open else "{}"
        self._settings.append(FlagValue(self._message.name, value, self._message.line))

    def result(self) -> tuple[FlagValue, ...]:
        if self._depth:
            self._troubles.add(self._message.line, f"{self._message.name}: no closing brace")
        return tuple(self._settings)


def unquoted(value: str) -> str:
    """Return a text without quotes and escapes; unquoted text is unchanged."""
    if len(value) < 2 or value[0] not in "\"'" or value[-1] != value[0]:
        return value
    return _ESCAPE.sub(_character, value[1:-1])


def _character(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _CHARACTERS.get(code, code)
