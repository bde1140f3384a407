"""Folders of ranks that hold the same files: one is read, the others are listed as its copies.

Each process of a job dumps into a folder of its own. Equal folders are found by the paths and sizes
of their files, then by digests of contents: before any name is taken apart or any text is parsed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xlareport.dump.contents import RunEach, is_volatile, known_digest
from xlareport.dump.modules import FolderCopy
from xlareport.dump.source import Entry

_OF_MODULE = re.compile(r"(?:\d{10,20}\.)?module_\d{4,}\.[^/]*+", re.ASCII)


@dataclass(frozen=True, slots=True)
class FoldedEntries:
    """The files to be read, and the folders that repeat others."""

    entries: tuple[Entry, ...]
    copies: tuple[FolderCopy, ...] = ()


def fold_rank_folders(entries: Sequence[Entry], run: RunEach = map) -> FoldedEntries:
    """Take out the folders of ranks whose files are the same as those of an earlier one.

    `run` reads files.
    """
    members = _by_folder(entries)
    if len(members) < 2:
        return FoldedEntries(tuple(entries))
    alike: dict[object, list[str]] = defaultdict(list)
    for folder in sorted(members, key=natural_order):
        alike[_outline(folder, members[folder])].append(folder)
    several = [folders for folders in alike.values() if len(folders) > 1]
    compared = [entry for folders in several for folder in folders for entry in members[folder]]
    digests = dict(zip(map(id, compared), run(known_digest, compared), strict=True))
    copies = [copy for folders in several for copy in _copies(folders, members, digests)]
    gone = {id(entry) for copy in copies for entry in members[copy.folder]}
    kept = tuple(entry for entry in entries if id(entry) not in gone)
    return FoldedEntries(kept, tuple(copies))


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return what names are sorted by, so that `rank_2` comes before `rank_10`."""
    parts = re.split(r"(\d{1,18})", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _by_folder(entries: Iterable[Entry]) -> Mapping[str, list[Entry]]:
    """Return the files at and below each folder that modules were dumped to."""
    split = [(entry, *entry.path.rpartition("/")[::2]) for entry in entries]
    dumped_to = {folder for _, folder, name in split if _OF_MODULE.match(name)}
    highest = {folder for folder in dumped_to if not any(up in dumped_to for up in _above(folder))}
    members: dict[str, list[Entry]] = defaultdict(list)
    known: dict[str, str | None] = {}
    for entry, folder, _ in split:
        if folder not in known:
            known[folder] = next((up for up in (folder, *_above(folder)) if up in highest), None)
        home = known[folder]
        if home is not None:
            members[home].append(entry)
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
    folders: Sequence[str],
    members: Mapping[str, list[Entry]],
    digests: Mapping[int, bytes | None],
) -> Iterator[FolderCopy]:
    first: dict[tuple[bytes | None, ...], str] = {}
    for folder in folders:
        entries = members[folder]
        contents = tuple(
            digests[id(entry)] for entry in sorted(entries, key=lambda entry: entry.path)
        )
        if None in contents:  # a file cannot be read: reading its module says so
            continue
        original = first.setdefault(contents, folder)
        if original is not folder:
            yield FolderCopy(folder, original, len(entries), sum(entry.size for entry in entries))
