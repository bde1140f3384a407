"""The files of a dump as records, made on access if there are very many."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.dump.grouping import NO_OWNER, NamedDump
from xlareport.dump.modules import Artifact
from xlareport.dump.source import MANY_FILES
from xlareport.storage.lazy_sequence import LazySequence


class FileRecord(Struct, frozen=True):
    """A file of the dump; `module` is the key of its module."""

    path: str
    kind: str
    module: str | None


class FileList(LazySequence[FileRecord]):
    """The records of all files, by their paths."""

    def __init__(self, named: NamedDump, keys: Sequence[str]) -> None:
        """Take the files, and the keys of the modules in their order."""
        self._named = named
        self._keys = keys

    def __len__(self) -> int:
        return len(self._named.artifacts)

    def value_at(self, place: int) -> FileRecord:
        """Return the record of a file by its place."""
        return self._record(self._named.artifacts[place], self._named.owners[place])

    def __iter__(self) -> Iterator[FileRecord]:
        return map(self._record, self._named.artifacts, self._named.owners)

    def _record(self, artifact: Artifact, owner: int) -> FileRecord:
        key = None if owner == NO_OWNER else self._keys[owner]
        return FileRecord(artifact.path, artifact.name.kind, key)

    def kinds_of(self, place: int) -> Mapping[str, str]:
        """Return the kinds of the files of a module by their paths."""
        files = self._named.grouped.modules[place]
        return {artifact.path: artifact.name.kind for artifact in files.artifacts}


def list_files(named: NamedDump, keys: Sequence[str]) -> Sequence[FileRecord]:
    """Return the records of all files; `keys` are those of the modules in their order."""
    files = FileList(named, keys)
    return files if len(files) >= MANY_FILES else tuple(files)
