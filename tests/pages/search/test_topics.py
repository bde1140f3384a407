"""Sections of a report by the words that people search for."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from xlareport.pages.search.topics import search_topics
from xlareport.report import BuildOptions, read_report


def test_a_section_is_there_only_where_the_page_has_it(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    report = read_report(unpacked("jax-cpu-train"), BuildOptions(out=tmp_path))
    module = next(module for module in report.modules if module.expense and module.steps)
    topics = {title: address for title, address, _ in search_topics(module)}
    assert topics["Loops and trip counts"] == f"m/{module.slug}.html?cost#loops"
    assert "Steps of the compilation" in topics
    assert "Measured time" not in topics
    assert {*search_topics_of(replace(module, expense=None))} == {"Steps of the compilation"}


def search_topics_of(module: object) -> list[str]:
    return [title for title, _, _ in search_topics(module)]  # type: ignore[arg-type]
