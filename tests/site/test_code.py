"""The page of code in a real browser: texts load when opened, names lead to one another."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.report_files import payload_files

from xlareport.pages.rendering.environment import front_matter
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile, make_payload
from xlareport.storage.string_folding import fold_strings

pytestmark = pytest.mark.browser

PAGE = """# x

<div data-xr-code="m/x/code"></div>
"""


def unit(name: str, **more: Any) -> dict[str, Any]:
    one = {
        "name": name,
        "computation": "main",
        "opcode": "fusion",
        "shape": "f32[8]",
        "scope": "",
        "source": "",
        "grade": "matched",
        "reason": "The kernel has the instruction's name.",
        "files": [],
        "thunks": [],
        "decisions": None,
        "tuning": [],
        "kernels": [],
    }
    return one | more


def file(label: str, text: object, note: str = "") -> dict[str, Any]:
    return {"label": label, "path": f"{label}.txt", "size": 12, "text": text, "note": note}


def values(hostile: str) -> Iterator[tuple[str, Any]]:
    step = ["not fused", hostile, [hostile], "", hostile, 1.5, None]
    files = [
        file("HLO", [0, 0]),
        file("PTX", text=True),
        file("Object file", None, "Machine code."),
    ]
    first = unit(
        "fusion.1",
        files=files,
        thunks=[0],
        decisions={"grade": "matched", "total": 2, "steps": [step]},
        tuning=[["triton_gemm_config", hostile]],
        kernels=[["Kernel", hostile], ["Occupancy", "62.5% by registers"]],
    )
    yield (
        "m/x/code",
        {
            "key": "m/x/code",
            "texts": "m/x/texts",
            "units": [first, unit(hostile)],
            "thunks": [
                [1, "kCustomKernel", "fusion_1", None, 2, "", 0, 0, []],
                [2, "kCopy", hostile, 1, None, "body", 1, 1, ["fusion.1", hostile]],
            ],
            "inside": {"add.7": 0},
            "gone": None,
        },
    )
    yield "m/x/code-0", ["%x = add(\N{GRINNING FACE})\u202e\n"]
    lines = ["mov.b32 %r1, 2;", f"// {hostile}", ""]
    yield "m/x/texts", {"texts": [["PTX.txt", 30, None, 0, [0, 1], "PTX", "PTX"]], "chunks": [0]}
    yield "m/x/texts-0", {"lines": fold_strings(lines).listed(), "blocks": [[0, len(lines)]]}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile], hostile: str) -> Path:
    out = tmp_path_factory.mktemp("code")
    page = ("m/x.md", f"{front_matter(title='x', search=False)}{PAGE}")
    scripts = payload_files(*(make_payload(key, value) for key, value in values(hostile)))
    files = [few_page for few_page in few_pages if few_page[0] != page[0]]
    write_sources(out, [*files, page, *scripts])
    build_site(out)
    return out / "site"


@pytest.fixture
def page(visitor: Any, site: Path) -> Iterator[Page]:
    page = visitor.open((site / "m/x.html").as_uri())
    yield page
    assert visitor.complaints == []
    assert visitor.outside() == []
    assert page.evaluate("() => window.hacked") is None


def test_the_order_comes_first_and_leads_to_the_instructions(page: Page) -> None:
    expect(page.get_by_role("heading", name="Thunk sequence")).to_be_visible()
    page.get_by_role("table").get_by_role("link", name="fusion.1").first.click()
    expect(page.get_by_role("heading", name="%fusion.1")).to_be_visible()
    expect(page.get_by_text("Runs as thunk 1")).to_be_visible()
    assert page.url.endswith("#unit=fusion.1")


def test_a_text_is_colored_and_another_loads_when_it_is_opened(
    page: Page, site: Path, hostile: str
) -> None:
    page.goto(f"{(site / 'm/x.html').as_uri()}#unit=fusion.1")
    colored = page.locator("pre.xr-code").first
    expect(colored).to_have_text("%x = add(\N{GRINNING FACE})\\u202e")
    expect(colored.locator(".xr-code-function")).to_have_text("add")
    expect(page.locator("pre.xr-code")).to_have_count(1)
    page.get_by_text("PTX", exact=True).click()
    expect(page.locator("pre.xr-code")).to_have_count(2)
    expect(page.locator(".xr-code-comment")).to_contain_text(hostile)


def test_a_name_inside_of_a_fusion_leads_to_it(page: Page, site: Path) -> None:
    page.goto(f"{(site / 'm/x.html').as_uri()}#unit=add.7")
    expect(page.get_by_role("heading", name="%fusion.1")).to_be_visible()
    expect(page.get_by_text("add.7 is part of this instruction.")).to_be_visible()
    page.goto(f"{(site / 'm/x.html').as_uri()}#unit=mystery")
    expect(page.get_by_text("mystery has no code of its own here")).to_be_visible()


def test_the_list_is_narrowed_by_a_part_of_a_name(page: Page) -> None:
    page.get_by_role("searchbox", name="Instructions whose name has").fill("fusion.")
    expect(page.locator(".xr-item:visible")).to_have_count(2)
    page.get_by_role("searchbox", name="Instructions whose name has").fill("nothing")
    expect(page.locator(".xr-item:visible")).to_have_count(1)
