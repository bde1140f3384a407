"""Copies of files of another machine, for as long as they are read."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec.structs import replace

from xlareport.dump.source import Entry

_FETCHES = 8
"""Files that are fetched at once."""


@contextmanager
def files_here(entries: Iterable[Entry]) -> Iterator[Mapping[str, Entry]]:
    """Yield the entries by their paths, copied to this machine.

    What cannot be fetched, or has no room here, stays where it is.
    """
    listed = list(entries)
    with ExitStack() as stack:
        try:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="xlareport-")))
        except OSError:  # a disk on which there is no room for a folder either
            yield {entry.path: entry for entry in listed}
            return
        pool = stack.enter_context(ThreadPoolExecutor(_FETCHES))
        numbered = [(folder / f"{number:06d}", entry) for number, entry in enumerate(listed)]
        yield {entry.path: entry for entry in pool.map(_copied_here, numbered)}


def _copied_here(pair: tuple[Path, Entry]) -> Entry:
    location, entry = pair
    if entry.stored is None:
        return entry
    try:
        location.write_bytes(entry.read())
    except OSError:
        return entry
    return replace(entry, place=location, is_below=False, stored=None)
