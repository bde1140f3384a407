"""Any snapshot's graph, put together from the timelines, in a real browser from file://."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from xlareport.hlo.graph import control_predecessors
from xlareport.hlo.model import HloModule
from xlareport.program import ParsedModule
from xlareport.report import BuildOptions, read_one_module

pytestmark = pytest.mark.browser

Open = Callable[[str], Page]
SLUGS = {"jit_train_step": "module_0002.jit_train_step", "jit_rollout": "module_0006.jit_rollout"}
GRAPH = """async (key) => {
  const graph = await xlareport.loadSnapshotGraph(key);
  const name = (place) => graph.name(place);
  const all = [...graph.index.names.keys()];
  return all.map((place) => [
    graph.computation(place), name(place), graph.opcode(place), graph.isRoot(place),
    graph.operands(place).map((one) => name(one.place)), graph.controls(place).map(name),
    graph.calls(place).map(([attribute, one]) => [attribute, graph.index.computations[one][0]]),
  ]);
}"""


@pytest.fixture
def opened(visitor: Any, real_site: Path) -> Iterator[Open]:
    def open_page(address: str) -> Page:
        page: Page = visitor.open(f"{real_site.as_uri()}/m/{address}")
        return page

    yield open_page
    assert visitor.complaints == []
    assert visitor.outside() == []


def rows(module: HloModule) -> list[list[Any]]:
    return [
        [
            computation.name,
            instruction.name,
            instruction.opcode,
            instruction is computation.root,
            list(instruction.operand_names),
            list(control_predecessors(instruction)),
            [list(called) for called in instruction.called],
        ]
        for computation in module.computations
        for instruction in computation.instructions
    ]


def read(name: str, unpacked: Callable[[str], Path]) -> ParsedModule:
    return read_one_module(unpacked("jax-cpu-train"), name, BuildOptions())


@pytest.mark.parametrize("name", SLUGS)
def test_each_snapshot_has_the_graph_that_was_read(
    name: str, opened: Open, unpacked: Callable[[str], Path]
) -> None:
    slug = SLUGS[name]
    page = opened(f"{slug}.html?steps")
    for snapshot in read(name, unpacked).snapshots:
        found = page.evaluate(GRAPH, f"m/{slug}/versions@{snapshot.stage.key}")
        assert sorted(found) == sorted(rows(snapshot.hlo)), snapshot.stage.label


def test_a_box_before_a_step_leads_to_what_is_around_it_there(opened: Open) -> None:
    page = opened(f"{SLUGS['jit_train_step']}.html?steps")
    figure = page.locator("figure[data-side=before]").first
    figure.scroll_into_view_if_needed()
    figure.locator("g.s-removed, g.s-changed").first.click()
    figure.get_by_role("link", name="Neighborhood", exact=True).click()

    status = page.locator(".xr-explore [role=status]").first
    expect(status).to_contain_text("From ")
    expect(page.locator(".xr-explore g.focus")).to_be_visible()
    chosen = page.get_by_label("Snapshot").input_value()
    steps = page.evaluate(
        "xlareport.load(document.querySelector('[data-xr-steps]').dataset.xrSteps)"
    )
    keys = [step["id"] for step in steps["steps"]]
    shown = page.evaluate("xlareport.state.get('step')")
    assert chosen == keys[keys.index(shown) - 1]


def test_any_snapshot_can_be_chosen(opened: Open) -> None:
    slug = SLUGS["jit_train_step"]
    page = opened(f"{slug}.html#node=dot_general.9&at=0005&show=producers")
    status = page.locator(".xr-explore [role=status]").first
    expect(status).to_contain_text("From 0005")
    page.locator(".xr-explore g.focus").click()
    expect(page.locator(".xr-explore .xr-details dl")).to_contain_text("operands")
    page.get_by_label("Snapshot").select_option("last")
    expect(status).not_to_contain_text("From 0005")


def test_a_box_of_a_middle_snapshot_leads_to_its_line_there(opened: Open) -> None:
    slug = SLUGS["jit_train_step"]
    page = opened(f"{slug}.html#node=dot_general.9&at=0005&show=producers")
    page.locator(".xr-explore g.focus").click()
    link = page.locator(f".xr-explore .xr-details a[href*='{slug}.html?texts#text=0005']").first
    expect(link).to_be_visible()


def test_nothing_floats_over_the_steps(opened: Open) -> None:
    page = opened(f"{SLUGS['jit_train_step']}.html?steps")
    page.set_viewport_size({"width": 400, "height": 500})
    page.mouse.move(200, 300)
    page.mouse.wheel(0, 1500)
    page.mouse.wheel(0, -100)
    expect(page.locator(".xr-step")).to_be_visible()
    expect(page.locator(".md-top")).to_have_count(0)


def test_a_computation_between_is_told_as_in_the_final_graph(opened: Open) -> None:
    slug = SLUGS["jit_train_step"]
    page = opened(f"{slug}.html?steps")
    told = page.evaluate(
        """async (slug) => {
          const { stages } = await xlareport.load(`m/${slug}/versions`);
          const graphs = [`m/${slug}/graph`, `m/${slug}/versions@${stages.at(-1)[0]}`];
          const loaded = await Promise.all(graphs.map(xlareport.loadSnapshotGraph));
          return loaded.map((one) => Object.fromEntries(
            one.index.computations.map(([name, , does]) => [name, does])));
        }""",
        slug,
    )
    assert told[0] == told[1]
    assert any(":" in does for does in told[0].values())
