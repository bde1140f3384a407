"""The forms of names, from the tables: patterns whose groups are the parts."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from xlareport.dump.tokens import Token, table


class GrammarForm(Struct, frozen=True):
    """One form of a name: its pattern and the properties that the form implies."""

    pattern: re.Pattern[str]
    kind: str
    """A kind of file; `by-format` and `by-report` leave it to the ending or the report."""
    constants: Mapping[str, str]
    """Fields that the form itself fixes, such as `stage`."""
    note: str | None
    """Why a name of this form stays ambiguous."""
    without_id: bool
    """A suffix that is plain enough to be recognized without `module_<id>`."""


class Span(Struct, frozen=True):
    """A named part of a text: text[start:end]."""

    field: str
    start: int
    end: int


def spans(match: re.Match[str]) -> tuple[Span, ...]:
    """Return the innermost non-empty groups of a match, from left to right."""
    places = match.regs
    groups = [
        Span(field, *places[number])
        for field, number in match.re.groupindex.items()
        if places[number][0] < places[number][1]
    ]
    groups.sort(key=lambda group: (group.start, -group.end))
    return tuple(
        group
        for group, following in zip(groups, [*groups[1:], None], strict=True)
        if following is None or following.start >= group.end
    )


@cache
def suffix_forms() -> Sequence[GrammarForm]:
    """Return the forms of the text after `module_<id>`, NAME included; all begin with a dot."""
    return tuple(_forms("suffixes", "suffix"))


@cache
def name_forms() -> Sequence[GrammarForm]:
    """Return the forms of whole file names without `module_<id>`."""
    return tuple(_forms("names", "name"))


@cache
def file_forms() -> Sequence[GrammarForm]:
    """Return the forms of the files of other programs."""
    return tuple(_forms("files", "name"))


@cache
def module_forms() -> Sequence[GrammarForm]:
    """Return the forms of module names, by frontend."""
    return tuple(_forms("modules", "name"))


@cache
def instruction_forms() -> Sequence[GrammarForm]:
    """Return the forms of the first part of an instruction's or a computation's name."""
    return tuple(_forms("instructions", "name"))


@cache
def path_forms() -> Sequence[GrammarForm]:
    """Return the forms of paths whose folder determines the kind of file."""
    return tuple(_forms("paths", "name"))


def _forms(name: str, key: str) -> Iterator[GrammarForm]:
    content = table(name)
    for row in content[key]:
        yield _grammar_form(row, content.get("macros", {}))


def _grammar_form(row: Mapping[str, Any], macros: Mapping[str, str]) -> GrammarForm:
    own_fields = {"pattern", "owner", "suffix", "kind", "note", "without_id"}
    return GrammarForm(
        pattern=re.compile(_expand(_row_pattern(row), macros), re.DOTALL | re.ASCII),
        kind=row.get("kind", "unknown"),
        constants={field: value for field, value in row.items() if field not in own_fields},
        note=row.get("note"),
        without_id=row.get("without_id", False),
    )


def _row_pattern(row: Mapping[str, Any]) -> str:
    if "owner" in row:
        return r"(?P<owner>(?:\..+)?)" + str(row["owner"])
    if "suffix" in row:
        return r"(?P<holder>(?:\..*)?)\." + str(row["suffix"])
    return str(row["pattern"])


def _expand(pattern: str, macros: Mapping[str, str]) -> str:
    """Return a pattern with its macros expanded; a macro may use others."""
    for _ in range(3):
        for name, text in macros.items():
            pattern = pattern.replace("{" + name + "}", text)
    return pattern


Explain = Callable[[str, str], Sequence[Token]]
"""Makes tokens of a field and its text."""

_SIGNS = "._-,/"
_PER_SECOND = {"timestamp_ms": 10**3, "timestamp_ns": 10**9}
_MICROSECONDS = 10**6


@lru_cache(maxsize=1 << 12)
def one_token(field: str, text: str) -> Sequence[Token]:
    """Return a field's text as one explained token."""
    return (Token(text, meaning(field, text), field),)


def sign(text: str) -> Sequence[Token]:
    """Return a text that only separates as a token, if there is any."""
    return (Token(text, "", "sign"),) if text else ()


@lru_cache(maxsize=1 << 12)
def between(text: str) -> Sequence[Token]:
    """Return the text between two parts: a fixed word, maybe, with its signs."""
    word = text.strip(_SIGNS)
    if not word:
        return sign(text)
    before, _, after = text.partition(word)
    return (*sign(before), Token(word, meaning("word", word), "word"), *sign(after))


def pieces(
    match: re.Match[str], explain: Explain = one_token, start: int | None = None
) -> Iterator[Token]:
    """Yield everything that a pattern matched, from `start` on, as tokens."""
    place = match.start() if start is None else start
    for span in spans(match):
        if span.start < place:
            continue
        yield from between(match.string[place : span.start])
        yield from explain(span.field, match.string[span.start : span.end])
        place = span.end
    yield from between(match.string[place : match.end()])


def meaning(field: str, text: str) -> str:
    """Return the sentence that explains a part: by its own text where the tables have one."""
    tables = table("meanings")
    by_text: Mapping[str, str] = tables.get(field, {})
    sentence: str = by_text.get(text) or tables["fields"].get(field, "")
    if "{time}" in sentence:
        sentence = sentence.replace("{time}", moment(field, text))
    return sentence.replace("{text}", text)


def is_explained_stage(text: str) -> bool:
    """Return whether the tables explain a stage by its own text, not as a stage alone."""
    return text in table("meanings").get("stage", {})


def moment(field: str, text: str) -> str:
    """Return the date that a timestamp represents, by the unit of its field."""
    base = 16 if field.endswith("_hex") else 10
    try:
        seconds = int(text, base) // _PER_SECOND.get(field, _MICROSECONDS)
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return "a moment outside the calendar"
