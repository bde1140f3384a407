"""The final changes to a site after its generator: policy, notes, one style.

MkDocs calls it page by page through the plugin; `finish_site` does the same for the site of any
other generator.
"""

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.utils.yaml import yaml_load
from msgspec import Struct

from xlareport.pages import navigation
from xlareport.runtime.errors import XlareportError
from xlareport.runtime.resources import find_resource
from xlareport.site.one_page import policy_element, script_hash
from xlareport.storage.payloads import payload_path

_ALLOWED = (
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
)
_HEAD = re.compile(r'<meta charset="?utf-8"?\s*/?>', re.IGNORECASE)
_SEARCHED = '<meta name="xr-search" content="{}">'
"""Tells the page script that there is a search index, and its address."""
_MKDOCS_INDEX, _ZENSICAL_INDEX = "search/search_index.js", "search.js"
_CONTENT = (("<article", "</article>"), ("<main", "</main>"))
"""The elements around the content of a page: in the theme, and in others."""
# One that is not closed goes on to the end, as in a browser. No possessive group: Python 3.11.0 to
# 3.11.4 ends it too late.
_INLINE_SCRIPT = re.compile(
    r"<script(?![^<>]*(?:\ssrc=|application/json))[^<>]*+>(.*?)(?:</script>|\Z)", re.DOTALL
)
_INDENTED = re.compile(r"\n\s+")
"""A quarter of a page without content."""
_STYLE = re.compile(
    r'<link rel="?stylesheet"? href="(?:[^"<>]*/)?(?P<name>assets/[a-z_]+\.css)"\s*/?>'
)
_ROOTED = re.compile(r'((?:href|src)="|"(?:base|search)": ?"|new URL\(")/(?!/)')
"""An address below the server's root, in the one page that is shown for any address."""
_SCRIPT = "assets/xlareport.js"
NOT_FOUND = "404.html"
_NOT_FOUND_TITLE = "<h1>404 - Not found</h1>"
_NOT_FOUND_WORDS = (
    "<h1>This page is not in the report</h1><p>It may belong to a module of another dump, or to an "
    "older build of this one. The tabs above lead to everything that is here.</p>"
)
_NO_SCRIPT = (
    '<noscript><p class="xr-noscript">Scripts are switched off in this browser: tables show at '
    "most their first rows, and pictures and steps are missing. The text and the links work."
    "</p></noscript>\n"
)
_NO_PARTS = (
    '<noscript><p class="xr-noscript">Scripts are switched off in this browser: this is the '
    "overview of the module, and the other tabs lead back to it. Tables show at most their first "
    "rows, and pictures and steps are missing.</p></noscript>\n"
)
_SOURCE_MAP = ".map"
"""Source maps are half of the theme."""
_SITE_MAPS = ("sitemap.xml", "sitemap.xml.gz")
"""They hold addresses, and a report has none."""


class UnfinishedPageError(XlareportError):
    """A page that cannot be made safe to open: its head was not found."""

    def __init__(self, page: Path) -> None:
        super().__init__(
            f'{page} is no page of a report: it has no `<meta charset="utf-8">` in its head, or '
            f"does not load {_SCRIPT}."
        )


class Finish(Struct, frozen=True):
    """Settings that are the same for all pages of a site."""

    is_searched: bool
    """Whether the report has an index of everything in it."""
    index: str = _MKDOCS_INDEX
    """Where the generator wrote the texts of all pages."""
    is_live: bool = False
    """Whether `mkdocs serve` shows it: its live reload needs an inline script."""

    def finish_page(self, page: str) -> str:
        """Return a page with a policy, a note for browsers without scripts, and one style.

        Only inline scripts around the content may run, never one in it. A page without a head is
        returned as it is, and one that is finished too.
        """
        before, content, after = _split(page)
        if not _HEAD.search(before) or _is_finished(before):
            return page
        content = _no_script_note(content) + content
        if not self.is_live:
            before = _STYLE.sub(_first_alone, before)
            before, after = (_INDENTED.sub("\n", part) for part in (before, after))
            content = f"\n{content.strip()}\n"
        before = _HEAD.sub(lambda head: head[0] + self._head(before + after), before, count=1)
        return before + content + after

    def finish_error_page(self, page: str) -> str:
        """Return 404.html with the text of a report and addresses from the root of the site."""
        page = page.replace(_NOT_FOUND_TITLE, _NOT_FOUND_WORDS)
        if not self.is_live and f'="/{_SCRIPT}"' in page:
            page = _ROOTED.sub(r"\1./", page)
        return self.finish_page(page)

    def _head(self, frame: str) -> str:
        scripts = [] if self.is_live else sorted(set(_INLINE_SCRIPT.findall(frame)))
        inline = " ".join(["'unsafe-inline'"] if self.is_live else map(script_hash, scripts))
        policy = policy_element((f"script-src 'self' {inline}".strip(), *_ALLOWED))
        return f"\n{policy}{_SEARCHED.format(self.index) if self.is_searched else ''}"


def finish_site(site: Path) -> int:
    """Finish the pages and the files of a built site in place; return how many pages there are.

    One that is finished stays as it is. Raises UnfinishedPageError for a page that has no place
    for the policy.
    """
    is_searched = (site / payload_path(navigation.SEARCH)).is_file()
    has_mkdocs_index = (site / _MKDOCS_INDEX).is_file()
    finish = Finish(is_searched, _MKDOCS_INDEX if has_mkdocs_index else _ZENSICAL_INDEX)
    pages = sorted(site.rglob("*.html"))
    for path in pages:
        page = path.read_text("utf-8")
        is_other = path == site / NOT_FOUND
        finished = finish.finish_error_page(page) if is_other else finish.finish_page(page)
        if not _is_finished(_split(finished)[0]) or _SCRIPT not in finished:
            raise UnfinishedPageError(path)
        path.write_text(finished, "utf-8")
    finish_files(site)
    return len(pages)


def finish_files(site: Path) -> None:
    """Put the styles of the report into one file, and remove what no reader needs."""
    styles = [path for name in own_settings()["extra_css"] if (path := site / name).is_file()]
    joined = "\n".join(path.read_text("utf-8") for path in styles)
    for first in styles[:1]:
        first.write_text(joined, "utf-8")
    for path in styles[1:]:
        path.unlink()
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(_SOURCE_MAP) or name in _SITE_MAPS:
                (Path(folder) / name).unlink()


@cache
def own_settings() -> dict[str, Any]:
    """Return the settings that come with xlareport."""
    return yaml_load((find_resource("site_src") / "xlareport.yml").read_text("utf-8"))


def _split(page: str) -> tuple[str, str, str]:
    """Return the text before the content of a page, the content, and the text after it.

    The content extends from the first beginning to the last end, because it may contain such an
    end. If there is no such element, everything after the head is the content.
    """
    for opening, closing in _CONTENT:
        before, opened, rest = page.partition(opening)
        attributes, bracket, rest = rest.partition(">")
        content, closed, after = rest.rpartition(closing)
        if closed:
            return before + opened + attributes + bracket, content, closed + after
    head, closed, rest = page.partition("</head>")
    return head, closed + rest, ""


def _no_script_note(content: str) -> str:
    if "data-xr-parts" in content:
        return _NO_PARTS
    return _NO_SCRIPT if "data-xr-" in content else ""


def _first_alone(link: re.Match[str]) -> str:
    return "" if link["name"] in own_settings()["extra_css"][1:] else link[0]


def _is_finished(before: str) -> bool:
    return '<meta http-equiv="Content-Security-Policy"' in before
