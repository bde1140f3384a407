"""Pictures that the page lays out itself, in a real browser from file:// with the network off."""

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.accessibility import violations_by_scheme
from tests.report_files import payload_files

from xlareport.pages.pictures.levels import picture_look
from xlareport.pages.pictures.snapshot_graph import graph_payloads
from xlareport.pages.rendering.environment import front_matter
from xlareport.report import BuildOptions, read_one_module
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile, make_payload_file

pytestmark = pytest.mark.browser

Unpack = Callable[[str], Path]

PAGE = """# {title}

## Neighborhood graph

<p><a class="xr-around" href="#node=while.6">the loop</a></p>
<div class="xr-explore" data-xr-graph="m/{slug}/graph" data-first="m/{slug}/graph-first"></div>
"""


def many(hostile: str) -> str:
    """Return a module in which one value has 400 users, with a long chain behind the last."""
    name = hostile.replace('"', "'")
    users = "\n".join(f"  u.{n} = f32[8] negate(x)" for n in range(400))
    chain = "\n".join(f"  a.{n} = f32[8] add(a.{n - 1}, u.{n})" for n in range(1, 300))
    return f"""HloModule m

ENTRY main {{
  x = f32[8] parameter(0), metadata={{op_name="{name}"}}
{users}
  a.0 = f32[8] exponential(u.0)
{chain}
  c.2 = f32[] constant(7)
  b.2 = f32[8] broadcast(c.2), dimensions={{}}
  ROOT r = f32[8] clamp(a.299, a.0, b.2), frontend_attributes={{a="{name}"}}
}}
"""


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory,
    few_pages: list[SiteFile],
    hostile: str,
    unpacked: Unpack,
) -> Path:
    out = tmp_path_factory.mktemp("pictures")
    dump = tmp_path_factory.mktemp("many")
    (dump / "module_0000.m.after_optimizations.txt").write_text(many(hostile))
    rollout = read_one_module(unpacked("jax-cpu-train"), "jit_rollout", BuildOptions())
    files = [few_page for few_page in few_pages if few_page[0] != "m/x.md"]
    for slug, module in (("x", rollout), ("many", read_one_module(dump, None, BuildOptions()))):
        assert module.final is not None
        front = front_matter(title=slug, search=False)
        files.append((f"m/{slug}.md", f"{front}{PAGE.format(title=slug, slug=slug)}"))
        files += payload_files(
            *graph_payloads(f"m/{slug}/graph", module.final, None),
            *graph_payloads(f"m/{slug}/graph-first", module.snapshots[0], None),
        )
    files.append(make_payload_file("pictures/look", picture_look()))
    write_sources(out, files)
    build_site(out)
    return out / "site"


@pytest.fixture
def opened(visitor: Any, site: Path) -> Iterator[Callable[[str], Page]]:
    def open_page(address: str) -> Page:
        page: Page = visitor.open(f"{site.as_uri()}/m/{address}")
        return page

    yield open_page
    assert visitor.complaints == []
    assert visitor.outside() == []
    assert all(page.evaluate("typeof hacked") == "undefined" for page in visitor.pages)


Open = Callable[[str], Page]


def boxes(page: Page) -> Locator:
    return page.locator(".xr-explore g.n")


def names(page: Page) -> set[str]:
    expect(boxes(page).first).to_be_visible()
    return {one.rpartition("%")[2] for one in boxes(page).evaluate_all(_IDS)}


_IDS = "all => all.map((one) => one.dataset.node)"


class TestAround:
    def test_the_address_says_what_is_drawn(self, opened: Open) -> None:
        page = opened("x.html#node=while.6&radius=1")

        assert names(page) == {"tuple", "while.6", "tuple.3"}
        expect(page.locator(".xr-explore [role=status]").first).to_contain_text(
            "3 instructions, 2 arrows, in main"
        )

    def test_the_form_changes_the_address(self, opened: Open) -> None:
        page = opened("x.html#node=while.6&radius=1")
        page.get_by_label("Show", exact=True).select_option("operands (transitive)")
        expect(page.locator(".xr-explore svg .title")).to_contain_text("operands (transitive)")

        assert names(page) == {"tuple", "while.6"}
        assert page.url.endswith("#node=while.6&radius=1&show=producers")
        page.get_by_label("Within").select_option("2 steps")
        expect(page.locator(".xr-explore svg .title")).to_contain_text("2 steps")
        assert {"copy.10", "copy.11"} <= names(page)

    def test_a_way_leads_through_calls(self, opened: Open) -> None:
        page = opened("x.html#node=dot_general.1&show=path&to=tuple.3")

        assert {"dot_general.1", "while.6", "tuple.3"} <= names(page)
        expect(page.locator(".xr-explore [role=status]").first).to_contain_text("A shortest way")

    def test_elements_of_tuples_stand_at_arrows(self, opened: Open) -> None:
        page = opened("x.html#node=tuple.3&radius=1&show=producers")

        assert names(page) == {"while.6", "tuple.3"}
        expect(page.locator(".xr-explore svg text.small")).to_contain_text("#")

    def test_constants_are_named_by_their_users_unless_they_are_asked_for(
        self, opened: Open
    ) -> None:
        page = opened("many.html#node=c.2&radius=1&show=consumers")
        assert names(page) == {"c.2", "b.2"}
        page.goto(page.url.replace("node=c.2", "node=r"))
        page.get_by_label("Show", exact=True).select_option("operands (transitive)")

        expect(page.locator("g.focus")).to_contain_text("operand 2 = constant 7")
        assert "b.2" not in names(page)

    def test_a_name_that_is_not_there_offers_others(self, opened: Open) -> None:
        page = opened("x.html#node=reduce")
        status = page.locator(".xr-explore [role=status]").first
        expect(status).to_contain_text("has no instruction %reduce")
        status.get_by_role("link", name="%reduce_sum.3").click()

        expect(page.locator(".xr-explore svg .title")).to_contain_text("%reduce_sum.3")

    def test_a_link_on_the_page_is_followed(self, opened: Open) -> None:
        page = opened("x.html")
        page.get_by_role("link", name="the loop").click()

        assert "while.6" in names(page)

    def test_too_many_are_bounded_and_counted(self, opened: Open) -> None:
        page = opened("many.html#node=x&radius=1")
        expect(page.locator(".xr-explore [role=status]").first).to_contain_text("251 more")

        assert boxes(page).count() == 150
        expect(page.locator(".xr-explore svg")).to_contain_text("Left out: 251 more instructions")

    def test_others_with_very_many_users_are_not_followed(self, opened: Open) -> None:
        page = opened("many.html#node=u.3&radius=2")

        assert names(page) == {"x", "u.3", "a.3", "a.2", "a.4"}
        expect(page.locator(".xr-explore svg")).to_contain_text("Not followed: 1 instruction")

    def test_arrows_point_down_and_boxes_stand_apart(self, opened: Open) -> None:
        page = opened("many.html#node=a.20&radius=8")
        names(page)
        overlapping = page.evaluate(
            """() => {
              const all = [...document.querySelectorAll(".xr-explore g.n > .box")];
              const places = all.map((one) => one.getBoundingClientRect());
              return places.flatMap((one, at) => places.slice(at + 1).filter((other) =>
                one.left < other.right && other.left < one.right &&
                one.top < other.bottom && other.top < one.bottom)).length;
            }"""
        )
        rising = page.evaluate(
            """() => {
              const all = [...document.querySelectorAll(".xr-explore g.n")];
              const top = (place) => all[place].getBoundingClientRect().top;
              return [...document.querySelectorAll(".xr-explore [data-e]")]
                .map((one) => one.dataset.e.split(" ").map(Number))
                .filter(([from, to]) => top(from) >= top(to)).length;
            }"""
        )

        assert (overlapping, rising) == (0, 0)

    def test_controls_wait_for_a_picture_that_has_no_size(self, opened: Open) -> None:
        page = opened("x.html#node=while.6&radius=1")
        names(page)
        canvas = page.locator(".xr-explore .xr-canvas")
        canvas.evaluate("one => { one.style.display = 'none'; }")
        page.locator(".xr-explore .xr-toolbar button").evaluate_all(
            """all => all.filter((one) => one.title !== "Save as .svg")
              .flatMap((one) => [one, one]).forEach((one) => one.click())"""
        )
        canvas.evaluate("one => { one.style.display = ''; }")

        level = page.locator(".xr-explore .xr-toolbar:visible .xr-zoom-level").last
        expect(level).to_have_text(re.compile(r"^[1-9]\d*%$"))
        numbers = page.locator(".xr-explore svg").first.get_attribute("viewBox")
        assert numbers is not None
        assert all(math.isfinite(float(part)) for part in numbers.split())


class TestDetails:
    def test_a_click_shows_everything_that_is_known(self, opened: Open) -> None:
        page = opened("x.html#node=while.6&radius=1")
        page.locator(".xr-explore g.focus").click()
        details = page.locator(".xr-details")

        expect(details.locator("h3")).to_have_text("%while.6")
        expect(details).to_contain_text("jit(rollout)")
        expect(details).to_contain_text("jax_train.py:")
        expect(details).to_contain_text("which ends in %tuple.4")
        details.get_by_role("link", name="%tuple.4").click()
        expect(page.locator(".xr-explore svg .title")).to_contain_text("%tuple.4")

    def test_it_leads_to_its_text(self, opened: Open) -> None:
        page = opened("many.html#node=a.150&radius=1")
        page.locator(".xr-explore g.focus").click()
        expect(page.locator(".xr-line-whole")).to_have_text("a.150 = f32[8] add(a.149, u.150)")
        link = page.get_by_role("link", name="In the HLO text of after optimizations")

        address = "m/many.html?texts#text=after_optimizations&name=a.150"
        assert (link.get_attribute("href") or "").endswith(address)

    def test_hostile_words_are_text(self, opened: Open, hostile: str) -> None:
        page = opened("many.html#node=x&radius=1")
        page.locator(".xr-explore g.focus").click()

        expect(page.locator(".xr-details dd", has_text="onerror").first).to_contain_text(
            hostile.replace('"', "'")
        )

    def test_its_name_can_be_copied(self, opened: Open) -> None:
        page = opened("x.html#node=while.6&radius=1")
        page.locator(".xr-explore g.focus").click()
        page.get_by_role("button", name="Copy name").click()

        expect(page.locator(".xr-details header [role=status]")).not_to_be_empty()


class TestKeyboard:
    def test_arrows_lead_along_arrows_and_enter_opens(self, opened: Open) -> None:
        page = opened("x.html#node=while.6&radius=1")
        names(page)
        page.locator(".xr-canvas").press("Enter")
        focused = page.locator("g.n:focus")
        expect(focused).to_have_attribute("data-target", "i=while.6")
        page.keyboard.press("ArrowUp")
        expect(focused).to_have_attribute("data-target", "i=tuple")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        expect(focused).to_have_attribute("data-target", "i=tuple.3")

        page.keyboard.press("Enter")
        expect(page.locator(".xr-details h3")).to_have_text("%tuple.3")
        page.keyboard.press("Escape")
        expect(page.locator(".xr-details")).to_have_count(0)
        expect(focused).to_have_attribute("data-target", "i=tuple.3")
        page.keyboard.press("Escape")
        expect(page.locator(".xr-canvas")).to_be_focused()

    def test_a_box_is_found_by_its_name(self, opened: Open) -> None:
        page = opened("many.html#node=a.20&radius=4")
        page.get_by_placeholder("Find node").fill("%a.2")

        expect(page.locator("g.xr-found")).not_to_have_count(0)
        expect(page.locator(".xr-toolbar [role=status]").first).to_contain_text("1 of ")
        page.get_by_placeholder("Find node").fill("nowhere")
        page.get_by_placeholder("Find node").press("Enter")
        expect(page.locator(".xr-toolbar [role=status]").first).to_have_text("none")


def test_the_saved_file_stands_alone(opened: Open, tmp_path: Path) -> None:
    page = opened("x.html#node=while.6&radius=1")
    names(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as .svg").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    alone = page.context.new_page()
    alone.goto(saved.as_uri())

    assert saved.name == "graph-of-while.6.svg"
    assert alone.locator("text").first.text_content() == "%while.6: neighborhood, 1 step"
    fill = "one => getComputedStyle(one).fill"
    assert alone.locator(".paper").evaluate(fill) == "rgb(255, 255, 255)"
    assert alone.locator("g.n-dark-green .box").first.evaluate(fill) == "rgb(46, 125, 50)"


def test_everybody_can_use_it(visitor: Any, site: Path) -> None:
    page = visitor.open(f"{site.as_uri()}/m/x.html#node=while.6")
    page.locator(".xr-explore g.focus").click()
    expect(page.locator(".xr-details dl")).to_be_visible()
    assert violations_by_scheme(page) == {}


def test_it_fits_a_narrow_screen(opened: Open) -> None:
    page = opened("many.html#node=a.20")
    page.set_viewport_size({"width": 400, "height": 800})
    page.locator(".xr-explore g.focus").click()
    expect(page.locator(".xr-details dl")).to_be_visible()

    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_the_title_stays_in_sight_where_the_picture_is_moved(opened: Open) -> None:
    page = opened("many.html#node=a.20")
    page.set_viewport_size({"width": 500, "height": 800})
    title = page.locator(".xr-canvas text.title")
    page.get_by_role("button", name="Natural size").click()
    for _ in range(4):
        page.locator(".xr-canvas").press("ArrowRight")

    left = "([a, b]) => a.getBoundingClientRect().left - b.getBoundingClientRect().left"
    canvas = page.locator(".xr-canvas").element_handle()
    assert page.evaluate(left, [title.element_handle(), canvas]) == pytest.approx(12, abs=1)


def test_the_module_as_it_came_in_can_be_asked_too(opened: Callable[[str], Page]) -> None:
    page = opened("x.html#node=while.6")
    expect(page.locator(".xr-explore")).to_contain_text("From after optimizations")
    page.get_by_label("Snapshot").select_option("first")
    page.get_by_label("Instruction").fill("tuple")
    page.get_by_role("button", name="Draw").click()
    expect(page.locator(".xr-explore")).to_contain_text("before optimizations has no instruction")

    page.locator("a.xr-around").nth(1).click()
    expect(page.locator(".xr-explore")).to_contain_text("From before optimizations")
    assert "at=first" in page.url


def test_colors_can_stand_for_scopes_and_memory(opened: Callable[[str], Page]) -> None:
    page = opened("x.html#node=while.6&radius=4")
    page.get_by_label("Color by").select_option("memory")

    expect(page.locator(".legend.of-memory")).to_contain_text("results under 4 KiB")
    expect(page.locator("svg.by-memory .mark.of-memory").first).to_be_visible()
