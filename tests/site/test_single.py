"""A report in one file: it opens alone, holds what it says, and gives the texts back."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.accessibility import narrow_width
from tests.walks import LONG_WALKS

from xlareport.report import BuildOptions, read_report
from xlareport.runtime.errors import UnreadableInputError
from xlareport.site.fitting import LIMIT
from xlareport.site.pack import pack
from xlareport.site.single import pack_single

MAIN = "m/module_0002.jit_train_step"


OTHER = "module_0006.jit_rollout"


STEP = ".xr-step h2"


PARTS = ("graph", "steps", "passes", "cost", "memory", "source", "texts")


@pytest.fixture
def opened(visitor: Any, single: Path) -> Iterator[Callable[[str], Page]]:
    """Return a function that opens a page of the file; nothing may be complained of or asked."""

    def open_page(fragment: str) -> Page:
        page: Page = visitor.open(f"{single.as_uri()}#{fragment}")
        return page

    yield open_page
    assert visitor.complaints == []
    assert {url.split("#")[0] for url in visitor.requests if not url.startswith("data:")} == {
        single.as_uri()
    }


def pages_of(single: Path) -> list[str]:
    return re.findall(r'<template data-page="([^"]+)"', single.read_text())


def policy_of(single: Path) -> str:
    (match,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', single.read_text())
    return str(match)


def test_it_holds_every_page_but_those_of_other_modules(single: Path, report_of_two: Path) -> None:
    pages = pages_of(single)
    site = {
        path.relative_to(report_of_two / "site").as_posix()
        for path in (report_of_two / "site").rglob("*.html")
    }

    assert set(pages) - {"left-out.html"} == {
        name for name in site - {"404.html"} if OTHER not in name
    }
    assert pages[0] == "index.html"
    assert f"{MAIN}.html" in pages


def test_only_the_scripts_of_the_report_may_run_and_nothing_is_loaded(single: Path) -> None:
    rules = dict(rule.split(" ", 1) for rule in policy_of(single).split("; "))

    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"('sha256-[A-Za-z0-9+/=]+' ?)+", rules["script-src"])
    assert {rules["img-src"], rules["font-src"]} == {"data:"}
    assert not re.search(
        r"<(?:script|img|link|iframe)[^>]*\s(?:src|href)=\"(?!data:)", single.read_text()
    )


def test_the_same_report_gives_the_same_bytes(
    report_of_two: Path, single: Path, tmp_path: Path
) -> None:
    done = pack_single(report_of_two, tmp_path / "again.html")

    assert (tmp_path / "again.html").read_bytes() == single.read_bytes()
    assert done.size == single.stat().st_size
    assert [what for what, _ in done.left_out] == ["pages and data of 1 other module"]


def test_any_command_reads_it(single: Path) -> None:
    again = read_report(single, BuildOptions())

    assert [module.name for module in again.modules] == ["jit_train_step"]
    assert again.problems == ()


def test_what_does_not_fit_is_left_out_and_named(report_of_two: Path, tmp_path: Path) -> None:
    target = tmp_path / "bug.html"
    whole = pack_single(report_of_two, target).size
    done = pack_single(report_of_two, target, whole - 10_000)

    assert done.size <= whole - 10_000
    assert len(done.left_out) > 1
    for what, _ in done.left_out:
        assert what in target.read_text()
    with pytest.raises(UnreadableInputError, match="--limit"):
        pack_single(report_of_two, target, 100_000)


def test_a_site_of_an_older_version_is_refused(report_of_two: Path, tmp_path: Path) -> None:
    shutil.copytree(report_of_two / "site", tmp_path / "site")
    (tmp_path / "site" / "assets" / "single.js").unlink()

    with pytest.raises(UnreadableInputError, match="build it again"):
        pack_single(tmp_path, tmp_path / "bug.html")


@pytest.mark.browser
def test_every_page_opens_and_fits_a_narrow_screen(visitor: Any, single: Path) -> None:
    names = pages_of(single)[:: 1 if LONG_WALKS else 9]
    for page in visitor.walk(f"{single.as_uri()}#page={name}" for name in names):
        expect(page.locator("h1").first, page.url).to_be_visible()
        expect(page.locator(".xr-failed")).to_have_count(0)
        assert narrow_width(page) <= 400, page.url
    assert visitor.complaints == []


@pytest.mark.browser
def test_the_parts_of_a_page_have_addresses(opened: Callable[[str], Page]) -> None:
    page = opened(f"page={MAIN}.html")
    for name in PARTS[:: 1 if LONG_WALKS else 3]:
        page.locator(f".xr-tabs [data-part={name}]").click()
        page.wait_for_selector("[aria-busy]", state="detached")
        expect(page.locator(".xr-tabs [aria-current]")).to_have_text(
            "HLO" if name == "texts" else name.title()
        )
        assert page.url.split("#")[1].startswith(f"page={MAIN}.html?{name}")
    cost = opened(f"page={MAIN}.html?cost&at=by-computation")
    expect(cost.locator("#by-computation")).to_be_in_viewport()
    cost.locator(".xr-tabs a").first.click()
    expect(cost.locator("h1")).to_have_text(re.compile("^jit_train_step"))


@pytest.mark.browser
def test_links_lead_to_its_own_pages_and_back(opened: Callable[[str], Page]) -> None:
    page = opened("")
    page.locator("main").get_by_role("link", name="jit_train_step").first.click()
    expect(page).to_have_title(re.compile("jit_train_step"))
    assert page.url.endswith(f"#page={MAIN}.html")
    page.locator(".md-tabs__link", has_text="Glossary").click()
    expect(page.locator("h1")).to_contain_text("Glossary")
    expect(page.locator(".md-tabs__item--active")).to_have_text(re.compile("Glossary"))
    page.go_back()
    expect(page.locator("h1")).to_contain_text("jit_train_step")


@pytest.mark.browser
def test_a_link_to_what_is_not_in_it_says_so(opened: Callable[[str], Page]) -> None:
    page = opened("page=modules.html")
    link = page.locator("a.xr-absent", has_text="jit_rollout").first
    expect(link).to_have_attribute("title", "Not in this file")
    link.click()
    expect(page.locator("main")).to_contain_text(f"The page m/{OTHER}.html is not in this file.")
    expect(page.locator("main")).to_contain_text("pages and data of 1 other module")


@pytest.mark.browser
def test_steps_turn_by_key_and_their_address_can_be_pasted(opened: Callable[[str], Page]) -> None:
    page = opened(f"page={MAIN}.html?steps")
    first = page.locator(STEP).inner_text()
    page.keyboard.press("j")
    expect(page.locator(STEP)).not_to_have_text(first)
    second = page.locator(STEP).inner_text()
    again = opened(page.url.split("#")[1])
    expect(again.locator(STEP)).to_have_text(second)
    again.keyboard.press("k")
    expect(again.locator(STEP)).to_have_text(first)


@pytest.mark.browser
def test_the_search_finds_an_instruction_and_leads_to_it(opened: Callable[[str], Page]) -> None:
    page = opened("page=glossary.html")
    page.keyboard.press("/")
    page.keyboard.type("fusion")
    results = page.locator("#xr-search-results")
    heading = page.get_by_role("heading", name=re.compile("^Instructions"))
    expect(heading).to_be_visible()
    expect(page.locator("dialog.xr-search")).to_contain_text(
        "names inside of 1 module are not in this report"
    )
    results.locator("section", has=heading).locator("a").first.click()
    expect(page).to_have_title(re.compile("jit_train_step"))


@pytest.mark.browser
def test_an_anchor_and_a_history_are_addresses_too(opened: Callable[[str], Page]) -> None:
    page = opened("page=glossary.html&at=word-layout")
    expect(page.locator("#word-layout")).to_be_in_viewport()
    asked = opened(f"page={MAIN}.html")
    asked.locator("a.xr-ask").first.click()
    expect(asked.locator("dialog.xr-history")).to_be_visible()
    assert asked.url.split("#")[1].startswith(f"page={MAIN}.html&i=")


@pytest.mark.browser
def test_dark_colors_stay_from_page_to_page(opened: Callable[[str], Page]) -> None:
    page = opened("")
    for label in ("switch to light", "switch to dark"):
        page.locator(
            "form[data-md-component=palette] label:visible", has=page.locator("svg")
        ).click()
        expect(page.locator(f"input[aria-label*='{label}']")).not_to_be_checked()
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    page.locator(".md-tabs__link", has_text="File-name reference").click()
    expect(page.locator("h1")).to_contain_text("File-name reference")
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")


@pytest.mark.browser
def test_hostile_names_do_nothing(visitor: Any, sample_site: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_site, tmp_path / "site")
    main = {"module": "sample"}
    facts = {"modules": [{"key": "sample", "slug": "sample"}], "main": main}
    (tmp_path / "site" / "report.json").write_text(json.dumps(facts))
    target = tmp_path / "bug.html"
    pack_single(tmp_path, target)
    names = pages_of(target) if LONG_WALKS else ("index.html", "m/sample.html", "m/hostile.html")
    for page in visitor.walk(f"{target.as_uri()}#page={name}" for name in names):
        expect(page.locator("h1").first).to_be_visible()
        assert page.evaluate("typeof hacked") == "undefined", page.url
    assert visitor.complaints == []
    assert visitor.outside() == []


@pytest.mark.browser
def test_a_zip_opens_where_it_is_unpacked_and_says_what_it_lacks(
    visitor: Any, report_of_two: Path, tmp_path: Path
) -> None:
    whole = pack(report_of_two, tmp_path / "bug.zip", LIMIT).size
    done = pack(report_of_two, tmp_path / "bug.zip", whole - 40_000)
    shutil.unpack_archive(tmp_path / "bug.zip", tmp_path / "elsewhere")
    site = tmp_path / "elsewhere" / "bug"
    page = visitor.open(f"{site.as_uri()}/index.html")
    page.keyboard.press("/")
    page.keyboard.type("jit_")

    assert done.left_out
    expect(page.locator("#xr-search-results")).to_contain_text("jit_rollout")
    (other,) = (site / "m").glob(f"{OTHER}.html")
    page = visitor.open(f"{other.as_uri()}?graph")
    expect(page.locator(".xr-failed").first).to_contain_text(
        "It was left out of this packed report"
    )
    assert visitor.outside() == []
    assert visitor.complaints == []
