"""Pages kept from build to build, by a digest of all that they are made from.

Those of a module are made from its result, whose key stands for it where it is kept, and from what
other modules decide, such as its role and its neighbors in the list.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b

from msgspec import Struct, msgpack
from msgspec.structs import replace

from xlareport.module_work.kept import KeptModules
from xlareport.module_work.listed_files import encode_files, list_by_path, own_artifacts
from xlareport.pages.module.module_pages import (
    ModulesShown,
    ModuleToShow,
    WantedPages,
    show_module,
)
from xlareport.pages.site_files import PageSources
from xlareport.site.kept_site import guide_store
from xlareport.storage.entry_store import EntryStore
from xlareport.storage.payloads import Payload, TextFile
from xlareport.storage.typed_values import list_values


class _Pages(Struct, frozen=True):
    """An entry."""

    files: tuple[TextFile, ...]
    columns: tuple[Payload, ...]


class KeptFiles(Struct, frozen=True):
    """Makes files about a whole dump, or finds those of a former build."""

    store: EntryStore
    program: str
    """The digest of the program that has to have made them."""

    def __call__(
        self, name: str, values: Sequence[object], make: Callable[[], Iterable[TextFile]]
    ) -> Iterable[TextFile]:
        """Return the files that `make` makes from `values` alone; `name` tells them from others."""
        try:
            listed = encode_files([name, self.program, values])
        except (TypeError, ValueError):  # a value that cannot be listed
            return make()
        key = blake2b(listed, digest_size=20).hexdigest()
        pages = self.store.get_record(key, _Pages)
        if pages is None:
            pages = _Pages(tuple(make()), ())
            self.store.put_record(key, pages)
        return pages.files


class KeptPages(Struct, frozen=True):
    """Makes the pages of a module and keeps them, or finds those of a former build."""

    kept: KeptModules

    def find(self, wanted: WantedPages) -> ModulesShown | ModuleToShow:
        """Return the result of `show_module` where it is kept, else the module with its key."""
        module = None if wanted.result else wanted.load()
        key = self._key_of_values(module) if module else self._key(wanted)
        pages = self.kept.store.get_record(key, _Pages) if key else None
        if pages is None:
            return replace(module or wanted.load(), key=key)
        return ModulesShown([*pages.files], [], {column.key: column for column in pages.columns})

    def show(self, module: ModuleToShow) -> ModulesShown:
        """Return the result of `show_module`; with a fault of ours in it, it is not kept."""
        shown = show_module(module)
        if module.key and not shown.problems:
            pages = _Pages(tuple(shown.files), tuple(shown.columns.values()))
            self.kept.store.put_record(module.key, pages)
        return shown

    def _key(self, wanted: WantedPages) -> str:
        """Return the digest of what decides the pages of a module whose result is kept."""
        try:
            listed = encode_files(["pages", self.kept.program, wanted.result, wanted.decided])
        except ValueError:  # a name with characters that are in no file
            return ""
        return blake2b(listed, digest_size=20).hexdigest()

    def _key_of_values(self, module: ModuleToShow) -> str:
        """Return the digest of all values of a module; empty where one cannot be listed."""
        analysis = module.analysis
        both = filter(None, (analysis.summary.files, analysis.same_as))
        artifacts = [artifact for files in both for artifact in own_artifacts(files)]
        try:
            listed = list_values(module, list_by_path(artifacts))
            key = blake2b(encode_files(["pages", self.kept.program, artifacts]), digest_size=20)
            key.update(msgpack.encode(listed))
        except (TypeError, ValueError, KeyError, OverflowError, RecursionError):
            return ""
        return key.hexdigest()


def open_kept_pages(kept: KeptModules | None) -> PageSources:
    """Return what finds and keeps pages in a store; without one, what makes all of them."""
    if kept is None:
        return PageSources()
    pages = KeptPages(kept)
    return PageSources(pages.show, pages.find, KeptFiles(guide_store(kept.store), kept.program))
