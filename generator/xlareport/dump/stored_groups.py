"""The files and modules of a large dump, grouped by a process that ends, and kept in files.

Grouping the names of a dump needs several times the memory that reading it needs later.
"""

import tempfile
from array import array
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import Artifact, GroupedDump, ModuleFiles
from xlareport.dump.source import MANY_FILES, Source
from xlareport.runtime.worker_pool import WorkerPool
from xlareport.storage.spooled_values import FilledValues
from xlareport.storage.value_blocks import ValueBlocks

NO_OWNER = -1
_OF_FILE = "i"
"""Four bytes for each file: the index of a module."""


class NamedDump(Struct, frozen=True):
    """The files of a dump by their names, and its modules."""

    artifacts: Sequence[Artifact]
    grouped: GroupedDump
    owners: Sequence[int]
    """The index of each file's module; NO_OWNER if it has none."""


def name_and_group(source: Source) -> NamedDump:
    """Return the files of a dump and its modules; raises OSError where a disk is full."""
    if len(source.entries) < MANY_FILES:
        return _named(source)
    with tempfile.TemporaryDirectory(prefix="xlareport-names-") as folder, WorkerPool(1) as worker:
        work = partial(_stored, folder=Path(folder))
        return _taken_over(worker.submit(work, source, work).result())


def _named(source: Source) -> NamedDump:
    artifacts = name_files(source)
    grouped = group(artifacts)
    return NamedDump(artifacts, grouped, owners(artifacts, grouped.modules))


def owners(artifacts: Sequence[Artifact], modules: Sequence[ModuleFiles]) -> "array[int]":
    """Return the index of each file's module; NO_OWNER if it has none."""
    owner = {
        artifact.path: place
        for place, module in enumerate(modules)
        for artifact in module.artifacts
    }
    return array(_OF_FILE, (owner.get(artifact.path, NO_OWNER) for artifact in artifacts))


class _Stored(Struct, frozen=True):
    """A named dump on its way between processes."""

    artifacts: ValueBlocks[Artifact]
    modules: FilledValues[ModuleFiles]
    grouped: GroupedDump
    """Without the modules."""
    owners: "array[int]"


def _stored(source: Source, folder: Path) -> _Stored:
    named = _named(source)
    blocks = FilledValues[tuple[Artifact, ...]](folder / "files")
    modules = FilledValues[ModuleFiles](folder / "modules")
    return _Stored(
        artifacts=ValueBlocks(blocks, named.artifacts),
        modules=modules.extend(named.grouped.modules),
        grouped=replace(named.grouped, modules=()),
        owners=array(_OF_FILE, named.owners),
    )


def _taken_over(stored: _Stored) -> NamedDump:
    for values in (stored.artifacts.blocks, stored.modules):
        if isinstance(values, FilledValues):
            values.take_over()
    grouped = replace(stored.grouped, modules=stored.modules)
    return NamedDump(stored.artifacts, grouped, stored.owners)
