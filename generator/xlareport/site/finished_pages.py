"""Finished pages kept from build to build, by a digest of all that MkDocs makes them from.

That is the page, the pages in the navigation, the settings and the program. Pages are kept only in
a site whose settings and pages are all of xlareport: those of a user may depend on any file.

Pages of the guide, which have nothing of a dump, are kept for all sites of the user, and so is the
glossary, which has the passes and opcodes of a dump and nothing else of it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from msgspec import Struct

from xlareport.pages import navigation
from xlareport.site.folder import Folder
from xlareport.site.kept_site import KeptSite, kept_site
from xlareport.site.site_shares import MODULES
from xlareport.storage.entry_store import EntryStore

_GUIDE = "guide/"
_SEARCH = "material/search"
_SearchText = Mapping[str, str]
"""The text of a section for the theme's search, its title and its address."""


class _FinishedPage(Struct, frozen=True):
    """An entry."""

    html: str
    title: str
    sections: tuple[_SearchText, ...]


class FinishedPages:
    """The pages of one run of MkDocs: those that are taken from the store, and those made anew."""

    def __init__(self, kept: KeptSite, frame: Sequence[Any], sections: list[Any]) -> None:
        """Take what all pages depend on, and the list of sections that the search plugin fills."""
        self._kept = kept
        self._frame = json.dumps([kept.program, *frame])
        self._sections = sections
        self._of_page: dict[str, Sequence[_SearchText]] = {}
        self._keys: dict[str, str] = {}
        self._indexed = 0
        """How many sections are of pages that were made until now."""

    def take(self, files: Iterable[File]) -> None:
        """Write the pages that are kept, and have MkDocs leave these out."""
        for file in files:
            self._of_page[file.src_uri] = ()
            self._keys[file.src_uri] = key = self._key(file)
            page = self._store(file).get_record(key, _FinishedPage)
            if page is None:
                continue
            place = Path(file.abs_dest_path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(_encoded(page.html))
            self._of_page[file.src_uri] = page.sections
            file.inclusion = InclusionLevel.EXCLUDED
            if file.page:  # the navigation of other pages names it
                file.page.title = page.title

    def keep(self, page: Page, html: str) -> None:
        """Keep a page that is finished, if it is one of those asked for."""
        path = page.file.src_uri
        sections, self._indexed = self._sections[self._indexed :], len(self._sections)
        if path not in self._keys:
            return
        self._of_page[path] = sections
        finished = _FinishedPage(html, str(page.title), tuple(sections))
        self._store(page.file).put_record(self._keys[path], finished)

    def complete(self) -> None:
        """Put the sections of all pages into the order in which MkDocs makes pages."""
        self._sections[:] = [section for some in self._of_page.values() for section in some]

    def _key(self, file: File) -> str:
        key = blake2b(f"{self._frame}\n{file.src_uri}\n".encode(), digest_size=20)
        key.update(file.content_bytes)
        return key.hexdigest()

    def _store(self, file: File) -> EntryStore:
        is_shared = file.src_uri.startswith(_GUIDE) or file.src_uri == navigation.GLOSSARY
        return self._kept.guide if is_shared else self._kept.store


def open_finished_pages(
    files: Files, config: MkDocsConfig, *, is_searched: bool
) -> FinishedPages | None:
    """Return the kept pages of a site; None where pages depend on more than xlareport wrote."""
    kept, search = kept_site(), config.plugins.get(_SEARCH)
    pages = [file.src_uri for file in files.documentation_pages()]
    if kept is None or search is None or not _are_own(pages, config):
        return None
    shared = [page for page in pages if not page.startswith(f"{MODULES}/")]
    return FinishedPages(kept, [config.nav, shared, is_searched], search.search_index.entries)


def _are_own(pages: Iterable[str], config: MkDocsConfig) -> bool:
    folder = Folder(Path(config.config_file_path).parent)
    try:
        if not folder.has_own_settings():
            return False
        with folder.manifest.open(encoding="utf-8") as lines:
            ours = {line.rstrip("\n") for line in lines if line.endswith(".md\n")}
    except (OSError, UnicodeError):
        return False
    return ours.issuperset(pages)


def _encoded(html: str) -> bytes:
    return html.encode("utf-8", "xmlcharrefreplace")
