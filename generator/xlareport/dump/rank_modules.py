"""Modules that several processes wrote with equal contents: one is read for all of them.

Ranks compile the same modules, often under other numbers, because one of them logs or saves.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from xlareport.dump.content_digests import RunEach, content_digest, is_volatile
from xlareport.dump.modules import Artifact, GroupedDump, ModuleFiles
from xlareport.storage.packed_keys import ChosenValues, digest_number, group_alike

_PREFIX = re.compile(r"(?:\d{10,20}\.)?module_\d{4,}(?=[./]|\Z)", re.ASCII)


class RankedCompilation(Protocol):
    """The properties of a module that identify its process."""

    @property
    def folder(self) -> str:
        """Where it was dumped to."""

    @property
    def id(self) -> int | None:
        """Its number in the process."""

    @property
    def timestamp(self) -> int | None:
        """In the names of its files, in microseconds."""


class RankPlace(Struct, frozen=True):
    """A module by its index, with the properties that identify its process."""

    number: int
    folder: str
    id: int | None
    timestamp: int | None


def rank_place(number: int, module: ModuleFiles) -> RankPlace:
    """Return the properties of a module that are kept for comparison."""
    return RankPlace(number, module.folder, module.id, module.timestamp)


def merge_rank_modules(grouped: GroupedDump, run: RunEach = map) -> GroupedDump:
    """Return the dump without modules that repeat another process's; the original lists them.

    Files of the TPU's low-level compiler are not compared; modules that have some are not merged.
    """
    outlines, places = array("q"), array("q")
    for number, module in enumerate(grouped.modules):
        if module.stages and not module.llo:
            outlines.append(digest_number((module.name, _outline(module))))
            places.append(number)
    every = grouped.modules
    alike = [[places[at] for at in same] for same in group_alike(outlines)]
    several = [
        numbers
        for numbers in alike
        if _are_several([rank_place(number, every[number]) for number in numbers])
    ]
    if not several:
        return grouped
    copies = run(_copies, ([every[number] for number in numbers] for numbers in several))
    keys = {key: repeated for some in copies for key, repeated in some.items() if repeated}
    gone = {key for repeated in keys.values() for key in repeated}
    by_key: dict[str, ModuleFiles] = {}
    first_numbers = array("q")
    for number, module in enumerate(every):  # which may lie on disk, and stay there
        if module.key in gone:
            by_key[module.key] = module.outline()
        else:
            first_numbers.append(number)
    return replace(
        grouped,
        modules=ChosenValues(every, first_numbers),
        copies={key: tuple(by_key[copy] for copy in repeated) for key, repeated in keys.items()},
    )


def _are_several(places: Sequence[RankPlace]) -> bool:
    return any(may_be_ranks(places[0], other) for other in places[1:])


def _copies(modules: Iterable[ModuleFiles]) -> Mapping[str, list[str]]:
    """Return, for each original module's key, the keys of its copies in other processes.

    Each process has one.
    """
    originals: dict[tuple[bytes, ...], list[ModuleFiles]] = defaultdict(list)
    copies: dict[str, list[ModuleFiles]] = {}
    for module in modules:
        try:
            digests = tuple(content_digest(artifact.entry) for _, _, artifact in by_ending(module))
        except OSError:  # reading the module says so
            continue
        for original in originals[digests]:
            same = [original, *copies[original.key]]
            if all(may_be_ranks(module, other) for other in same):
                copies[original.key].append(module)
                break
        else:
            originals[digests].append(module)
            copies[module.key] = []
    return {key: [module.key for module in repeated] for key, repeated in copies.items()}


def may_be_ranks(module: RankedCompilation, other: RankedCompilation) -> bool:
    """Return whether different processes can have dumped these two modules.

    They can if the folders differ, or in one folder with equal numbers and different timestamps:
    a process uses each number once.
    """
    if module.folder != other.folder:
        return True
    return module.id is not None and module.id == other.id and module.timestamp != other.timestamp


def _outline(module: ModuleFiles) -> tuple[tuple[str, int], ...]:
    return tuple((ending, size) for ending, size, _ in by_ending(module))


def by_ending(module: ModuleFiles) -> Sequence[tuple[str, int, Artifact]]:
    """Return (path without folder and number, bytes, file) of each file, in order."""
    start = len(module.folder) + 1 if module.folder else 0
    endings = (
        (
            _PREFIX.sub("module", artifact.path[start:], count=1),
            0 if is_volatile(artifact.path) else artifact.entry.size,
            artifact,
        )
        for artifact in module.artifacts
    )
    return sorted(endings, key=lambda row: (row[0], row[1], row[2].path))
