"""Search words for the sections on the main program."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from xlareport.pages import navigation
from xlareport.pages.cost.page import cost_parts
from xlareport.records.report import ModuleRecord


def search_topics(module: ModuleRecord) -> Iterator[list[Any]]:
    """Yield title, address and words of each section that the module's page has."""
    parts = {*cost_parts(module), *(["steps", "passes"] if module.steps else [])}
    for title, topic in _topics().items():
        if topic["part"] in parts:
            page = navigation.address(navigation.module_page(module.slug, topic["part"]))
            mark = f"#{topic['anchor']}" if topic["anchor"] else ""
            yield [title, f"{page}{mark}", topic["words"]]


@cache
def _topics() -> dict[str, Any]:
    """Return the table."""
    text = files(__package__).joinpath("topics.toml").read_text("utf-8")
    return tomllib.loads(text)
