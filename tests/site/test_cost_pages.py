"""The pages on cost, memory and source in a real browser, with hostile names in the dump."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.accessibility import narrow_width, violations_by_scheme
from tests.fixtures.browser import SIZE
from tests.walks import LONG_WALKS

from xlareport.report import BuildOptions, build

pytestmark = pytest.mark.browser

PAGES = ("cost", "memory", "source")
HOSTILE = {
    b"jit(train_step)": b"jit(</td></script><script>hacked=1</script><img src=x onerror=hacked=2>)",
    b"gpu_train.py": b"x</p><script>hacked=3</script>**`[x](javascript:hacked=4).py",
}


@pytest.fixture(scope="module")
def site(unpacked: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cost")
    dump = folder / "dump"
    dump.mkdir()
    for path in unpacked("gpu-h100x2-train").glob("module_0001.jit_train_step.*"):
        if path.is_file() and ".00" not in path.name and path.suffix in (".txt", ".pbtxt"):
            content = path.read_bytes()
            for plain, hostile in HOSTILE.items():
                content = content.replace(plain, hostile)
            (dump / path.name).write_bytes(content)
    build(dump, BuildOptions(out=folder / "out", pictures="none"))
    return folder / "out" / "site"


@pytest.fixture
def opened(still: Any, site: Path) -> Callable[[str], Any]:
    def open_page(name: str) -> Any:
        page = still.look(f"{site.as_uri()}/m/module_0001.jit_train_step.html?{name}")
        expect(page.locator("table.xr-data" if name else ".xr-figures").first).to_be_visible()
        return page

    return open_page


@pytest.mark.parametrize("name", PAGES)
def test_no_name_in_a_dump_becomes_markup(opened: Any, name: str) -> None:
    assert opened(name).evaluate("typeof hacked") == "undefined"


def test_hostile_names_are_shown_as_they_are(opened: Any) -> None:
    expect(opened("source").locator("article")).to_contain_text("<script>hacked=3</script>")


@pytest.mark.parametrize("name", ["", *PAGES])
def test_every_page_fits_a_narrow_screen(opened: Any, name: str) -> None:
    assert narrow_width(opened(name)) <= 400


ENDS = """() => [...document.querySelectorAll('.xr-begin')].map(begin => {
    const range = document.createRange();
    range.selectNodeContents(begin.nextSibling);
    const cell = begin.closest('td').getBoundingClientRect();
    const is_cut = begin.scrollWidth > begin.clientWidth;
    const is_in_sight = range.getBoundingClientRect().right <= cell.right;
    return [begin.nextSibling.textContent, is_cut, is_in_sight];
})"""


@pytest.mark.parametrize(("name", "end"), [("source", r":\d+"), ("cost", r"\.\d+")])
def test_a_name_that_is_cut_keeps_its_number_in_sight(opened: Any, name: str, end: str) -> None:
    page = opened(name)
    page.set_viewport_size({"width": 400, "height": 800})
    ends = page.evaluate(ENDS)
    page.set_viewport_size(SIZE)
    assert any(is_cut and re.fullmatch(end, text) for text, is_cut, _ in ends)
    assert all(is_in_sight for _, _, is_in_sight in ends)


@pytest.mark.parametrize("name", PAGES if LONG_WALKS else ("source",))
def test_everybody_can_read_it(opened: Any, name: str) -> None:
    assert violations_by_scheme(opened(name)) == {}


def test_charts_have_words(opened: Any) -> None:
    chart = opened("memory").get_by_role("img", name="at schedule position")
    expect(chart.first).to_be_visible()
    expect(opened("cost").get_by_role("img", name="memory-bound")).to_be_visible()


def test_the_pages_lead_to_one_another(opened: Any) -> None:
    page = opened("cost")
    page.locator(".xr-tabs").get_by_role("link", name="Memory").click()
    expect(page.locator("h1")).to_contain_text("Memory of")
    page.locator(".xr-tabs").get_by_role("link", name="Source").click()
    expect(page.locator("h1")).to_contain_text("Source of")
