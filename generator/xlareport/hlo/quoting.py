"""Quoted texts and balanced brackets, at which HLO text is split."""

import re
import sys
from collections.abc import Iterator

STRING = r'"(?:[^"\\]|\\.)*+"'
"""A quoted text, closed."""
COMMENT = re.compile(r"/\*[^*]{0,40}+\*/")
"""`/*index=5*/`; the length is bounded so that many open ones cost no more than their length."""
DEPTH = {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}
"""Change of the nesting depth by a bracket."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?+|[(){}\[\],\n]', re.DOTALL)
_CLOSED = re.compile(STRING, re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_CONTROL = {
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"v": b"\v",
}
_TO_ESCAPE = re.compile(rb'[\x00-\x1f"\'\\\x7f-\xff]')
_NAMED = {b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t", b'"': b'\\"', b"'": b"\\'", b"\\": b"\\\\"}


def repeated(pattern: str) -> str:
    """Return a pattern for as many of another as there are, and never fewer.

    Python 3.11.0 to 3.11.4 ends a possessive group in what only begins; an atomic one takes memory
    for each repetition.
    """
    is_possessive = sys.version_info >= (3, 11, 5)
    return rf"(?:{pattern})*+" if is_possessive else rf"(?>(?:{pattern})*)"


def nested(opening: str, closing: str, levels: int) -> str:
    """Return a pattern for a bracketed text with `levels` more levels; linear in the text."""
    plain = rf"[^{re.escape(opening + closing)}\"]++"
    inner = repeated(f"{plain}|{STRING}")
    pattern = rf"{re.escape(opening)}{inner}{re.escape(closing)}"
    for _ in range(levels):
        inner = repeated(f"{plain}|{STRING}|{pattern}")
        pattern = rf"{re.escape(opening)}{inner}{re.escape(closing)}"
    return pattern


_BALANCED = re.compile(
    repeated(
        rf"[^(){{}}\[\]\"]++|{STRING}|{nested('{', '}', 3)}|{nested('[', ']', 1)}"
        rf"|{nested('(', ')', 1)}"
    ),
    re.DOTALL,
)
"""Matches most texts; others are scanned."""


def marks(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Yield brackets, commas and line breaks outside quotes with their places.

    A quote that is never closed comes last, as `"`.
    """
    for token in _TOKEN.finditer(text, start):
        word = token[0]
        if word[0] != '"':
            yield token.start(), word
        elif token.end() == len(text) and not _CLOSED.fullmatch(word):
            yield token.start(), '"'


def closing(text: str, start: int) -> int:
    """Return the place of the bracket that closes the one at `start`, or -1."""
    depth = 0
    for place, mark in marks(text, start):
        depth += DEPTH.get(mark, 0)
        if depth == 0:
            return place
    return -1


def split_at_commas(text: str) -> list[str]:
    """Split a text at the commas outside brackets and quotes; a text without one is one part."""
    parts: list[str] = []
    start = depth = 0
    for place, mark in marks(text):
        depth += DEPTH.get(mark, 0)
        if mark == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def is_balanced(text: str) -> bool:
    """Return whether all brackets and quotes of a text are closed."""
    return _BALANCED.fullmatch(text) is not None or _is_deeply_balanced(text)


def _is_deeply_balanced(text: str) -> bool:
    depth = 0
    for _, mark in marks(text):
        depth += DEPTH.get(mark, 0)
        if depth < 0 or mark == '"':
            return False
    return depth == 0


def unescape(text: str) -> str:
    """Undo C escapes; bytes written in octal or hexadecimal are read as UTF-8."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(_byte, text.encode("utf-8", "surrogatepass"))
    return raw.decode("utf-8", "replace")


def _byte(escape: re.Match[bytes]) -> bytes:
    octal, hexadecimal, letter = escape.groups()
    if octal:
        return bytes([int(octal, 8) & 0xFF])
    if hexadecimal:
        return bytes([int(hexadecimal, 16)])
    return _CONTROL.get(letter, letter)


def escape(text: str) -> str:
    """Return a text as XLA writes it in quotes: C escapes, octal for non-ASCII bytes."""
    raw = _TO_ESCAPE.sub(_escaped, text.encode("utf-8", "surrogatepass"))
    return raw.decode("ascii")


def _escaped(character: re.Match[bytes]) -> bytes:
    return _NAMED.get(character[0]) or b"\\%03o" % character[0][0]
