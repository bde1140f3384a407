"""Names of files as an earlier build parsed them: most files of a dump keep their names."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from msgspec import Struct, json
from msgspec.structs import replace

from xlareport.dump.filename import DumpName, parse
from xlareport.dump.tokens import Token
from xlareport.storage.entry_store import EntryStore


class _Names(Struct, frozen=True):
    """An entry; names share most of their tokens."""

    tokens: tuple[Token, ...]
    names: tuple[tuple[DumpName, tuple[int, ...]], ...]
    """Each without its tokens, and the places of these in `tokens`."""


class KeptNames(Struct, frozen=True):
    """Parses the names of a dump, or finds those that a former build parsed."""

    store: EntryStore
    program: str
    """The digest of the program that has to have parsed them."""

    def __call__(self, paths: Sequence[str]) -> list[DumpName]:
        """Return what `parse` returns for each path."""
        key = blake2b(f"names\n{self.program}".encode(), digest_size=20).hexdigest()
        known = self._known(key)
        names = [known.get(path) or parse(path) for path in paths]
        if known.keys() != set(paths):
            self.store.put(key, _entry(names))
        return names

    def _known(self, key: str) -> Mapping[str, DumpName]:
        """Return the names of the former build by their paths."""
        try:
            entry = json.decode(self.store.get(key) or b"", type=_Names)
            names = [
                replace(name, tokens=tuple(map(entry.tokens.__getitem__, places)))
                for name, places in entry.names
            ]
        except (ValueError, IndexError, RecursionError):  # none, or an altered one
            return {}
        return {str(name): name for name in names}


def _entry(names: Iterable[DumpName]) -> bytes:
    places: dict[Token, int] = {}
    rows = tuple(
        (
            replace(name, tokens=()),
            tuple(places.setdefault(token, len(places)) for token in name.tokens),
        )
        for name in names
    )
    return json.encode(_Names(tuple(places), rows))
