"""Page records become Markdown through the template of a name; a page that fails is replaced.

Compiled templates are kept in memory, and between builds where Python keeps its own bytecode.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jinja2 import BytecodeCache, Environment, FileSystemBytecodeCache
from jinja2.bccache import Bucket
from markdown import Markdown
from markdown.extensions.attr_list import AttrListExtension
from markdown.extensions.toc import TocExtension
from msgspec import Struct

from xlareport.pages import navigation
from xlareport.pages.rendering.environment import environment, front_matter, visible
from xlareport.runtime.faults import Faults
from xlareport.runtime.kept_file import prune_files
from xlareport.runtime.resources import find_resource
from xlareport.runtime.user_folder import user_folder
from xlareport.storage.payloads import Payload, make_payload

if TYPE_CHECKING:
    from xlareport.pages.module.head import ModuleHead


_MOST_COMPILED = 16_000_000
"""Bytes of the templates of several installations, about one million each."""


class Compiled(BytecodeCache):
    """Compiled templates by Jinja's keys, which change with the text of the template.

    Between builds they are in Jinja's bytecode cache, a folder private to the user.
    """

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self._between_builds = _between_builds()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the bytecode that is stored for a template, unless its text has changed."""
        if bytecode := self.kept.get(bucket.key):
            bucket.bytecode_from_string(bytecode)
        if bucket.code is None and self._between_builds:
            with suppress(OSError):
                self._between_builds.load_bytecode(bucket)
            self._take(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template that was compiled; a full disk costs the next build time, no more."""
        self._take(bucket)
        if self._between_builds:
            with suppress(OSError):
                self._between_builds.dump_bytecode(bucket)

    def _take(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self.kept[bucket.key] = bucket.bytecode_to_string()


def prune_compiled() -> None:
    """Remove the templates that were compiled longest ago, as far as there are too many bytes."""
    if templates := _kept_templates():
        prune_files(templates, _MOST_COMPILED)


def _kept_templates() -> Path | None:
    folder = user_folder()
    return folder / "templates" if folder else None


def _between_builds() -> FileSystemBytecodeCache | None:
    templates = _kept_templates()
    if templates is None:
        return None
    with suppress(OSError):
        templates.mkdir(parents=True, exist_ok=True)
    return FileSystemBytecodeCache(str(templates))


_HEADING = re.compile(r"^(#{1,6} .*)$", re.MULTILINE)
_KEPT = re.compile("<p>\ue000([0-9]+)\ue000</p>")
Kept = tuple[str, ...]
"""The HTML before, between and behind the headings."""


def headings_alone(markdown: str) -> tuple[str, Kept]:
    """Return the headings with marks between them, and the text of each mark."""
    parts = _HEADING.split(markdown)
    headings = tuple(parts[::2])
    parts[::2] = [f"\n\ue000{number}\ue000\n" for number in range(len(headings))]
    return "".join(parts), headings


def put_back(html: str, kept: Kept) -> str:
    """Replace the marks by the headings that they stand for.

    A page begins with its heading: the theme's search makes a section of a blank line before it.
    """
    return _KEPT.sub(lambda mark: kept[int(mark[1])].strip("\n"), html).lstrip("\n")


def html_of(markdown: str) -> str:
    """Return headings between HTML as HTML, as MkDocs makes it of the same on a page.

    The settings are those of site_src/xlareport.yml.
    """
    headings, parts = headings_alone(markdown)
    return put_back(_reader().reset().convert(headings), parts)


@cache
def _reader() -> Markdown:
    """Return a reader for all parts, which takes longer to make than a part to read."""
    contents = TocExtension(permalink=True, permalink_title="Link to this section")
    return Markdown(extensions=[AttrListExtension(), contents])


def render(template: str, page: Any, title: str, **front: bool) -> str:
    """Return the Markdown of a page; `front` is for its front matter."""
    return write_template(template, page=page, front_matter=front_matter(title=title, **front))


def part_payload(
    source: str, template: str, page: Any, title: str, *, wide: bool = False, **names: str
) -> Payload:
    """Return a part of a module's page, which the page script puts in its place.

    `wide` gives it the room of the sidebars; `names` are further names for the template.
    """
    key = navigation.part_key(source)
    html = html_of(write_template(template, page=page, **names))
    return make_payload(key, {"title": visible(title), "html": html, "wide": wide})


def write_template(template: str, **names: Any) -> str:
    """Return the Markdown of a template, in which values have these names."""
    return _templates().get_template(f"{template}.md.jinja").render(**names)


def compile_templates() -> Mapping[str, bytes]:
    """Compile the templates of all pages, for the processes that will need them."""
    for name in _templates().list_templates(extensions=["jinja"]):
        _templates().get_template(name)
    return compiled()


def compiled() -> Mapping[str, bytes]:
    """Return the compiled templates by Jinja's names."""
    return _COMPILED.kept


def take_compiled(kept: Mapping[str, bytes]) -> None:
    """Take over templates that another process compiled; those that changed are compiled again."""
    _COMPILED.kept.update(kept)


_COMPILED = Compiled()


@cache
def _templates() -> Environment:
    templates = environment(find_resource("templates"))
    templates.bytecode_cache = _COMPILED
    return templates


Made = TypeVar("Made")


class FaultyPage(Struct, frozen=True):
    """The replacement of a page that could not be made."""

    name: str
    fault: str
    """What could not be made and why, as a sentence."""
    home: str
    coverage: str
    head: "ModuleHead | None"
    """Of a module's page, so that its parts can be reached all the same."""


def page_files(
    faults: Faults,
    source: str,
    title: str,
    make: Callable[[], Iterable[Made]],
    head: "ModuleHead | None" = None,
) -> list[Made] | list[tuple[str, str]]:
    """Return the files of one page, including tables; after an error, a plain page."""
    files = _attempt(faults, title, make)
    if files is not None:
        return files
    return [(source, render("faulty", _fault(faults, source, title, head), title, search=False))]


def part_payloads(
    faults: Faults, source: str, title: str, make: Callable[[], Iterable[Payload]]
) -> list[Payload]:
    """Return a part of a module's page, and its tables; where that fails, a plain part."""
    payloads = _attempt(faults, title, make)
    if payloads is not None:
        return payloads
    return [part_payload(source, "fault", _fault(faults, source, title, None), title)]


def _attempt(faults: Faults, title: str, make: Callable[[], Iterable[Made]]) -> list[Made] | None:
    return faults.attempt(f'The page "{title}"', lambda: list(make()), None)


def _fault(faults: Faults, source: str, title: str, head: "ModuleHead | None") -> FaultyPage:
    return FaultyPage(
        title,
        faults.problems[-1].message,
        navigation.address(navigation.HOME, source),
        navigation.address(navigation.COVERAGE, source),
        head,
    )
