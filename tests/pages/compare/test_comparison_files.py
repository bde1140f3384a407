"""The files that the sites of two and of many dumps share."""

import re

from xlareport.pages.compare.comparison_files import frame_files


def test_the_frame_holds_settings_first_page_and_glossary() -> None:
    files = dict(frame_files("# Comparison", frozenset({"fusion"})))
    assert {"report.yml", "xlareport.yml", "index.md"} <= files.keys()
    assert files["index.md"] == "# Comparison"
    assert "site_name" in str(files["report.yml"])


def test_only_pages_that_there_are_stand_in_the_navigation() -> None:
    """Zensical appends to an inherited navigation, and would link the pages of a report too."""
    files = dict(frame_files("", frozenset()))
    stated = [str(files[name]) for name in ("report.yml", "xlareport.yml")]
    pages = [page for text in stated for page in re.findall(r"(?m)^ +- .*?([\w/-]+\.md)$", text)]
    assert pages == ["index.md", "glossary.md"]
    assert "\nvalidation:\n  nav:\n" in stated[0]
    assert set(pages) <= files.keys()


def test_what_is_named_is_explained() -> None:
    named, plain = (
        sorted(map(len, (str(text) for _, text in frame_files("", frozenset(names)))))
        for names in ({"algsimp"}, set())
    )
    assert named != plain
