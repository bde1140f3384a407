"""Texts of code that stand nowhere else in a report: each stored once, packed into chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xlareport.pages import navigation
from xlareport.pages.rendering.environment import visible
from xlareport.storage.payloads import Payload, make_payload

MOST_SHOWN = 300_000
"""Characters of one text; the file in the dump holds the rest."""
_CHUNK = 400_000
"""Characters after which a chunk is full: what one click on a text loads."""
_MOST = 24_000_000
"""Characters of all texts of a module; what comes after is named and not shown."""


@dataclass(slots=True)
class Shelf:
    """The texts of a module, in the order in which they were put here."""

    slug: str
    chunks: list[list[str]] = field(default_factory=lambda: [[]])
    _known: dict[str, list[int]] = field(default_factory=dict)
    _filled: int = 0
    _total: int = 0

    def put(self, text: str) -> list[int] | None:
        """Keep a text and return [chunk, place]; None where there is no more room."""
        if text not in self._known:
            if self._total + len(text) > _MOST:
                return None
            self._known[text] = self._add(visible(text[:MOST_SHOWN]))
        return self._known[text]

    def files(self) -> Iterator[Payload]:
        """Yield the payloads of all chunks."""
        for number, chunk in enumerate(self.chunks if self._known else []):
            key = navigation.code_chunk_key(self.slug, number)
            yield make_payload(key, chunk)

    def _add(self, text: str) -> list[int]:
        if self._filled > _CHUNK:
            self.chunks.append([])
            self._filled = 0
        self.chunks[-1].append(text)
        self._filled += len(text)
        self._total += len(text)
        return [len(self.chunks) - 1, len(self.chunks[-1]) - 1]


def cut_note(text: str) -> str:
    """Say how much of a text is not shown; empty where all is."""
    if len(text) <= MOST_SHOWN:
        return ""
    return f"The first {MOST_SHOWN:,} of {len(text):,} characters; the file holds the rest."


def joined(lines: Sequence[str], most: int) -> str:
    """Return lines as a text, cut where it passes so many characters."""
    result, size = [], 0
    for line in lines:
        size += len(line) + 1
        if size > most:
            result.append("...")
            break
        result.append(line)
    return "\n".join(result) + "\n"
