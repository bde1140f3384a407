"""Where a build keeps finished pages, and how the process of MkDocs knows."""

import json
import os
from pathlib import Path

from msgspec import Struct

from xlareport.runtime.user_folder import user_folder
from xlareport.storage.entry_store import EntryStore

KEPT = "XLAREPORT_KEPT"
"""Environment variable with the values of `KeptSite`; empty where no page is kept."""
_MOST_OF_GUIDE = 32_000_000
"""Bytes of the pages of the guide that are kept, of several versions and navigations, and of
glossaries."""


class KeptSite(Struct, frozen=True):
    """Where pages are kept, and the program that they have to be of."""

    program: str
    """Its digest."""
    store: EntryStore
    guide: EntryStore
    """Where pages of the guide and the glossary are kept."""

    def written(self) -> str:
        """Return it as the value of `KEPT`."""
        stores = ((str(store.folder), store.most) for store in (self.store, self.guide))
        return json.dumps([self.program, *stores])

    def prune(self) -> None:
        """Remove what was not used for longest, as far as there is too much."""
        for store in dict.fromkeys((self.store, self.guide)):
            store.prune()


def open_kept_site(program: str, store: EntryStore) -> KeptSite:
    """Return where a build keeps finished pages, besides results of modules."""
    return KeptSite(program, store, guide_store(store))


def guide_store(store: EntryStore) -> EntryStore:
    """Return where pages are kept that are the same in many reports of the user.

    That is the `store` of the report where no folder is the user's alone.
    """
    folder = user_folder()
    return EntryStore(folder / "guide", _MOST_OF_GUIDE) if folder else store


def is_guide_kept() -> bool:
    """Return whether the user has built a report before, as far as that is known."""
    folder = user_folder()
    return folder is not None and (folder / "guide").is_dir()


def kept_site() -> KeptSite | None:
    """Return where this process of MkDocs keeps pages; None where it keeps none."""
    written = os.environ.get(KEPT)
    if not written:
        return None
    program, *stores = json.loads(written)
    store, guide = (EntryStore(Path(folder), most) for folder, most in stores)
    return KeptSite(program, store, guide)
