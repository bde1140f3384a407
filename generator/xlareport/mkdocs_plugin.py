"""The MkDocs plugin: MkDocs makes a share of the pages of a report, and each is finished.

Settings that a user's mkdocs.yml replaces but the report cannot do without are put back.
"""

import os
import re
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, Template, TemplateError
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.theme import Theme
from msgspec.structs import replace

from xlareport.pages import navigation
from xlareport.pages.rendering.templates import Compiled, Kept, headings_alone, put_back
from xlareport.site.finish import NOT_FOUND, Finish, finish_files, own_settings
from xlareport.site.finished_pages import FinishedPages, open_finished_pages
from xlareport.site.site_shares import MODULES, WRITTEN_WHOLE, SiteShare, own_share, share_paths
from xlareport.storage.payloads import payload_path

_OTHER_LANGUAGES = ("assets/javascripts/lunr/",)
"""Word stemming of the theme's search for languages other than English."""
_WRITTEN_WHOLE = tuple(f"{folder}/" for folder in WRITTEN_WHOLE)
_MODULE_PAGES = f"{MODULES}/"
_SEARCH_INDEX = payload_path(navigation.SEARCH)
_FRAME = re.compile(r"[^/]+\.html|partials/(?:javascripts/|languages/en)?[^/]*\.html")
_TITLE = re.compile(r"^# .*$", re.MULTILINE)
_JOINED = re.compile(r"(</(?:dd|dt|strong|td|th)>)(?=<(?:dd|dt|span|td|th)\b)")
_ANCHOR = re.compile(r'<[^<>]*\sid="([^"]+)"')


class NoSettings(Config):  # type: ignore[no-untyped-call]
    """The plugin has no settings: a report is safe or it is none."""


_COMPILED = Compiled()
_NOTHING = Template("")
"""Of pages that another process makes, of which a link needs the title alone."""


class VisibleTemplates(FileSystemLoader):
    """Lists no hidden files, which MkDocs leaves out one by one: the theme has 14,000 icons."""

    def list_templates(self) -> list[str]:
        """Return the names of the templates outside hidden folders, sorted."""
        templates: set[str] = set()
        for root in self.searchpath:
            for current, folders, names in os.walk(root, followlinks=self.followlinks):
                folders[:] = [name for name in folders if not name.startswith(".")]
                place = os.path.relpath(current, root).replace(os.sep, "/")
                start = "" if place == "." else f"{place}/"
                templates.update(f"{start}{name}" for name in names if not name.startswith("."))
        return sorted(templates)


def theme_templates(theme: Theme) -> Environment:
    """Return the templates of a theme as MkDocs does, each compiled once and icons not listed."""
    templates = Theme.get_env(theme)
    templates.loader = VisibleTemplates(theme.dirs)
    templates.bytecode_cache = _COMPILED
    return templates


def compile_theme() -> None:
    """Compile the templates of the frame, so that it is done when the pages are there."""
    templates = theme_templates(Theme(name="material"))
    for name in templates.list_templates(filter_func=lambda name: bool(_FRAME.fullmatch(name))):
        with suppress(TemplateError):  # one of another plugin, without its filters
            templates.get_template(name)


class XlareportPlugin(BasePlugin[NoSettings]):  # type: ignore[no-untyped-call]
    """Makes the pages safe to open anywhere: offline, from file://, with hostile names in them."""

    _share: SiteShare | None = None
    """The part of the site that this process makes; None for all of it."""
    _sources = Path()
    _finish = Finish(is_searched=False)
    _former: FinishedPages | None = None
    """Pages of the former build; None where none are kept."""
    _kept: Kept = ()
    """The HTML between the headings of the page that is being read."""

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Remember whether `mkdocs serve` runs: its live reload needs an inline script."""
        del dirty
        self._finish = replace(self._finish, is_live=command == "serve")

    @event_priority(100)
    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Put back the scripts and styles of the report where mkdocs.yml has lists of its own."""
        ours = own_settings()
        config.theme.get_env = partial(  # type: ignore[method-assign]
            theme_templates, config.theme
        )
        config.use_directory_urls = False
        config.theme["font"] = False
        config.theme.static_templates.discard("sitemap.xml")  # it holds addresses
        config.extra_css = _join_entries(ours["extra_css"], config.extra_css)
        config.extra_javascript = _join_entries(ours["extra_javascript"], config.extra_javascript)
        polyfills = config.extra.get("polyfills", [])
        config.extra["polyfills"] = _join_entries(ours["extra"]["polyfills"], polyfills)
        return config

    @event_priority(-100)
    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Show MkDocs an empty folder if it makes a share of the pages: `on_files` adds them."""
        self._share, self._sources = own_share(), Path(config.docs_dir)
        if self._share:
            config.docs_dir = str(Path(config.site_dir).parent / "none")

    @event_priority(100)
    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """List a share's files; remove those that no reader needs, and absent pages' navigation."""
        if self._share:
            config.docs_dir = str(self._sources)
            files = _with_share(files, self._share, config)
        others = _OTHER_LANGUAGES if _searches_english(config) else ()
        for file in list(files):
            if file.src_uri.startswith(others):
                files.remove(file)
        # none in a comparison, or where all pages are one's own
        is_searched = (self._sources / _SEARCH_INDEX).is_file()
        self._finish = replace(self._finish, is_searched=is_searched)
        if config.nav == own_settings()["nav"]:
            pages = [file.src_uri for file in files.documentation_pages()]
            config.nav = _navigation(config.nav, pages)
        return files

    def on_nav(self, nav: Navigation, *, files: Files, config: MkDocsConfig) -> Navigation:
        """Leave shares of the module pages to other processes, and files to one of them.

        Pages that a former build finished are taken from there.
        """
        self._former = open_finished_pages(files, config, is_searched=self._finish.is_searched)
        for file in files if self._share else ():
            if not self._is_own(file):
                file.inclusion = InclusionLevel.EXCLUDED
        if self._former:
            self._former.take(filter(self._is_whole, files.documentation_pages()))
        return nav

    def _is_whole(self, file: File) -> bool:
        """Return whether this process makes a page, and more than its title."""
        return self._is_first or file.src_uri.startswith(_MODULE_PAGES)

    @property
    def _is_first(self) -> bool:
        """Whether the pages about the dump as a whole are wanted of this process."""
        return self._share is None or self._share.is_first

    def _is_own(self, file: File) -> bool:
        """Return whether the share has a file; others make what only a link needs."""
        if self._share and file.src_uri.startswith(_MODULE_PAGES) and file.is_documentation_page():
            return file.src_uri in self._share.pages
        return self._is_first or file.is_documentation_page()

    @event_priority(100)
    def on_env(self, env: Environment, *, files: Files, **_: object) -> Environment:
        """Copy no payload: most files of a site are."""
        for file in () if self._finish.is_live else files:
            if file.src_uri.startswith(_WRITTEN_WHOLE):
                file.inclusion = InclusionLevel.EXCLUDED
        return env

    def on_page_markdown(self, markdown: str, *, page: Page, **_: object) -> str:
        """Protect text from Markdown that it would parse without changing."""
        self._kept = ()
        if not self._is_whole(page.file):
            page.meta["template"] = _NOTHING
            title = _TITLE.search(markdown)
            return markdown[: title.end()] if title else ""
        if page.meta.get("between_headings") != "html":
            return markdown
        headings, self._kept = headings_alone(markdown)
        return headings

    def on_page_content(self, html: str, *, page: Page, **_: object) -> str:
        """Restore the protected text, and part cells, whose texts the search would join."""
        if self._kept:
            html = put_back(html, self._kept)
            anchors = page.present_anchor_ids or set()
            page.present_anchor_ids = anchors.union(*map(_ANCHOR.findall, self._kept))
        return _JOINED.sub(r"\1\n", html)

    def on_post_page(self, output: str, *, page: Page, **_: object) -> str:
        """Finish the page: only the theme's own inline scripts may run, never one in it."""
        finished = self._finish.finish_page(output)
        if self._former:
            self._former.keep(page, finished)
        return finished

    def on_post_template(self, output_content: str, *, template_name: str, **_: object) -> str:
        """Finish the pages that the theme brings along; 404.html is one of a report then."""
        if template_name == NOT_FOUND:
            return self._finish.finish_error_page(output_content)
        return output_content

    @event_priority(100)
    def _complete_search(self, /, *, config: MkDocsConfig) -> None:
        """Give the theme's search the texts of all pages before it writes them."""
        del config
        if self._former:
            self._former.complete()

    def _finish_site(self, /, *, config: MkDocsConfig) -> None:
        """Let the site have the payloads, and finish its files."""
        site = Path(config.site_dir)
        if self._finish.is_live:
            return
        finish_files(site)
        for folder in WRITTEN_WHOLE if self._is_first else ():
            link_below(self._sources / folder, site / folder)

    on_post_build = CombinedEvent(_complete_search, _finish_site)


def _searches_english(config: MkDocsConfig) -> bool:
    search = config.plugins.get("material/search")
    return search is not None and search.config.lang == ["en"]


def _with_share(files: Files, share: SiteShare, config: MkDocsConfig) -> Files:
    """Return the files of the theme and those of a share; of two with one address the first."""
    addresses: set[str] = set()
    for path in share_paths(share, Path(config.docs_dir)):
        file = File(path, config.docs_dir, config.site_dir, use_directory_urls=False)
        if file.dest_uri not in addresses:
            addresses.add(file.dest_uri)
            if path in files.src_uris:  # the theme's, which ours replaces
                files.remove(file)
            files.append(file)
    return files


def link_below(folder: Path, place: Path) -> None:
    """Let the site have all files of a folder under second names, or copies of them."""
    if not folder.is_dir():
        return
    place.mkdir(parents=True, exist_ok=True)
    with os.scandir(folder) as entries:
        for entry in entries:  # not listed: there are more of them than fit into memory
            if entry.is_dir():
                link_below(folder / entry.name, place / entry.name)
                continue
            name = f"{place}{os.sep}{entry.name}"
            try:
                os.link(entry.path, name)
            except OSError:  # the file system has one name for each file
                shutil.copyfile(entry.path, name)


def _join_entries(ours: list[str], theirs: list[Any]) -> list[Any]:
    """Return the report's entries, then those that the user added."""
    return [*ours, *(entry for entry in theirs if str(entry) not in ours)]


def _navigation(nav: list[Any], pages: list[str]) -> list[Any]:
    """Return the entries whose pages exist, then the pages that the user added."""
    entries = [entry for entry in (_existing(entry, set(pages)) for entry in nav) if entry]
    listed = set(_nav_pages(nav))
    return entries + [page for page in pages if page not in listed and not page.startswith("m/")]


def _existing(entry: Any, pages: set[str]) -> Any:
    """Return a navigation entry without the pages that are not there, or None."""
    if isinstance(entry, str):
        return entry if entry in pages else None
    ((title, target),) = entry.items()
    if isinstance(target, str):
        return entry if target in pages else None
    inner = [present for present in (_existing(item, pages) for item in target) if present]
    return {title: inner} if inner else None


def _nav_pages(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [page for item in inner for page in _nav_pages(item)]
