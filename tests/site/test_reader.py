"""What a reader of a stranger's report wants to know, each thing in under five clicks."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

FEW = 5
"""Clicks, keys that act as one among them; typing a name counts as one."""
FUSION = "%select_multiply_fusion"
OP = "jit(train_step)/transpose(jvp(loss))/hidden/mul"
FILE = "module_0002.jit_train_step.cpu_after_optimizations-buffer-assignment.txt"


class Reader:
    """Somebody who begins on the home page, and counts what it takes."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1

    def answer(self, label: str) -> Locator:
        """Return the answer of the home page that has this label."""
        rows = self.page.locator(".xr-answers > div")
        return rows.filter(has=self.page.locator("dt", has_text=label)).locator("dd").first

    def find(self, name: str, section: str) -> None:
        """Search for a name and open the first result of a section."""
        self.page.keyboard.press("/")
        self.page.get_by_label("Search this report").fill(name)
        self.clicks += 2
        results = self.page.locator(".xr-search section")
        title = self.page.locator("h2", has_text=section)
        self.click(results.filter(has=title).locator("a").first)


@pytest.fixture
def reader(visitor: Any, real_site: Path) -> Any:
    found = Reader(visitor.open(f"{real_site.as_uri()}/index.html"))
    yield found
    assert found.clicks < FEW
    assert visitor.complaints == []


def test_which_module_is_the_program(reader: Reader) -> None:
    expect(reader.page.locator(".xr-answer-name a")).to_have_text("jit_train_step")


def test_which_pass_introduced_a_fusion(reader: Reader) -> None:
    reader.find(FUSION, "Instructions")

    said = reader.page.locator("dialog.xr-history")
    expect(said).to_contain_text("Created in 0019 HLO_passes_after_layout_assignment: after fusion")


def test_what_became_of_a_framework_op(reader: Reader) -> None:
    reader.find(OP, "op_names")

    expect(reader.page.locator("dialog.xr-history")).to_contain_text("Changes by pass")


def test_which_three_instructions_cost_most(reader: Reader) -> None:
    expect(reader.answer("Cost").locator("a code")).to_have_count(3)
    reader.click(reader.page.get_by_role("link", name="All costs"))

    expect(reader.page.locator("tr[data-row='2']").first).to_be_visible()


def test_what_the_largest_buffer_is(reader: Reader) -> None:
    expect(reader.answer("Memory")).to_contain_text("Largest buffer at the peak: ")


def test_what_a_file_name_means(reader: Reader) -> None:
    reader.find(FILE, "Files")

    expect(reader.page.locator("tr[data-row]").first).to_contain_text(
        "Buffer assignment: all allocations"
    )


def test_why_two_were_not_fused(reader: Reader) -> None:
    """A dump of the CPU compiler does not say it, and the report says so."""
    reader.find(FUSION, "Instructions")

    said = reader.page.locator("dialog.xr-history .xr-panel-facts")
    expect(said).to_contain_text("not fused with its consumers is not known: the CPU compiler")
    expect(said.locator("dt", has_text="Consumers")).to_be_visible()
