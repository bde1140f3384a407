"""Modules that several processes wrote with the same contents: one is read for all of them.

Ranks compile the same modules, often under other numbers, where one alone logs or saves something.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from xlareport.dump.contents import RunEach, content_digest, is_volatile
from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import Artifact, GroupedDump, ModuleFiles
from xlareport.dump.rank_folders import fold_rank_folders
from xlareport.dump.source import Source

_PREFIX = re.compile(r"(?:\d{10,20}\.)?module_\d{4,}(?=[./]|\Z)", re.ASCII)
_Outline = tuple[str, tuple[tuple[str, int], ...]]


def group_source(source: Source, run: RunEach = map) -> tuple[list[Artifact], GroupedDump]:
    """Return the files of a dump that may be read, and its modules; of equal ones of ranks one.

    `run` reads files, as far as they have to be compared.
    """
    folded = fold_rank_folders(source.entries, run)
    artifacts = name_files(replace(source, entries=folded.entries))
    grouped = merge_rank_modules(group(artifacts), run)
    return artifacts, replace(grouped, folder_copies=folded.copies)


def merge_rank_modules(grouped: GroupedDump, run: RunEach = map) -> GroupedDump:
    """Take out modules that repeat one of another process: its copies name them.

    Files of the TPU's low-level compiler are not compared; modules that have some stay apart.
    """
    alike: dict[_Outline, list[ModuleFiles]] = defaultdict(list)
    for module in grouped.modules:
        if module.stages and not module.llo:
            alike[module.name, _outline(module)].append(module)
    several = [
        modules
        for modules in alike.values()
        if any(may_be_ranks(modules[0], other) for other in modules[1:])
    ]
    known = {module.key: module for module in grouped.modules}
    copies = {
        key: [known[other] for other in repeated]
        for keys in run(_copies, several)
        for key, repeated in keys.items()
    }
    gone = {module.key for repeated in copies.values() for module in repeated}
    return replace(
        grouped,
        modules=tuple(module for module in grouped.modules if module.key not in gone),
        copies={key: tuple(repeated) for key, repeated in copies.items() if repeated},
    )


def _copies(modules: Iterable[ModuleFiles]) -> Mapping[str, list[str]]:
    """Return the keys of modules of other processes with the contents of each, by its key.

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


def may_be_ranks(module: ModuleFiles, other: ModuleFiles) -> bool:
    """Return whether two processes wrote these: a process gives a number once, in its folder."""
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
