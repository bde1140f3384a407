"""Every link of a built report, in its pages and their parts, held against what is there."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

from tests.parts import parts


class Page(HTMLParser):
    """Collects what a page or part links to, and what can be linked to in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in {"href", "src"} and value:
                self.links.append(value)


def broken_links(site: Path) -> Iterator[tuple[str, str]]:
    """Yield where a link stands and what it says, of those that lead to nothing in the site."""
    pages = {
        path.relative_to(site).as_posix(): Page(path.read_text("utf-8"))
        for path in site.rglob("*.html")
    }
    pages |= {address: Page(html) for address, html in parts(site)}
    for address, page in pages.items():
        for link in page.links:
            if not link.startswith("data:") and not _is_there(site, pages, address, link):
                yield address, link


def _is_there(site: Path, pages: dict[str, Page], address: str, link: str) -> bool:
    asked = urlsplit(link)
    if asked.scheme or asked.netloc:
        return False
    target = address
    if asked.path:
        target = normpath(join(dirname(address), unquote(asked.path)))
        target += f"?{asked.query}" if asked.query else ""
    anchor = "" if "=" in asked.fragment else unquote(asked.fragment)  # `#step=0017` is a state
    if target in pages:
        return not anchor or anchor in pages[target].anchors
    return not anchor and not asked.query and (site / target).is_file()
