"""The box to ask in and the panel of histories, in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.modules import parse_module
from tests.report_files import payload_files

from xlareport.pages.history.stored import chunk_columns, index_columns
from xlareport.pages.pictures.snapshot_graph import ShownInstruction, columns, flat
from xlareport.pages.rendering.environment import front_matter
from xlareport.pictures.shade import NO_COLOR_DATA
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile, make_payload

pytestmark = pytest.mark.browser

PAGE = """# x

<p><a class="xr-ask" href="#i=fusion.1"><code>fusion.1</code></a></p>
<div data-xr-history="m/x/history" data-steps="x.html?steps"></div>
"""


def subject(events: list[int]) -> dict[str, Any]:
    return {"instructions": 1, "events": events, "origins": [1, 0], "now": [1, 0]}


LEFT_OUT = "jit(f)/ffn/dot_general"
"""An op_name of the first snapshot whose history was left out."""
CALLED = ("jit(f)/while/body/call", "pos")
"""The op_names of a call, and of what the called computation has."""
MODULE = b"""HloModule m

ENTRY main {
  p = f32[4] parameter(0)
  fusion.1 = f32[4] add(p, p)
  ROOT late.1 = f32[4] negate(fusion.1), metadata={op_name="jit(f)/while/body/neg"}
}
"""


def final_values(hostile: str) -> Iterator[tuple[str, Any]]:
    """Yield what is known of the final snapshot: its graph, figures, and facts."""
    module = parse_module(MODULE)
    (computation,) = module.computations
    lines = computation.instructions
    graph = {"label": "last", "text": None, "piece": 1000, "complete": True, "calls": {}}
    graph |= {"computations": [["main", 3, ""]], "inside": [[[False, []]], [0]], "roots": [2]}
    graph |= {"operands": flat([[], [1, 1], [1]]), "controls": {}}
    yield (
        "m/x/graph",
        graph | dict(columns([ShownInstruction(line, module) for line in lines], NO_COLOR_DATA)),
    )
    figures = {"pieces": 1, "flops": [0, 4, 4], "bytes": [None, 32, 32]}
    figures |= {"stored": [None, None, 4096], "share": [0, 0.25, 0.75]}
    paths = ["", "jit(f)/while/body/neg", "jit(f)/while/body/call/pos", CALLED[0]]
    scopes = {"scope": [3, 2, 1], "scopes": paths}
    yield "m/x/instructions-0", figures | scopes | {"source": [0, 0, 0], "sources": [""]}
    refused = ["Not fused", f"into %late.1: {hostile}", "steps", "matched"]
    yield (
        "m/x/facts",
        {"seconds": 4e-6, "fusion": "Not known.", "facts": {"fusion.1": [refused]}},
    )


SEARCH = {
    "complete": True,
    "codes": ["negate"],
    "forms": {},
    "steps": [],
    "stages": [["first", "first", "first", 1], ["0007", "0007 fusion", "0007 fusion", 1]],
    "spans": [[1, 1]],
    "kinds": {"instruction": {"values": ["only.1"], "spans": [0], "codes": [0]}},
}
"""An index of names with one that has no history."""


def values(hostile: str) -> Iterator[tuple[str, Any]]:
    yield from final_values(hostile)
    yield "m/x/search", SEARCH
    event = [1, "created", "main/%fusion.1", ["add.1", hostile], [], "m", hostile]
    yield (
        "m/x/history",
        index_columns(
            {
                "stages": [["first", "first"], ["0007", f"0007 fusion {hostile}"]],
                "chunk": 1,
                "titles": ["main/%fusion.1", f"jit(f)/add{hostile}", *CALLED],
                "forward": 1,
                "between": [4, "main/%passing.1"],
                "names": {"passing.1": [4], "fusion.1": [0], "add.1": [1], hostile: [1]},
                "left_out": [(LEFT_OUT, ["main/%dot.8", "main/%dot.9"])],
                "complete": False,
            }
        ),
    )
    standing = ["main/%add.1", "add", "f32[8]", f"jit(f)/add{hostile}", "f.py:3"]
    chunk = {"subjects": [subject([-1])], "standings": [standing], "events": [event]}
    made = [1, "added", "main/%made.1", [], [], "m", hostile]
    lost = [1, "added", f"main/%{hostile}", [], [], "g", "no source was found"]
    rootless = {"subjects": [subject([-2]) | {"origins": [0]}], "events": [made, lost]}
    untraced = {"subjects": [subject([-1]) | {"now": [0]}]}
    for number, one in enumerate((chunk, chunk, chunk | untraced, chunk, chunk | rootless)):
        yield f"m/x/history-{number}", chunk_columns(one)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile], hostile: str) -> Path:
    out = tmp_path_factory.mktemp("history")
    page = ("m/x.md", f"{front_matter(title='x', search=False)}{PAGE}")
    known = values(hostile)
    scripts = payload_files(*(make_payload(key, value) for key, value in known))
    files = [few_page for few_page in few_pages if few_page[0] != page[0]]
    write_sources(out, [*files, page, *scripts])
    build_site(out)
    return out / "site"


@pytest.fixture
def page(visitor: Any, site: Path) -> Iterator[Page]:
    opened: Page = visitor.open(f"{site.as_uri()}/m/x.html")
    yield opened
    assert visitor.complaints == []
    assert visitor.outside() == []
    assert opened.evaluate("typeof hacked") == "undefined"


def test_a_name_opens_the_panel_and_is_in_the_address(page: Page) -> None:
    page.locator("a.xr-ask").first.click()
    panel = page.locator(".xr-history")
    expect(panel).to_contain_text("Comes from 1 instruction in before_optimizations")
    expect(panel.locator(".xr-events a").first).to_have_attribute("href", "x.html?steps#step=0007")
    expect(panel.locator(".xr-events .xr-grade")).to_have_text("matched")
    assert page.url.endswith("#i=fusion.1")
    panel.get_by_text("%add.1").first.click()
    expect(panel.locator("h2")).to_have_text("%add.1")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert "#" not in page.url


def test_the_box_finds_names_and_ops(page: Page, hostile: str) -> None:
    box = page.locator(".xr-ask-box input")
    box.fill("ADD")
    found = page.locator(".xr-ask-results a")
    expect(found).to_have_count(2)
    found.nth(1).click()
    expect(page.locator(".xr-history h2")).to_have_text(f"jit(f)/add{hostile}")
    expect(page.locator(".xr-history")).to_contain_text("Maps to 1 instruction")
    box.fill("nothing")
    expect(page.locator("[data-xr-history] [role=status]")).to_contain_text("No instruction")


def test_enter_opens_an_op_and_leaves_it_open(page: Page, hostile: str) -> None:
    """The same key must not press what the panel focuses."""
    box = page.locator(".xr-ask-box input")
    box.fill("jit(f)/add")
    box.press("Enter")
    expect(page.locator(".xr-history h2")).to_have_text(f"jit(f)/add{hostile}")
    expect(page.locator(".xr-history")).to_contain_text("Maps to 1 instruction")
    expect(page.locator(".xr-history h2")).to_be_focused()


def test_what_is_known_of_the_final_instruction_stands_first(page: Page, hostile: str) -> None:
    """Cost, why it was not fused, and its users; each with its grade."""
    page.locator("a.xr-ask").first.click()
    facts = page.locator(".xr-history .xr-panel-facts")
    expect(facts).to_contain_text("1 µs, 25% of the estimated time of a run; 4 FLOP; 32 B")
    expect(facts).not_to_contain_text("as stored")
    expect(facts).to_contain_text(f"into %late.1: {hostile} matched")
    expect(facts).to_contain_text("%late.1 (negate)")
    expect(facts).not_to_contain_text("Not known.")
    facts.get_by_text("%late.1").last.click()
    stored = "32 B accessed; 4.0 KiB as stored in device memory. Estimate"
    expect(page.locator(".xr-history .xr-panel-facts")).to_contain_text(stored)
    expect(page.locator(".xr-history .xr-panel-facts")).to_contain_text("Not known.")


def test_an_op_name_of_the_final_snapshot_alone_is_found(page: Page) -> None:
    box = page.locator(".xr-ask-box input")
    box.fill("body/neg")
    box.press("Enter")
    panel = page.locator(".xr-history")
    expect(panel.locator("h2")).to_have_text("jit(f)/while/body/neg")
    page.keyboard.press("Escape")
    box.fill("jit(f)/jvp(body)/nothing")
    expect(page.locator("[data-xr-history] [role=status]")).to_contain_text("No instruction")
    box.fill("jit(f)/neg")  # as pages write it, without levels of control flow
    expect(page.locator(".xr-ask-results a")).to_have_text(["jit(f)/while/body/neg"])
    box.fill("body/neg")
    box.press("Enter")
    expect(panel).to_contain_text("No instruction of before_optimizations has this op_name")
    expect(panel.locator(".xr-places")).to_have_text("%late.1 negate")


def test_a_path_that_inlining_made_is_one_entry_with_what_it_is_made_of(page: Page) -> None:
    """JAX writes op_names inside of a called computation relative to the call."""
    box = page.locator(".xr-ask-box input")
    box.fill("pos")
    expect(page.locator(".xr-ask-results a")).to_have_text(["jit(f)/while/body/call/pos"])
    box.fill("jit(f)/while/body/call/pos")
    box.press("Enter")
    panel = page.locator(".xr-history")
    expect(panel.locator("h2")).to_have_text("jit(f)/while/body/call/pos")
    expect(panel).to_contain_text("In before_optimizations it is pos, relative to a call")
    line = panel.locator("ul.xr-places > li").first
    expect(line).to_contain_text("%fusion.1 add")
    expect(line).to_contain_text("Created in 0007 fusion")
    expect(panel.locator("summary").first).to_contain_text("pos in before_optimizations")
    expect(panel).to_contain_text("Maps to 1 instruction")


def test_an_unknown_name_in_the_address_is_told(visitor: Any, site: Path) -> None:
    page: Page = visitor.open(f"{site.as_uri()}/m/x.html#i=nobody")
    expect(page.locator(".xr-history .xr-empty")).to_contain_text("No instruction of this name")
    assert visitor.complaints == []


def test_a_name_without_a_history_leads_to_its_text(page: Page) -> None:
    page.goto(page.url.partition("#")[0] + "#i=only.1")
    text = page.locator(".xr-history .xr-empty a")
    expect(text).to_have_attribute("href", re.compile(r"\?texts#text=0007&name=only\.1$"))


def test_what_came_and_went_on_the_way_has_a_history(page: Page) -> None:
    page.goto(page.url.partition("#")[0] + "#i=passing.1")
    panel = page.locator(".xr-history")
    expect(panel.locator("summary").first).to_have_text("%passing.1 intermediate only")
    expect(panel).to_contain_text("Maps to 1 instruction in after_optimizations")


def test_what_comes_from_nothing_in_the_first_snapshot_says_where_it_begins(
    page: Page, hostile: str
) -> None:
    page.goto(page.url.partition("#")[0] + "#i=passing.1")
    panel = page.locator(".xr-history")
    expect(panel).to_contain_text("Origin in before_optimizations not known")
    expect(panel).not_to_contain_text("Comes from 0")
    begun = panel.locator(".xr-begun")
    expect(begun.nth(0)).to_have_text(f"%made.1 is first seen in 0007 fusion {hostile} matched")
    expect(begun.nth(1)).to_have_text(
        f"Not matched past %{hostile} in 0007 fusion {hostile} guessed"
    )


def test_an_op_whose_trail_ends_lists_what_has_its_op_name(page: Page) -> None:
    page.goto(page.url.partition("#")[0] + "#op=jit(f)/while/body/call")
    panel = page.locator(".xr-history")
    expect(panel).to_contain_text("Maps to 0 instructions in after_optimizations")
    expect(panel).to_contain_text("By op_name: 1 instruction of the final snapshot.")
    expect(panel.locator("ul.xr-places").last).to_contain_text("%p")


def test_an_op_name_that_was_left_out_for_size_is_said_to_be_in_the_first_snapshot(
    page: Page,
) -> None:
    page.goto(page.url.partition("#")[0] + f"#op={LEFT_OUT}")
    panel = page.locator(".xr-history")
    expect(panel).to_contain_text(f"In before_optimizations {LEFT_OUT} is 2 instructions:")
    expect(panel).to_contain_text("this one is left out")
    expect(panel).not_to_contain_text("No instruction")
    panel.get_by_text("%dot.9").click()
    expect(panel.locator("h2")).to_have_text("%dot.9")
    expect(panel).to_contain_text(f"In before_optimizations {LEFT_OUT} is 2 instructions:")


def test_the_box_finds_an_op_name_that_was_left_out(page: Page) -> None:
    page.locator(".xr-ask-box input").fill("ffn/dot")
    expect(page.locator(".xr-ask-results a")).to_have_text([LEFT_OUT])


def test_a_final_instruction_that_was_left_out_is_not_said_to_be_a_computation(page: Page) -> None:
    page.goto(page.url.partition("#")[0] + "#i=late.1")
    panel = page.locator(".xr-history")
    expect(panel).to_contain_text("this one is left out")
    expect(panel).to_contain_text("By op_name: jit(f)/while/body/neg")
    expect(panel).not_to_contain_text("name of a computation")
