"""All names of a dump read together: what one name leaves open, its neighbours settle.

A module's files share a folder and an id. What they have in common tells where the module's name
ends, and to which module a file belongs that lost its name (XLA leaves the name out where a file
name would pass 255 bytes), never had one, or bears no timestamp while its neighbours do.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from heapq import nsmallest

from xlareport.dump.contents import kind_by_content
from xlareport.dump.filename import DumpName, parse, read, sanitised
from xlareport.dump.owner_candidates import SNAPSHOTS, Homes, shortest_lost

Peek = Callable[[str], bytes]
"""Returns the first bytes of the file at a path; may raise OSError."""

_PLAIN = SNAPSHOTS | {"flags", "config", "compile-input"}
"""Kinds whose names end in fixed words, so that what stands before is the module's name."""
_BEFORE_NAME = re.compile(r"module_\d{4,}\.", re.ASCII)


def classify(paths: Sequence[str], peek: Peek | None = None) -> tuple[DumpName, ...]:
    """Parse all paths of a dump, in the order given.

    `peek` is asked for the first bytes of files whose names fit no grammar; without it no file is
    opened. The `module_prefix` of a file is that of the module to which its neighbours show that
    it belongs.
    """
    found = [parse(path) for path in paths]
    for places in _groups(found):
        _settle_names(paths, found, places)
        _settle_prefixes(paths, found, places)
        _settle_frontend(found, places)
    _settle_without_id(found)
    if peek is not None:
        _settle_kinds(paths, found, peek)
    return tuple(found)


def _groups(found: Sequence[DumpName]) -> Iterator[Sequence[int]]:
    """Yield the places of the files of each folder and module id."""
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for place, one in enumerate(found):
        if one.module_id is not None:
            groups[one.folder, one.module_id].append(place)
    yield from groups.values()


def _settle_names(paths: Sequence[str], found: list[DumpName], places: Sequence[int]) -> None:
    """Read again, with the names that are sure, what may have been divided wrongly."""
    sure = _sure_names([found[place] for place in places])
    lengths = sorted({len(name) for name in sure})
    for place in places if sure else ():
        one = found[place]
        if one.ambiguous or (one.module_name and sanitised(one.module_name) not in sure):
            found[place] = read(paths[place], _names_in(paths[place], sure, lengths))


def _sure_names(files: Sequence[DumpName]) -> frozenset[str]:
    """Return the names that stand before a fixed word, where one file is clear or two agree."""
    shown: Counter[str] = Counter()
    for one in files:
        if one.module_name and one.stage and not one.kernel and one.kind in _PLAIN:
            shown[sanitised(one.module_name)] += 1 if one.ambiguous else 2
    return frozenset(name for name, weight in shown.items() if weight > 1)


def _names_in(path: str, names: frozenset[str], lengths: Sequence[int]) -> Sequence[str]:
    """Return those of the names that follow `module_<id>.` in a path; `lengths` are theirs.

    Where none does, and XLA would have left each out for its length, the one is the empty name.
    """
    starts = [match.end() for match in _BEFORE_NAME.finditer(path)]
    texts = {path[start : start + length] for start in starts for length in lengths}
    if all(length >= shortest_lost(path) for length in lengths):
        return sorted(texts & names) or [""]
    return sorted(texts & names)


def _settle_prefixes(paths: Sequence[str], found: list[DumpName], places: Sequence[int]) -> None:
    """Give files without name or timestamp the prefix of the one module they can belong to."""
    homes = _homes(paths, found, places)
    for place in places:
        found[place] = _at_home(found[place], homes.of(found[place], paths[place]))


def _homes(paths: Sequence[str], found: Sequence[DumpName], places: Sequence[int]) -> Homes:
    """Return the modules of which there are snapshots, with their prefixes.

    A snapshot that lost its name for its length makes no module of its own.
    """
    snapshots = [place for place in places if found[place].kind in SNAPSHOTS]
    telling = [place for place in snapshots if found[place].stage and found[place].module_prefix]
    named = Homes(found[place] for place in telling if found[place].module_name)
    bare = [place for place in telling if not found[place].module_name]
    own = [place for place in bare if not named.may_have_lost(found[place], paths[place])]
    if not own:
        return named
    kept = {*own, *(place for place in telling if found[place].module_name)}
    return Homes(found[place] for place in kept)


def _at_home(one: DumpName, prefixes: frozenset[str]) -> DumpName:
    if not prefixes or prefixes == {one.module_prefix}:
        return one
    if len(prefixes) == 1:
        return replace(one, module_prefix=next(iter(prefixes)))
    return replace(one, ambiguous=f"{one.ambiguous or ''} {_doubt(prefixes)}".strip())


@lru_cache(maxsize=256)
def _doubt(prefixes: frozenset[str]) -> str:
    first = ", ".join(nsmallest(3, prefixes))
    return f"It may belong to any of {len(prefixes)} modules: {first}."


def _settle_frontend(found: list[DumpName], places: Sequence[int]) -> None:
    """Let all files of a module know that it is for IPUs, which only its pipelines tell."""
    if any(found[place].frontend == "ipu" for place in places):
        for place in places:
            found[place] = replace(found[place], frontend="ipu")


def _settle_without_id(found: list[DumpName]) -> None:
    """Give files that show a module's name alone the prefix of the one module of that name."""
    homes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in found:
        if one.module_id is not None and one.module_name and one.module_prefix:
            homes[one.folder, sanitised(one.module_name)].add(one.module_prefix)
    prefixes = {key: frozenset(found_there) for key, found_there in homes.items()}
    for place, one in enumerate(found):
        if one.module_id is None and one.module_name and one.kind not in SNAPSHOTS:
            key = one.folder, sanitised(one.module_name)
            found[place] = _at_home(one, prefixes.get(key, frozenset()))


def _settle_kinds(paths: Sequence[str], found: list[DumpName], peek: Peek) -> None:
    for place, one in enumerate(found):
        if one.kind == "unknown":
            with suppress(OSError):
                kind = kind_by_content(peek(paths[place])) or one.kind
                found[place] = replace(one, kind=kind)
