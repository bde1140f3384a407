"""A text difference for the page script: signs, and numbers of lines stored in the site."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct, field

from xlareport.analysis.steps.text_difference import ComputationDiff, DiffLine, TextDiff
from xlareport.runtime.units import plural
from xlareport.storage.payloads import Payload, make_payload
from xlareport.storage.string_folding import fold_strings
from xlareport.storage.texts import line_key

_FIRST_LINES = 600
"""Lines of a difference that are loaded with its step."""
_CHUNK_LINES = 8_000
"""Number of lines of each of the payloads after the first."""
_MOST_LINES = 400_000
_LINE_LENGTH = 4_000


class StoredLines(Struct, frozen=True):
    """The lines of a module's texts; none where there are no texts."""

    key: str = ""
    """The key of the payload with the lines."""
    numbers: Mapping[int, int] = field(default_factory=dict)
    """The number of each line by its key."""

    def number(self, text: str) -> int | None:
        """Return the number of a line by its text without indentation; a header lacks its brace."""
        if len(text) > _LINE_LENGTH:
            return None
        line = text.encode("utf-8", "surrogatepass")
        number = self.numbers.get(line_key(b"  " + line))
        return self.numbers.get(line_key(line + b" {")) if number is None else number


class _Lines:
    """Numbers lines: stored ones from 0 up, the payload's own from -1 down."""

    def __init__(self, stored: StoredLines) -> None:
        self._stored = stored
        self._own: dict[str, int] = {}
        self.named = False

    def number(self, text: str) -> int:
        number = self._stored.number(text)
        if number is None:
            return -1 - self._own.setdefault(_shortened(text), len(self._own))
        self.named = True
        return number

    def value(self) -> dict[str, Any]:
        return {
            "texts": self._stored.key if self.named else None,
            "own": fold_strings(list(self._own)).listed(),
        }


def diff_payload(
    diff: TextDiff | None, renumbered: int, stored: StoredLines, key: str = ""
) -> dict[str, Any]:
    """Return the value of a text difference: its first lines, and the keys of the other ones.

    The payloads of these keys are those of `further_lines`. Without a `key` there are none.
    """
    chunks = _chunks(diff)[: None if key else 1]
    lines = [line for chunk in chunks for _, some in chunk.hunks for line in some]
    return {
        **_lines_payload(chunks[0], stored),
        "more": [f"{key}-{number}" for number in range(1, len(chunks))],
        "total": sum(_changed(some) for _, some in _hunks(diff.computations)) if diff else 0,
        "shown": _changed(lines),
        "note": _renumbered_sentence(max(renumbered, diff.renumbered if diff else 0)),
    }


def further_lines(diff: TextDiff | None, stored: StoredLines, key: str) -> Iterator[Payload]:
    """Yield the payloads with the lines that are not in the payload of the step itself."""
    for number, chunk in enumerate(_chunks(diff)[1:], 1):
        yield make_payload(f"{key}-{number}", _lines_payload(chunk, stored))


def _lines_payload(chunk: "_Chunk", stored: StoredLines) -> dict[str, Any]:
    lines = [line for _, some in chunk.hunks for line in some]
    stored_lines = _Lines(stored)
    before = [stored_lines.number(line.text) for line in lines if line.sign != "+"]
    after = [stored_lines.number(_after(line)) for line in lines if line.sign in "+~<>"]
    return {
        "hunks": [len(some) for _, some in chunk.hunks],
        "titles": fold_strings([title for title, _ in chunk.hunks]).listed(),
        "continued": chunk.continued,
        "signs": "".join(line.sign for line in lines),
        "before": _steps(before),
        "after": _steps(after),
        **stored_lines.value(),
        "moves": [place for line in lines for place in line.places or ()],
    }


_Titled = tuple[str, Sequence[DiffLine]]


def _hunks(computations: Sequence[ComputationDiff]) -> Iterator[_Titled]:
    for computation in computations:
        names = dict.fromkeys(name for name in (computation.before, computation.after) if name)
        for hunk in computation.hunks:
            yield " → ".join(names), hunk.lines


class _Chunk(Struct):
    """The lines of one payload."""

    room: int
    hunks: list[_Titled] = field(default_factory=list)
    continued: bool = False
    """Whether its first hunk began in the chunk before it."""


def _chunks(diff: TextDiff | None) -> list[_Chunk]:
    """Return the lines of a difference in chunks; the first one is small."""
    chunks = [_Chunk(_FIRST_LINES)]
    left = _MOST_LINES
    for title, lines in _hunks(diff.computations) if diff else ():
        start, end = 0, min(len(lines), left)
        left -= end
        while start < end:
            if not chunks[-1].room:
                chunks.append(_Chunk(_CHUNK_LINES, continued=start > 0))
            some = lines[start : min(end, start + chunks[-1].room)]
            chunks[-1].hunks.append((title, some))
            chunks[-1].room -= len(some)
            start += len(some)
    return chunks


def _changed(lines: Sequence[DiffLine]) -> int:
    return sum(line.sign != " " for line in lines)


def _after(line: DiffLine) -> str:
    return line.text if line.sign == "+" else line.other or line.text


def _steps(numbers: Sequence[int]) -> list[int]:
    return [number - last for last, number in pairwise([0, *numbers])]


def _shortened(text: str) -> str:
    """Return a text shortened for reading, such as constants of megabytes."""
    if len(text) <= _LINE_LENGTH:
        return text
    return f"{text[:_LINE_LENGTH]} … {len(text) - _LINE_LENGTH:,} more characters"


def _renumbered_sentence(renumbered: int) -> str:
    if not renumbered:
        return ""
    differ = plural(renumbered, "line differs", "lines differ")
    count = "counts" if renumbered == 1 else "count"
    return f"{differ} only in the names of paired instructions and {count} as equal."
