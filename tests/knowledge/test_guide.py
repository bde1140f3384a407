"""The hand-written guide speaks only of what the tables know, and links only to what is there."""

import re
from pathlib import Path

import pytest

from xlareport.knowledge import flags, passes, stages

GUIDE = Path(__file__).parents[2] / "site_src" / "guide"
PAGES = sorted(GUIDE.glob("*.md"))
FRONT = ("index", "modules", "names", "coverage", "program", "glossary")
GENERATED = {f"../{name}.md" for name in FRONT}
FLAG = re.compile(r"--((?:tf_)?xla_\w+)")
VARIABLE = re.compile(r"\b(?:JAX|TF|XLA|POPLAR|LIBTPU)_[A-Z_]+\b")
LINK = re.compile(r"\]\(([^)]+)\)")


def test_every_page_of_the_guide_is_in_the_navigation() -> None:
    listed = re.findall(
        r"- guide/([\w-]+\.md)", (GUIDE.parent / "xlareport.yml").read_text("utf-8")
    )
    assert sorted(listed) == [page.name for page in PAGES]
    assert {"index.md", "getting-a-dump.md", "cost-and-memory.md"} <= set(listed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_flag_and_variable_is_known(page: Path) -> None:
    text = page.read_text("utf-8")
    for name in {*FLAG.findall(text), *VARIABLE.findall(text)}:
        assert flags.find(name) is not None, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_flag_is_recommended_that_is_gone(page: Path) -> None:
    found = [flags.find(name) for name in FLAG.findall(page.read_text("utf-8"))]
    assert [flag.name for flag in found if flag and flag.until] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_resolves(page: Path) -> None:
    here = {other.name for other in PAGES}
    for link in LINK.findall(page.read_text("utf-8")):
        assert link.partition("#")[0] in here | GENERATED, link


def test_the_passes_worth_knowing_are_known() -> None:
    section = (GUIDE / "passes-and-steps.md").read_text("utf-8").split("## Passes worth knowing")[1]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert len(named) > 10
    for name in named:
        assert passes.find(name) is not None, name


def test_the_stages_in_the_tables_are_known() -> None:
    text = (GUIDE / "stages.md").read_text("utf-8")
    named = re.findall(r"^\| `(\w*(?:before|after)_\w+)`", text, re.MULTILINE)
    assert len(named) > 5
    for name in named:
        assert stages.find(name) is not None, name
