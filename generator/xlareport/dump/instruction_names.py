"""Parses names of instructions and computations.

    NAME := ["%"] {PREFIX "."} FIRST {"." LATER} {"#" ELEMENT}

FIRST is the origin of the instruction, LATER the changes by passes since. The name never proves
what an instruction computes: its opcode does.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from xlareport.dump.grammar import instruction_forms, pieces, sign
from xlareport.dump.tokens import Token, table

LONGEST = 512
"""Longer names are not parsed."""

_NAME = re.compile(
    r"(?P<percent>%?)(?P<wide>(?>(?:wide\.(?=[^.#]))*))(?P<first>[^.#]+)"
    r"(?P<later>(?:\.[^.#]*)*)(?P<elements>(?:#\d+)*)",
    re.ASCII,
)
_LATER = re.compile(r"(?P<word>(?:.*\D)?)(?P<number>\d*+)", re.ASCII)
_NUMBERED = re.compile(r"(?P<number>\d+)_(?P<word>[A-Za-z]\w*)", re.ASCII)


class InstructionNameParts(Struct, frozen=True):
    """The name of an instruction or computation, explained."""

    base: str
    """The original name: without copies, numbers and elements."""
    changes: tuple[str, ...]
    """The suffixes that passes added, in order: `clone`, `remat`, ..."""
    tokens: tuple[Token, ...]
    """The parts; joined they are the name again."""


@lru_cache(maxsize=1 << 14)
def explain_instruction(name: str) -> InstructionNameParts:
    """Parse the name of an instruction or a computation."""
    match = _NAME.fullmatch(name) if len(name) <= LONGEST else None
    if match is None:
        return InstructionNameParts(name, (), _token("born", name))
    tokens = [
        *sign(match["percent"]),
        *_wide(match["wide"]),
        *_born_tokens(match["first"]),
        *(token for part in match["later"].split(".")[1:] for token in _later(part)),
        *(token for part in match["elements"].split("#")[1:] for token in _element_tokens(part)),
    ]
    changes = [token.text for token in tokens if token.field == "later"]
    return InstructionNameParts(match["first"], tuple(changes), tuple(tokens))


def _meaning(field: str, text: str) -> str:
    tables = table("instructions")
    if field == "manner":
        return str(tables["manner"].get(text, tables["fields"][field]))
    return str(tables["fields"][field]).replace("{text}", text)


def _token(field: str, text: str) -> tuple[Token, ...]:
    return (Token(text, _meaning(field, text), field),) if text else ()


def _wide(text: str) -> Iterator[Token]:
    """Yield `wide.`, which is once for each time that a loop was widened."""
    for _ in range(text.count("wide.")):
        yield Token("wide", str(table("instructions")["suffix"]["wide"]), "later")
        yield from sign(".")


def _born_tokens(text: str) -> Sequence[Token]:
    for form in instruction_forms():
        if match := form.pattern.fullmatch(text):
            return tuple(pieces(match, _token))
    return _token("born", text)


def _later(part: str) -> Iterator[Token]:
    """Yield the tokens of one part after a dot: a number, a pass's word, or both."""
    yield from sign(".")
    if numbered := _NUMBERED.fullmatch(part):
        yield from _token("number", numbered["number"])
        yield from sign("_")
        yield from _word(numbered["word"])
        return
    match = _LATER.fullmatch(part)
    word, number = (match["word"], match["number"]) if match else (part, "")
    yield from _word(word)
    yield from _token("number", number)


def _word(word: str) -> Iterator[Token]:
    if word:
        suffix_words = table("instructions")["suffix"].get(word)
        yield Token(word, str(suffix_words) if suffix_words else _meaning("later", word), "later")


def _element_tokens(part: str) -> Iterator[Token]:
    yield from sign("#")
    yield from _token("element", part)
