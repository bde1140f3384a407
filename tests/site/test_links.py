"""Addresses that people paste, and the site as MkDocs builds and serves it."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from xlareport.report import BuildOptions, build

pytestmark = pytest.mark.browser

SLOW = 60_000
"""Milliseconds; the server of MkDocs answers one request at a time."""
MAIN = "m/module_0002.jit_train_step"


def test_addresses_survive_a_rebuild(
    visitor: Any, report_of_two: Path, two_modules: Path, tmp_path: Path
) -> None:
    out = Path(shutil.copytree(report_of_two, tmp_path / "out"))  # other tests read what is shared
    before = {path.relative_to(out) for path in (out / "site").rglob("*.html")}
    build(two_modules, BuildOptions(out=out))
    site = (out / "site").as_uri()

    assert {path.relative_to(out) for path in (out / "site").rglob("*.html")} == before
    step = visitor.open(f"{site}/{MAIN}.html?steps#step=0019")
    expect(step.locator(".xr-step h2")).to_contain_text("after fusion, before fusion-wrapper")
    asked = visitor.open(f"{site}/{MAIN}.html#i=select_multiply_fusion")
    expect(asked.locator("dialog.xr-history")).to_contain_text("Created in")
    table = visitor.open(f"{site}/coverage.html#t=files&q=obj-file&s=4d")
    expect(table.get_by_placeholder("Filter").last).to_have_value("obj-file")
    expect(table.locator("th[aria-sort=descending]")).to_contain_text("Size")
    drawn = visitor.open(f"{site}/{MAIN}.html#node=select_multiply_fusion&radius=1")
    expect(drawn.locator(".xr-explore g.n").first).to_be_visible()
    assert visitor.complaints == []


@pytest.fixture
def served(report_of_two: Path, free_port: int) -> Iterator[str]:
    """Return the address at which `mkdocs serve` shows the report."""
    command = (sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{free_port}")
    with subprocess.Popen(command, cwd=report_of_two, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            next(line for line in process.stderr if "Serving on" in line)
            yield f"http://127.0.0.1:{free_port}"
        finally:
            process.terminate()


def test_mkdocs_serves_it(browser: Any, served: str) -> None:
    complaints: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{served}/")
    page.locator(".xr-answer-name a").click()
    page.locator(".xr-tabs").get_by_text("Graph").click()
    page.locator(".xr-picture").first.scroll_into_view_if_needed()
    expect(page.locator(".xr-canvas svg g.n").first).to_be_visible(timeout=SLOW)
    page.locator(".xr-tabs").get_by_text("Steps").click()
    expect(page.locator(".xr-step .xr-account")).to_be_visible(timeout=SLOW)
    page.locator(".xr-search-open").click(timeout=SLOW)
    page.get_by_label("Search this report").fill("fusion")
    expect(page.locator(".xr-search section a").first).to_be_visible(timeout=SLOW)
    page.close()

    assert set(complaints) == {"Enabled live reload"}


def test_a_strict_build_is_silent(
    report_of_two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")  # the theme's word on its own future
    command = (sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir")
    done = subprocess.run(
        [*command, str(tmp_path)], cwd=report_of_two, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
