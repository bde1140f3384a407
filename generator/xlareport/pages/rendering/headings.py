"""Headings in Markdown between HTML: Markdown reads them alone, and gives them their anchors."""

import re
from functools import cache

from markdown import Markdown
from markdown.extensions.attr_list import AttrListExtension
from markdown.extensions.toc import TocExtension

_HEADING = re.compile(r"^(#{1,6} .*)$", re.MULTILINE)
_KEPT = re.compile("<p>\ue000([0-9]+)\ue000</p>")
Kept = tuple[str, ...]
"""The HTML before, between and behind the headings."""


def headings_alone(markdown: str) -> tuple[str, Kept]:
    """Return the headings with marks between them, and what the marks stand for."""
    parts = _HEADING.split(markdown)
    kept = tuple(parts[::2])
    parts[::2] = [f"\n\ue000{number}\ue000\n" for number in range(len(kept))]
    return "".join(parts), kept


def put_back(html: str, kept: Kept) -> str:
    """Put what was kept in the place of its marks.

    A page begins with its heading: the theme's search makes a section of a blank line before it.
    """
    return _KEPT.sub(lambda mark: kept[int(mark[1])].strip("\n"), html).lstrip("\n")


def html_of(markdown: str) -> str:
    """Return headings between HTML as HTML, as MkDocs makes it of the same on a page.

    The settings are those of site_src/xlareport.yml.
    """
    headings, kept = headings_alone(markdown)
    return put_back(_reader().reset().convert(headings), kept)


@cache
def _reader() -> Markdown:
    """Return a reader for all parts, which takes longer to make than a part to read."""
    contents = TocExtension(permalink=True, permalink_title="Address of this section")
    return Markdown(extensions=[AttrListExtension(), contents])
