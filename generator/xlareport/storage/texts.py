"""Texts with much in common, each line stored once; restored byte for byte.

A text consists of blocks, separated by an empty line; a block consists of lines. A new block is
stored as runs of lines, either new ones or copies from a known block; a text as runs of blocks,
either new ones or copies from the previous text. The data are numbers and lines, in chunks: a text
needs the chunks up to its own.
"""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct, field

_CHUNK = 8_000_000
"""Bytes of new lines after which a chunk is closed: what a page unfolds without a pause."""
_PART = 1 << 20
LARGEST = 1 << 31
"""Bytes of a text that is given back; what is larger is not read either."""
_NEW = 0

LineRuns = list[int]
"""Of a block: `0, N` for N new lines, or `AGE + 1, SHIFT, N` for N lines copied from the block AGE
blocks ago (0: itself), SHIFT lines after the last one copied from there; where none was, after as
many lines as this block has. Of a text: `0, N` for N new blocks, `1, START, N` for N blocks copied
from the text before, `2, NUMBER` for a block by its number."""


def line_key(line: bytes) -> int:
    """Return what a line is known by where its text is not held again: Python's hash of it.

    That has 64 bits and a key of its own in each process: that two among a million lines have the
    same by chance has a likelihood of 3e-8, and nobody can aim at it.
    """
    return hash(line)


class DamagedTextsError(ValueError):
    """Stored data do not restore to a text."""


class Chunk(Struct):
    """Lines and blocks that were first met between two bounds."""

    lines: list[str] = field(default_factory=list)
    """Bytes that are not UTF-8 are lone surrogates, as Python's `surrogateescape` writes them."""
    blocks: list[LineRuns] = field(default_factory=list)


class StoredText(Struct, frozen=True):
    """A text, as runs of blocks in chunks."""

    path: str
    """Relative to the dump."""
    size: int
    """Bytes."""
    modified: float | None
    """Seconds since the epoch; None if unknown."""
    chunk: int
    """The last chunk that it needs."""
    runs: LineRuns


class TextStore:
    """Stores texts one after the other; similar texts in sequence take the least space."""

    def __init__(self) -> None:
        self.texts: list[StoredText] = []
        self.chunks: list[Chunk] = [Chunk()]
        self._room = _CHUNK
        self.lines: dict[bytes, int] = {}
        """The number of each distinct line, over all chunks."""
        self._places: list[tuple[int, int]] = []
        self._blocks: dict[bytes, int] = {}
        self._members: list[list[int]] = []
        self._former: list[int] = []

    def add(self, path: str, content: bytes, modified: float | None) -> None:
        """Store one text."""
        if self._room <= 0:
            self.chunks.append(Chunk())
            self._room = _CHUNK
        known = len(self._members)
        blocks = [self._block(block) for block in content.split(b"\n\n")]
        runs = _text_runs(blocks, self._former, known)
        self._former = blocks
        last = len(self.chunks) - 1
        self.texts.append(StoredText(path, len(content), modified, last, runs))

    def _block(self, block: bytes) -> int:
        key = hashlib.sha256(block).digest()  # processors have instructions for it
        number = self._blocks.setdefault(key, len(self._members))
        if number == len(self._members):
            known = len(self.lines)
            members = self._line_numbers(block.split(b"\n"))
            self._members.append(members)
            self.chunks[-1].blocks.append(self._block_runs(members, number, known))
        return number

    def _line_numbers(self, lines: list[bytes]) -> list[int]:
        """Return the numbers of lines, and store those that are new."""
        numbers, first = self.lines, len(self.lines)
        result = [numbers.setdefault(line, len(numbers)) for line in lines]
        fresh = list(islice(reversed(numbers), len(numbers) - first))[::-1]
        self._places += [(0, 0)] * len(fresh)
        self._room -= sum(map(len, fresh)) + len(fresh)
        self.chunks[-1].lines += [line.decode("utf-8", "surrogateescape") for line in fresh]
        return result

    def _block_runs(self, members: list[int], number: int, fresh: int) -> LineRuns:
        runs: LineRuns = []
        ends: dict[int, int] = {}
        at = 0
        while at < len(members):
            if members[at] == fresh:
                count = _rising(members, at, fresh)
                fresh += count
                runs += (_NEW, count)
            else:
                block, start = self._places[members[at]]
                count = _alike(members, at, self._members[block], start)
                runs += (number - block + 1, start - ends.get(block, at), count)
                ends[block] = start + count
            for place in range(at, at + count):
                self._places[members[place]] = (number, place)
            at += count
        return runs


def _text_runs(blocks: Sequence[int], former: Sequence[int], known: int) -> LineRuns:
    """Return the blocks of a text; those from `known` on are new."""
    places = {number: place for place, number in enumerate(former)}
    runs: LineRuns = []
    at = 0
    while at < len(blocks):
        start = places.get(blocks[at])
        if blocks[at] == known:
            count = _rising(blocks, at, known)
            known += count
            runs += (_NEW, count)
        elif start is not None:
            count = _alike(blocks, at, former, start)
            runs += (1, start, count)
        else:
            count = 1
            runs += (2, blocks[at])
        at += count
    return runs


def _rising(numbers: Sequence[int], at: int, first: int) -> int:
    """Count how many from `at` on are `first`, `first + 1`, and so on."""
    end = at
    while end < len(numbers) and numbers[end] == first + end - at:
        end += 1
    return end - at


def _alike(ours: Sequence[int], at: int, theirs: Sequence[int], start: int) -> int:
    """Count how many from `at` on are those of the others from `start` on."""
    count = 0
    most = min(len(ours) - at, len(theirs) - start)
    while count < most and ours[at + count] == theirs[start + count]:
        count += 1
    return count


def restore(
    texts: Sequence[StoredText], chunks: Sequence[Chunk]
) -> Iterator[tuple[StoredText, Iterator[bytes]]]:
    """Yield each text with its blocks, to be joined as they are; raises DamagedTextsError.

    The size of each text is checked before any of it is built.
    """
    blocks = _restored_blocks(chunks)
    sizes = [sum(map(len, block)) + len(block) - 1 for block in blocks]
    former: list[int] = []
    known = 0
    left = _MOST_BLOCKS
    for text in texts:
        former, known = _restored_numbers(text, former, known, len(blocks))
        left -= len(former)
        if left < 0:
            raise DamagedTextsError("The texts have an impossible number of blocks.")
        if text.size > LARGEST or sum(sizes[number] + 2 for number in former) - 2 != text.size:
            raise DamagedTextsError(f"{text.path} does not have the size that is said.")
        yield text, _content([blocks[number] for number in former])


def _content(blocks: Sequence[Sequence[bytes]]) -> Iterator[bytes]:
    """Yield the text in parts of about a megabyte."""
    part: list[bytes] = []
    room = _PART
    for lines in blocks:
        part.append(b"\n".join(lines))
        room -= len(part[-1])
        if room < 0:
            yield b"\n\n".join(part)
            part, room = [b""], _PART
    yield b"\n\n".join(part)


_MOST_LINES = 50_000_000
"""Limit on lines of all blocks together: copies of copies can expand to any number."""
_MOST_BLOCKS = 200_000_000
"""Blocks in all texts together, each counted as often as it is copied."""


def _restored_blocks(chunks: Sequence[Chunk]) -> list[list[bytes]]:
    blocks: list[list[bytes]] = []
    left = _MOST_LINES
    for chunk in chunks:
        fresh = iter([line.encode("utf-8", "surrogateescape") for line in chunk.lines])
        for runs in chunk.blocks:
            blocks.append([])
            ends: dict[int, int] = {}
            for age, shift, count in _block_parts(runs):
                left -= count
                if left < 0 or count < 1:
                    raise DamagedTextsError("A block has an impossible number of lines.")
                if age == _NEW:
                    blocks[-1] += _taken(fresh, count)
                else:
                    start = shift + ends.get(age, len(blocks[-1]))
                    _copy(blocks, age, start, count)
                    ends[age] = start + count
            if not blocks[-1]:
                raise DamagedTextsError("A block has no line.")
    return blocks


def _block_parts(runs: LineRuns) -> Iterator[tuple[int, int, int]]:
    numbers = iter(runs)
    for kind in numbers:
        shift = 0 if kind == _NEW else next(numbers, 0)
        yield kind, shift, next(numbers, 0)


def _taken(lines: Iterator[bytes], count: int) -> list[bytes]:
    taken = list(islice(lines, count))
    if len(taken) != count:
        raise DamagedTextsError("A chunk has fewer lines than its blocks need.")
    return taken


def _copy(blocks: list[list[bytes]], age: int, start: int, count: int) -> None:
    """Append lines of an earlier block, or of the last one itself, which grows meanwhile."""
    if not 0 < age <= len(blocks) or start < 0:
        raise DamagedTextsError("A block copies lines that are not there.")
    source, target = blocks[-age], blocks[-1]
    if source is not target:
        target += source[start : start + count]
    elif start < len(target):
        for place in range(start, start + count):
            target.append(target[place])


def _restored_numbers(
    text: StoredText, former: list[int], known: int, most: int
) -> tuple[list[int], int]:
    """Return the numbers of a text's blocks, and how many blocks are known after it."""
    numbers: list[int] = []
    runs = iter(text.runs)
    for kind in runs:
        first, count = next(runs, -1), 1
        if kind == _NEW:
            numbers += range(known, known + min(first, most))
            known += first
        elif kind == 1:
            count = next(runs, 0)
            numbers += former[first : first + count]
        else:
            numbers.append(first)
        if first < 0 or count < 1 or known > most or len(numbers) > _MOST_LINES:
            raise DamagedTextsError(f"{text.path} asks for blocks that are not there.")
    if any(number >= most for number in numbers):
        raise DamagedTextsError(f"{text.path} asks for blocks that are not there.")
    return numbers, known
