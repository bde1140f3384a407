"""The page of texts in a real browser: what it shows is what XLA wrote."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.dump.source import open_source
from xlareport.pages.rendering.environment import front_matter
from xlareport.pages.texts.page import kept_texts
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile

pytestmark = pytest.mark.browser

STAGE = "0015"
WIDTH = "f32[6,16]"


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory, unpacked: Callable[[str], Path]) -> Path:
    """Return a module's dump, and beside it a text that is no UTF-8."""
    folder = tmp_path_factory.mktemp("dump")
    for path in unpacked("jax-cpu-train").glob("module_0002.jit_train_step.*.txt"):
        (folder / path.name).write_bytes(path.read_bytes())
    last = next(folder.glob("*cpu_after_optimizations.txt"))
    last.write_bytes(
        last.read_bytes() + b"// \xff\xfe \xf0\x9f\x98\x80 <script>hacked=1</script>\n"
    )
    return folder


def module(dump: Path) -> ModuleFiles:
    with open_source(dump) as source:
        names = classify([one.path for one in source.entries])
        pairs = zip(source.entries, names, strict=True)
        return group([Artifact(entry, name) for entry, name in pairs]).modules[0]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile], dump: Path) -> Path:
    out = tmp_path_factory.mktemp("texts")
    files = module(dump)
    body = f'# x\n\n<div data-xr-texts="m/{files.slug}/texts"></div>\n'
    page = ("m/x.md", f"{front_matter(title='x', search=False)}{body}")
    others = [few_page for few_page in few_pages if few_page[0] != page[0]]
    write_sources(out, [*others, page, *kept_texts(files).payloads])
    build_site(out)
    return out / "site"


@pytest.fixture
def opened(visitor: Any, site: Path) -> Iterator[Callable[[str], Page]]:
    def open_page(state: str) -> Page:
        page: Page = visitor.open(f"{site.as_uri()}/m/x.html{state}")
        expect(page.locator(".xr-whole li").first).to_be_visible()
        return page

    yield open_page
    assert visitor.complaints == []
    assert visitor.outside() == []
    assert all(page.evaluate("typeof hacked") == "undefined" for page in visitor.pages)


def text_of(dump: Path, part: str) -> Path:
    return next(dump.glob(f"*{part}*.txt"))


def test_it_shows_the_optimised_module_first(opened: Any, dump: Path) -> None:
    page = opened("")
    first = text_of(dump, "cpu_after_optimizations").read_text(errors="replace").splitlines()[0]

    expect(page.locator(".xr-whole-choice")).to_have_value("after_optimizations")
    expect(page.locator(".xr-whole li code").first).to_have_text(first)


@pytest.mark.parametrize(
    "part", ["before_optimizations.txt", f".{STAGE}.", "after_optimizations.txt"]
)
def test_what_is_saved_is_what_was_written(
    opened: Any, dump: Path, part: str, tmp_path: Path
) -> None:
    path = next(one for one in dump.iterdir() if part in one.name)
    key = STAGE if STAGE in part else part.removesuffix(".txt")
    page = opened(f"#text={key}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this text").click()

    download.value.save_as(tmp_path / "saved")
    assert download.value.suggested_filename == path.name
    assert (tmp_path / "saved").read_bytes() == path.read_bytes()


def test_the_address_leads_to_the_line_of_a_name(opened: Any) -> None:
    page = opened("#text=after_optimizations&name=ynn_fusion.2")

    expect(page.locator("li.xr-whole-marked code")).to_contain_text("%ynn_fusion.2 = ")


def test_words_are_found_one_after_the_other(opened: Any, dump: Path) -> None:
    page = opened(f"#text={STAGE}")
    text = text_of(dump, f".{STAGE}.").read_text()
    places = [place for place, line in enumerate(text.splitlines(), 1) if WIDTH in line]
    box = page.get_by_role("searchbox", name="Search in this text")
    box.fill(WIDTH)

    expect(page.locator(".xr-count")).to_have_text(f"1 of {len(places)} lines (Enter: next)")
    box.press("Enter")
    expect(page.locator("li.xr-whole-marked .xr-whole-number")).to_have_text(str(places[1]))


def test_a_name_leads_to_where_it_is_defined(opened: Any) -> None:
    page = opened("#text=after_optimizations&name=ynn_fusion.2")
    page.locator("li.xr-whole-marked .xr-code-variable", has_text="%fused_computation").click()

    expect(page.locator("li.xr-whole-marked code")).to_contain_text("{")
    assert "line=" in page.url
