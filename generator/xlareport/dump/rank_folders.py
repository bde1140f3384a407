"""Folders of ranks that hold the same files: one is read, the others are listed as its copies.

Each process of a job dumps into a folder of its own. Equal folders are found by the paths and sizes
of their files, then by digests of contents: before any name or text is parsed.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.dump.content_digests import RunEach, is_volatile, known_digest
from xlareport.dump.modules import FolderCopy
from xlareport.dump.source import Entry
from xlareport.storage.packed_keys import ChosenValues, digest_number

_OF_MODULE = re.compile(r"(?:\d{10,20}\.)?module_\d{4,}\.[^/]*+", re.ASCII)


class FoldedEntries(Struct, frozen=True):
    """The files to read, and the folders that repeat others."""

    entries: Sequence[Entry]
    copies: tuple[FolderCopy, ...] = ()


def fold_rank_folders(
    entries: Sequence[Entry],
    run: RunEach = map,
    keep: Callable[[Iterable[Entry]], Sequence[Entry]] = tuple,
) -> FoldedEntries:
    """Remove the folders of ranks whose files equal those of an earlier folder.

    `run` calls the function that reads files; `keep` converts the remaining ones to a sequence.
    """
    members = _by_folder(entries)
    if len(members) < 2:
        return FoldedEntries(entries)
    alike: dict[int, list[str]] = defaultdict(list)
    for folder in sorted(members, key=natural_order):
        files = ChosenValues(entries, members[folder])
        alike[digest_number(_outline(folder, files))].append(folder)
    several = [folders for folders in alike.values() if len(folders) > 1]
    compared = [place for folders in several for folder in folders for place in members[folder]]
    known_digests = run(known_digest, ChosenValues(entries, compared))
    digests = dict(zip(compared, known_digests, strict=True))
    copies = [copy for folders in several for copy in _copies(entries, folders, members, digests)]
    if not copies:
        return FoldedEntries(entries)
    gone = {place for copy in copies for place in members[copy.folder]}
    remaining = keep(entry for place, entry in enumerate(entries) if place not in gone)
    return FoldedEntries(remaining, tuple(copies))


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a sort key of names by which `rank_2` comes before `rank_10`."""
    parts = re.split(r"(\d{1,18})", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _by_folder(entries: Iterable[Entry]) -> "Mapping[str, array[int]]":
    """Return the places of the files at and below each folder that modules were dumped to.

    Empty where there are not several such folders.
    """
    split = (entry.path.rpartition("/") for entry in entries)
    dumped_to = {folder for folder, _, name in split if _OF_MODULE.match(name)}
    highest = {folder for folder in dumped_to if not any(up in dumped_to for up in _above(folder))}
    members: dict[str, array[int]] = defaultdict(lambda: array("q"))
    homes: dict[str, str | None] = {}
    for place, entry in enumerate(entries if len(highest) > 1 else ()):
        folder = entry.path.rpartition("/")[0]
        if folder not in homes:
            homes[folder] = next((up for up in (folder, *_above(folder)) if up in highest), None)
        home = homes[folder]
        if home is not None:
            members[home].append(place)
    return members


def _above(folder: str) -> Iterator[str]:
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def _outline(folder: str, entries: Iterable[Entry]) -> tuple[tuple[str, int], ...]:
    """Return the paths inside of the folder with their sizes, as far as these have to agree."""
    start = len(folder) + 1 if folder else 0
    return tuple(
        sorted(
            (entry.path[start:], 0 if is_volatile(entry.path) else entry.size) for entry in entries
        )
    )


def _copies(
    entries: Sequence[Entry],
    folders: Sequence[str],
    members: "Mapping[str, array[int]]",
    digests: Mapping[int, bytes | None],
) -> Iterator[FolderCopy]:
    """Yield the folders with the contents of an earlier one; entries are sorted by path."""
    first: dict[tuple[bytes | None, ...], str] = {}
    for folder in folders:
        places = members[folder]
        contents = tuple(digests[place] for place in places)
        if None in contents:  # a file cannot be read: reading its module says so
            continue
        original = first.setdefault(contents, folder)
        if original is not folder:
            size = sum(entries[place].size for place in places)
            yield FolderCopy(folder, original, len(places), size)
