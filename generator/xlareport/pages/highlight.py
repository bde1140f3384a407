"""Texts of code with their tokens: what the page script colours.

Pygments takes a text apart line by line, so that no line can cost more than its own length allows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, String, Token, _TokenType

from xlareport.pages.hlo_lexer import HloLexer, MlirLexer
from xlareport.pages.tokens import script_length

MOST_COLOURED = 40_000
"""Characters of a text that are taken apart; what follows is shown without colours."""
_LONGEST_LINE = 2_000
"""Characters; longer lines hold data that nobody reads, and stay plain."""
_FOREIGN = {"llvm-ir": "llvm", "ptx": "ptx", "assembly": "gas"}
"""Kinds of file by the name of the lexer that comes with Pygments."""
_LONGEST_FOREIGN_LINE = 500
"""Those lexers try again at each letter of a word that they do not know."""
_LLVM_NUMBER = re.compile(r"(?<=[%@!#])[0-9]+")
"""Of a value, a block, metadata or attributes: whatever the number, it is one token."""

CLASSES: Mapping[_TokenType, int] = {
    Comment: 1,
    Keyword: 2,
    Keyword.Type: 3,
    Name.Variable: 4,
    Name.Function: 5,
    Name.Attribute: 6,
    Name.Label: 7,
    String: 8,
    Number: 9,
}
"""What a token is, as a number that the page script turns into a class; 0 is anything else."""

Runs = tuple[tuple[int, int], ...]
"""(length, class) one after the other."""


@dataclass(frozen=True, slots=True)
class Coloured:
    """A text and what its parts are."""

    text: str
    runs: tuple[int, ...]
    """Length, class, length, class, ... from the start, in UTF-16 units; the rest is plain."""


def coloured(text: str, kind: str) -> Coloured:
    """Take a text of a kind of file apart; of a kind without a lexer, nothing is known."""
    if kind not in _OWN and kind not in _FOREIGN:
        return Coloured(text, ())
    runs: list[int] = []
    for line in text[:MOST_COLOURED].splitlines(keepends=True):
        for length, look in _line(_pattern(line, kind), kind):
            if runs and runs[-1] == look:
                runs[-2] += length
            else:
                runs += (length, look)
    return Coloured(text, tuple(runs))


_OWN: Mapping[str, type[Lexer]] = {
    "hlo-text": HloLexer,
    "mlir": MlirLexer,
    "mlir-log": MlirLexer,
    "mosaic": MlirLexer,
}


def _pattern(line: str, kind: str) -> str:
    """Return a line with the same tokens that more lines have in common: half of them are alike."""
    if kind != "llvm-ir":
        return line
    return _LLVM_NUMBER.sub(lambda number: "0" * len(number[0]), line)


@cache
def _lexer(kind: str) -> Lexer:
    own = _OWN.get(kind)
    return own() if own else get_lexer_by_name(_FOREIGN[kind])


@lru_cache(maxsize=20_000)
def _line(line: str, kind: str) -> Runs:
    longest = _LONGEST_FOREIGN_LINE if kind in _FOREIGN else _LONGEST_LINE
    if len(line) > longest:
        return ((script_length(line), 0),)
    measure = len if line.isascii() else script_length
    runs: list[tuple[int, int]] = []
    for _, token, text in _lexer(kind).get_tokens_unprocessed(line):
        look = _look(token)
        if runs and runs[-1][1] == look:
            runs[-1] = (runs[-1][0] + measure(text), look)
        else:
            runs.append((measure(text), look))
    return tuple(runs)


@cache
def _look(token: _TokenType) -> int:
    while token is not Token:
        if token in CLASSES:
            return CLASSES[token]
        token = token.parent or Token
    return 0
