"""The parts of a name with their meanings, those of passes and opcodes included."""

from collections.abc import Iterable

from msgspec import Struct, field

from xlareport.dump.filename import DumpName
from xlareport.dump.grammar import is_explained_stage
from xlareport.dump.tokens import Token
from xlareport.knowledge import passes, stages
from xlareport.runtime.english import plain

_PASSES = frozenset({"pipeline", "after", "before"})
NOT_KNOWN = "Not known. By its name its class is probably {name} (a guess)."
PSEUDO_PASSES = {
    "pipeline-start": "Not a pass: the moment at which a pipeline begins.",
    "pipeline-end": "Not a pass: the moment at which a pipeline has ended.",
}


class TokenView(Struct, frozen=True):
    """A piece of a name; an empty meaning is a separator."""

    text: str
    meaning: str
    word: str = ""
    """`KIND:NAME` of its entry, as in `words.js`; empty where the names page explains it."""


def token_views(tokens: Iterable[Token], kind: str = "") -> tuple[TokenView, ...]:
    """Return the parts of a file name of a kind; a pass includes its meaning."""
    return tuple(TokenView(token.text, _meaning(token), _word(token, kind)) for token in tokens)


def _word(token: Token, kind: str) -> str:
    """Return which entry of the glossary explains a part further."""
    if token.field in _PASSES:
        return f"pass:{token.text}"
    if token.field == "format" and kind:
        return f"kind:{kind}"
    stage = stages.find(token.text) if token.field == "stage" else None
    return f"stage:{stage.name}" if stage else ""


def describe_pass(name: str) -> str:
    """Return in plain text what a pass, a pipeline or a step of a pass does; empty if not known."""
    pass_info = passes.find_either(name)
    if pass_info is None:
        step = stages.find_step(name)
        return plain(step.words) if step else ""
    guess = f" ({pass_info.basis})" if pass_info.known_from == "name" else ""
    return f"{plain(pass_info.words)}{guess}"


def meaning_of_pass(name: str) -> str:
    """Return in plain text what a name that represents a pass is, known or not."""
    guess = NOT_KNOWN.format(name=passes.derived_class(name))
    return PSEUDO_PASSES.get(name) or describe_pass(name) or guess


def meaning_of_stage(token: Token) -> str:
    """Return in plain text what a file of a stage shows."""
    stage = None if is_explained_stage(token.text) else stages.find(token.text)
    return plain(stage.words) if stage else token.meaning


def _meaning(token: Token) -> str:
    if token.field == "stage":
        return meaning_of_stage(token)
    if token.field not in _PASSES:
        return token.meaning
    return f"{token.meaning} {describe_pass(token.text)}".strip()


NameCell = list[str | list[int]]
"""The name, and for each of its parts the length and the number of its meaning, or -1."""

Meaning = str | list[str]
"""A sentence, or a sentence and the `KIND:NAME` of the entry with more information."""

_REMEMBERED = 2_000
"""Limit on name parts whose meaning is cached."""


class NameCells(Struct):
    """Cells of a column of names; equal meanings are stored once, in `meanings`.

    The meaning of a pass is in its entry in the payload `words`.
    """

    meanings: list[Meaning] = field(default_factory=list)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _parts: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)
    """Meanings of name parts: a dump repeats the same few in all its names."""

    def cell(self, name: DumpName) -> NameCell:
        """Return the cell of a name."""
        parts: list[int] = []
        for token in name.tokens:
            key = token.text, token.meaning, token.field, name.kind
            parts += self._parts.get(key) or self._part_numbers(key, token)
        return [str(name), parts]

    def _part_numbers(self, key: tuple[str, ...], token: Token) -> tuple[int, int]:
        meaning = meaning_of_stage(token) if token.field == "stage" else token.meaning
        if len(self._parts) >= _REMEMBERED:
            self._parts.clear()  # names of modules alone are as many as these
        number = self._meaning_number(meaning, _word(token, key[-1]))
        self._parts[key] = script_length(token.text), number
        return self._parts[key]

    def _meaning_number(self, meaning: str, word: str) -> int:
        if not meaning:
            return -1
        key = meaning, word
        if key not in self._numbers:
            self._numbers[key] = len(self.meanings)
            self.meanings.append([meaning, word] if word else meaning)
        return self._numbers[key]


def script_length(text: str) -> int:
    """Return the length as the page script counts it, in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
