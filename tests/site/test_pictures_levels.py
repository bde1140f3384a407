"""Boxes that open into other pictures, in a real browser from file:// with the network off."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.pictures.drawn import draw_all
from tests.report_files import payload_files

from xlareport.pages import navigation
from xlareport.pages.pictures.levels import level_record, picture_look, picture_record
from xlareport.pages.pictures.snapshot_graph import graph_payloads
from xlareport.pages.rendering.environment import front_matter
from xlareport.pictures.draw import PictureRequest
from xlareport.pictures.drawing import Box, Drawing, Group, Opening
from xlareport.pictures.shade import Shade
from xlareport.report import BuildOptions, read_one_module
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile, make_payload
from xlareport.storage.string_folding import fold_strings

pytestmark = pytest.mark.browser

PAGE = """# x

<figure class="xr-picture" data-xr-picture="pictures/first" data-levels="m/x/levels"></figure>
"""
TEXT = """HloModule m

ENTRY main {
  a = f32[] parameter(0)
  ROOT dot.1 = f32[] abs(a)
}
"""
HALF = Shade(cost=0.5)
INDEX = {
    "graph": "m/x/graph",
    "targets": fold_strings(["c=main", "g=main/0", "c=body"]).listed(),
    "titles": fold_strings(["entry main", "layers", "body"]).listed(),
    "in": [-1, 1, 0],
    "up": [-1, 0, 1],
    "note": "Only the nearest are drawn; `xlareport build DUMP --pictures all` draws all.",
}


def drawings(hostile: str) -> Iterator[tuple[str, Drawing]]:
    yield (
        "first",
        Drawing(
            "entry main",
            (
                Box("g=main/0", ("layers",), "gray", target="g=main/0", shape="round", shade=HALF),
                Box("gone", ("gone",), "gray", target="g=gone"),
                Box("a", (hostile,), "white", target=f"i={hostile}", tooltip=hostile),
            ),
        ),
    )
    opens = (Opening("c=body", "body of while.1"),)
    yield (
        "g=main/0",
        Drawing(
            "layers",
            (
                Box(
                    "while.1",
                    ("while.1",),
                    "dark-green",
                    target="i=while.1",
                    opens=opens,
                    shade=HALF,
                ),
            ),
        ),
    )
    dot = Box("dot.1", ("dot.1",), "dark-blue", target="i=dot.1")
    frame = Group("f", "call.1", "computation", ("dot.1",), target="i=call.1")
    yield "c=body", Drawing("body", (dot,), groups=(frame,))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile], hostile: str) -> Path:
    out = tmp_path_factory.mktemp("levels")
    requests = [PictureRequest(key, (one,)) for key, one in drawings(hostile)]
    drawn = list(draw_all(requests, 1, tmp_path_factory.mktemp("cache")))
    first, layers, body = (one.placed[0] for one in drawn)
    values: dict[str, Any] = {
        "pictures/first": {"pictures": [picture_record(*first)]},
        navigation.PICTURE_LOOK: picture_look(),
        "m/x/levels": INDEX,
        "m/x/levels-0": {"pictures": {"c=body": [picture_record(*body)]}},
        "m/x/levels-1": {"pictures": {"g=main/0": [level_record(layers[0], lambda _: None)]}},
        "m/x/levels-where": [0, 1, 2, 1],
    }
    dump = tmp_path_factory.mktemp("dump")
    (dump / "module_0000.m.after_optimizations.txt").write_text(TEXT)
    module = read_one_module(dump, None, BuildOptions())
    assert module.final is not None
    files = [few_page for few_page in few_pages if few_page[0] != "m/x.md"]
    files.append(("m/x.md", f"{front_matter(title='x', search=False)}{PAGE}"))
    files += payload_files(
        *(make_payload(key, value) for key, value in values.items()),
        *graph_payloads("m/x/graph", module.final, None),
    )
    write_sources(out, files)
    build_site(out)
    return out / "site"


@pytest.fixture
def page(visitor: Any, site: Path) -> Iterator[Page]:
    opened: Page = visitor.open(f"{site.as_uri()}/m/x.html")
    expect(opened.locator("g.n").first).to_be_visible()
    yield opened
    assert visitor.complaints == []
    assert visitor.outside() == []
    assert opened.evaluate("typeof hacked") == "undefined"


def box(page: Page, name: str) -> Locator:
    return page.locator("g.n", has_text=name)


def way(*titles: str) -> str:
    return " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ".join(titles)


def test_boxes_open_and_the_line_above_leads_back(page: Page) -> None:
    crumbs = page.locator(".xr-levels")
    box(page, "layers").click()
    expect(crumbs).to_have_text(way("entry main", "layers"))
    page.locator("g.open").click()
    expect(crumbs).to_have_text(way("entry main", "layers", "body"))
    expect(box(page, "dot.1")).to_be_visible()

    crumbs.get_by_role("button", name="layers").click()
    expect(box(page, "while.1")).to_be_visible()
    crumbs.get_by_role("button", name="entry main").click()
    expect(box(page, "layers")).to_be_visible()
    expect(crumbs).to_have_count(0)


def test_the_keyboard_opens_them_too(page: Page) -> None:
    box(page, "layers").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".xr-levels")).to_have_text(way("entry main", "layers"))
    expect(page.locator(".xr-canvas")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Open body of while.1").press("Enter")

    expect(box(page, "dot.1")).to_be_visible()


def test_a_picture_that_was_not_drawn_is_told(page: Page) -> None:
    box(page, "gone").click()

    expect(page.locator(".xr-levels-note")).to_contain_text("--pictures all draws all")


def test_what_stands_behind_is_found(page: Page) -> None:
    field = page.get_by_placeholder("Find node")
    field.fill("%dot.1")
    field.press("Enter")

    expect(page.locator(".xr-levels")).to_have_text(way("entry main", "layers", "body"))
    expect(page.locator("g.n:focus")).to_contain_text("dot.1")


def test_frames_can_be_gone_to(page: Page) -> None:
    page.get_by_placeholder("Find node").fill("dot.1")
    page.get_by_placeholder("Find node").press("Enter")
    expect(page.locator("g.n:focus")).to_contain_text("dot.1")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".gt:focus")).to_contain_text("call.1")
    page.keyboard.press("Enter")

    expect(page.locator(".xr-details h3")).to_have_text("%call.1")


def test_what_a_box_says_is_text(page: Page, hostile: str) -> None:
    page.locator("g.n").last.click()

    expect(page.locator(".xr-details h3")).to_have_text(f"%{hostile}")
    expect(page.locator(".xr-told")).to_contain_text(hostile)


def test_colors_can_stand_for_something_else(page: Page) -> None:
    choice = page.get_by_label("Color by")
    expect(choice.locator("option")).to_have_text(["opcode category", "cost"])
    expect(page.locator(".legend.of-opcode")).to_be_visible()
    choice.select_option("cost")

    expect(page.locator("svg.xg.by-cost")).to_have_count(1)
    expect(page.locator(".mark", has_text="50%")).to_be_visible()
    expect(page.locator(".legend.of-cost")).to_contain_text("20% and more")
    expect(page.locator(".legend.of-opcode")).to_be_hidden()

    box(page, "layers").click()
    expect(page.get_by_label("Color by")).to_have_value("cost")
    expect(page.locator("svg.xg.by-cost")).to_have_count(1)
