"""Page records become Markdown, each through the template of its name."""

from functools import cache
from typing import Any

from jinja2 import Environment

from xlareport.pages.environment import environment, front_matter
from xlareport.resources import resource


def render(template: str, page: Any, title: str, **front: bool) -> str:
    """Return the Markdown of a page; `front` is for its front matter."""
    made = _templates().get_template(f"{template}.md.jinja")
    return made.render(page=page, front_matter=front_matter(title=title, **front))


@cache
def _templates() -> Environment:
    return environment(resource("templates"))
