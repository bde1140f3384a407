"""Page records become Markdown, each through the template of its name; parts of pages, payloads."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment

from xlareport.pages import navigation
from xlareport.pages.rendering.compiled import Compiled
from xlareport.pages.rendering.environment import environment, front_matter, visible
from xlareport.pages.rendering.headings import html_of
from xlareport.runtime.resources import find_resource
from xlareport.storage.payloads import Payload, make_payload


def render(template: str, page: Any, title: str, **front: bool) -> str:
    """Return the Markdown of a page; `front` is for its front matter."""
    return _written(template, page=page, front_matter=front_matter(title=title, **front))


def part_payload(
    source: str, template: str, page: Any, title: str, *, wide: bool = False
) -> Payload:
    """Return a part of a module's page, which the page script puts in its place.

    `wide` gives it the room of the sidebars.
    """
    key = navigation.part_key(source)
    html = html_of(_written(template, page=page))
    return make_payload(key, {"title": visible(title), "html": html, "wide": wide})


def _written(template: str, **names: Any) -> str:
    return _templates().get_template(f"{template}.md.jinja").render(**names)


def compile_templates() -> Mapping[str, bytes]:
    """Compile the templates of all pages, for the processes that will need them."""
    for name in _templates().list_templates(extensions=["jinja"]):
        _templates().get_template(name)
    return compiled()


def compiled() -> Mapping[str, bytes]:
    """Return the templates that are compiled, by what Jinja calls them."""
    return _COMPILED.kept


def take_compiled(kept: Mapping[str, bytes]) -> None:
    """Take over templates that another process compiled; those that changed are made anew."""
    _COMPILED.kept.update(kept)


_COMPILED = Compiled()


@cache
def _templates() -> Environment:
    result = environment(find_resource("templates"))
    result.bytecode_cache = _COMPILED
    return result
