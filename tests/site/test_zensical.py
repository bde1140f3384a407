"""Zensical, the successor of the theme and of MkDocs, builds the same folder; its pages work."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from xlareport.report import BuildOptions, build

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("zensical") is None, reason="zensical is not installed"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, unpacked: Callable[[str], Path]) -> Path:
    out = tmp_path_factory.mktemp("zensical")
    build(unpacked("tf-add-multiply"), BuildOptions(out=out))
    shutil.rmtree(out / "site")
    subprocess.run([sys.executable, "-m", "zensical", "build"], cwd=out, check=True)
    return out / "site"


def test_pages_tables_and_the_search_work_from_disk(visitor: Any, site: Path) -> None:
    home = visitor.open((site / "index.html").as_uri())
    expect(home.locator("h1")).to_contain_text("XLA report")
    modules = visitor.open((site / "modules.html").as_uri())
    expect(modules.locator("table.xr-data tbody tr").first).to_be_visible()
    (page, *_) = sorted((site / "m").glob("*.html"))
    module = visitor.open(f"{page.as_uri()}?texts")
    expect(module.locator("[data-xr-texts]")).to_contain_text("HloModule")
    module.keyboard.press("/")
    module.locator("dialog.xr-search input").fill("multiply")
    expect(module.locator("dialog.xr-search li").first).to_be_visible()

    assert visitor.outside() == []
    assert [each for each in visitor.complaints if "noscript" not in each] == []
