"""The timeline of a computation, in a real browser from file:// with the network off."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.accessibility import violations_by_scheme
from tests.report_files import payload_files

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.pages.history.computations import computation_payloads
from xlareport.pages.pictures.levels import picture_look
from xlareport.pages.rendering.environment import front_matter
from xlareport.report import BuildOptions, read_one_module
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile, make_payload_file

pytestmark = pytest.mark.browser

Unpack = Callable[[str], Path]
Open = Callable[[str], Page]

PAGE = """# x

<div class="xr-explore" data-xr-computations="m/x/versions" data-steps="x.html?steps"></div>
"""
STATUS = ".xr-computations-step"
PLACES = """() => Object.fromEntries([...document.querySelectorAll("g.n:not(.xr-dying)")]
    .map((one) => [one.dataset.node, one.getAttribute("transform")]))"""


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile], unpacked: Unpack
) -> Path:
    out = tmp_path_factory.mktemp("timeline")
    module = read_one_module(unpacked("jax-cpu-train"), "jit_train_step", BuildOptions())
    snapshots = SnapshotSequence([snapshot.hlo for snapshot in module.snapshots])
    stages = [(snapshot.stage.key, snapshot.stage.label) for snapshot in module.snapshots]
    files = [few_page for few_page in few_pages if few_page[0] != "m/x.md"]
    files.append(("m/x.md", f"{front_matter(title='x', search=False)}{PAGE}"))
    files += payload_files(*computation_payloads("x", snapshots, stages))
    files.append(make_payload_file("pictures/look", picture_look()))
    write_sources(out, files)
    build_site(out)
    return out / "site"


@pytest.fixture
def opened(visitor: Any, site: Path) -> Iterator[Open]:
    def open_page(address: str) -> Page:
        page: Page = visitor.open(f"{site.as_uri()}/m/{address}")
        expect(page.locator("g.n").first).to_be_visible()
        return page

    yield open_page
    assert visitor.complaints == []
    assert visitor.outside() == []


def test_it_begins_with_the_last_step(opened: Open) -> None:
    page = opened("x.html")

    expect(page.locator(STATUS)).to_contain_text("(6 of 6)")
    expect(page.locator("g.n", has_text="ynn_fusion.2")).to_be_visible()
    assert page.url.endswith("x.html")


def test_keys_and_slider_go_through_the_steps(opened: Open) -> None:
    page = opened("x.html")
    page.keyboard.press(",")
    expect(page.locator(STATUS)).to_contain_text("(5 of 6)")
    assert page.url.endswith("#computation=main.2&frame=0016")
    page.keyboard.press(".")
    expect(page.locator(STATUS)).to_contain_text("(6 of 6)")
    page.get_by_role("slider").press("Home")
    expect(page.locator(STATUS)).to_contain_text("(1 of 6). First version.")
    assert page.url.endswith("#computation=main.2&frame=before_optimizations")


def test_what_stays_stands_still_and_what_is_gone_leaves(opened: Open) -> None:
    page = opened("x.html#computation=main.2&frame=0016")
    before = page.evaluate(PLACES)
    page.keyboard.press(".")
    expect(page.locator(STATUS)).to_contain_text("6 new, 16 gone, 5 changed")
    after = page.evaluate(PLACES)

    stayed = before.keys() & after.keys()
    assert len(stayed) > 5
    assert {one: before[one] for one in stayed} == {one: after[one] for one in stayed}
    assert len(after.keys() - before.keys()) == 6
    assert len(before.keys() - after.keys()) == 16
    expect(page.locator("g.s-added .on").first).to_have_text("+")
    expect(page.locator("g.s-changed .on").first).to_have_text("~")
    expect(page.locator(".xr-dying")).to_have_count(0)


def test_nothing_moves_for_those_who_do_not_want_it(opened: Open) -> None:
    page = opened("x.html#computation=main.2&frame=0016")
    page.emulate_media(reduced_motion="reduce")
    page.keyboard.press(".")
    expect(page.locator(STATUS)).to_contain_text("16 gone")

    assert page.locator(".xr-dying, .xr-born").count() == 0


def test_one_instruction_can_be_watched(opened: Open) -> None:
    page = opened("x.html")
    page.get_by_label("Track an instruction").fill("dot.1")
    page.get_by_label("Track an instruction").press("Enter")
    expect(page.locator("g.focus")).to_have_count(1)
    expect(page.locator("g.focus")).to_contain_text("dot.1")
    seen = page.locator("g.n:not(.xr-dying)").count()

    assert "watch=dot.1" in page.url
    assert 3 < seen < 20


def test_a_name_that_nothing_bore_is_told(opened: Open) -> None:
    page = opened("x.html")
    page.get_by_label("Track an instruction").fill("%nowhere.1")
    page.get_by_label("Track an instruction").press("Enter")

    expect(page.locator(STATUS)).to_contain_text("was ever called %nowhere.1")
    expect(page.locator("g.n")).to_have_count(0)


def test_an_address_of_no_timeline_says_so_until_another_one_is_chosen(opened: Open) -> None:
    page = opened("x.html#computation=nowhere.1&frame=0016")

    expect(page.locator(STATUS)).to_contain_text("No timeline for computation nowhere.1")
    page.keyboard.press(",")
    expect(page.locator(STATUS)).not_to_contain_text("There is no timeline")
    assert "computation=main.2" in page.url


def test_an_address_names_the_step_or_the_one_before_it(opened: Open) -> None:
    page = opened("x.html#computation=main.2&frame=0018&watch=dot.1")

    expect(page.locator(STATUS)).to_contain_text("0016 dot-library-passes")
    expect(page.locator("g.focus")).to_have_count(1)


def test_everybody_can_use_it(visitor: Any, site: Path) -> None:
    page = visitor.open(f"{site.as_uri()}/m/x.html")
    expect(page.locator("g.n").first).to_be_visible()
    assert violations_by_scheme(page) == {}


def test_it_fits_a_narrow_screen(opened: Open) -> None:
    page = opened("x.html")
    page.set_viewport_size({"width": 400, "height": 800})

    assert page.evaluate("document.documentElement.scrollWidth") <= 400
