"""The pages of a comparison in a browser: no search over everything, which has no index there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.successor import of_mkdocs

from xlareport.compare import compare
from xlareport.report import BuildOptions

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(unpacked: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of a comparison of two dumps of one module, of which an opcode differs."""
    folders = tmp_path_factory.mktemp("base"), tmp_path_factory.mktemp("head")
    for folder, opcode in zip(folders, (" tanh(", " logistic("), strict=True):
        for path in unpacked("jax-cpu-train").glob("module_0006.jit_rollout.*.txt"):
            (folder / path.name).write_text(path.read_text().replace(" tanh(", opcode))
    out = tmp_path_factory.mktemp("compared")
    compare(*folders, BuildOptions(out=out, jobs=1))
    return out / "site"


@pytest.mark.parametrize("name", ["index", "glossary", "m/module_0006.jit_rollout"])
def test_nothing_is_promised_that_is_not_there(visitor: Any, site: Path, name: str) -> None:
    page = visitor.open(f"{site.as_uri()}/{name}.html")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Full-text search")
    expect(keys).not_to_contain_text("Search this report")
    page.keyboard.press("Escape")
    expect(page.locator(".xr-search-open")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.locator("dialog.xr-search")).to_have_count(0)

    assert visitor.complaints == []
    assert not [
        request for request in visitor.requests if request.endswith("assets/data/search.js")
    ]


@of_mkdocs
@pytest.mark.parametrize("words", ["rollout", "jit_rollout"])
def test_a_module_is_found_by_a_part_of_its_name(visitor: Any, site: Path, words: str) -> None:
    page = visitor.open(f"{site.as_uri()}/index.html")
    page.keyboard.press("/")
    page.keyboard.type(words)
    link = page.locator(".md-search-result__link[href*='m/module_0006.jit_rollout.html']")
    expect(link.first).to_contain_text("jit_rollout")
