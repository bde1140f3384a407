"""A report in one file works in frames of other pages, and shows its home page without scripts."""

import html
import http.server
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Frame, Page, expect
from tests.walks import LONG_WALKS

SANDBOX = 'sandbox="allow-scripts"'


@pytest.fixture(scope="module")
def embedded(single: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report in a folder in which pages around it may be written."""
    return Path(shutil.copy(single, tmp_path_factory.mktemp("embedded") / "one.html"))


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture
def page(browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """Return a page that writes down what the browser complains about, and may load files."""
    context = browser.new_context()
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    yield page
    context.close()


def frame_of(page: Page) -> Frame:
    (frame,) = page.main_frame.child_frames
    return frame


@pytest.fixture(scope="module")
def folder(embedded: Path) -> Iterator[str]:
    """Return the address of the file's folder on a server: frames of files may load no others."""
    serve = partial(SilentHandler, directory=str(embedded.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def files(embedded: Path, folder: str) -> tuple[Path, str]:
    return embedded, folder


class SilentHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


MAKE_BLOB = """async (sandbox) => {
    const frame = document.createElement("iframe");
    if (sandbox) frame.sandbox = "allow-scripts";
    frame.width = 1200; frame.height = 800;
    const source = await (await fetch("one.html")).text();
    frame.src = URL.createObjectURL(new Blob([source], {type: "text/html"}));
    document.body.append(frame);
}"""


def embed(page: Page, single: Path, folder: str, kind: str, attributes: str) -> None:
    """Open a page with the report in a frame of some kind."""
    inside = {
        "srcdoc": f'srcdoc="{html.escape(single.read_text("utf-8"))}"',
        "file": 'src="one.html"',
    }
    frame = f"<iframe {inside.get(kind)} {attributes} width=1200 height=800></iframe>"
    around = (
        "<!doctype html><meta charset=utf-8><link rel=icon href=data:,><title>around</title><body>"
    )
    single.with_name("around.html").write_text(around + (frame if kind in inside else ""), "utf-8")
    page.goto(f"{folder}/around.html")
    if kind == "blob":
        page.evaluate(MAKE_BLOB, bool(attributes))


FRAMES = (("srcdoc", ""), ("blob", SANDBOX), ("file", SANDBOX))
OTHER_FRAMES = (("srcdoc", SANDBOX), ("blob", ""), ("file", ""))


@pytest.mark.parametrize(("kind", "attributes"), [*FRAMES, *(OTHER_FRAMES if LONG_WALKS else ())])
def test_it_works_in_a_frame(
    page: Page, complaints: list[str], files: tuple[Path, str], kind: str, attributes: str
) -> None:
    single, folder = files
    embed(page, single, folder, kind, attributes)
    frame = frame_of(page)
    expect(frame.locator("main h1").first).to_be_visible()
    link = frame.locator("main a[href^='#page=m/']").first
    link.click()
    frame = frame_of(page)
    expect(frame.locator("[data-xr-parts]")).to_be_visible()
    frame.locator("[data-xr-parts] a", has_text="HLO").first.click()
    frame = frame_of(page)
    expect(frame.locator("[data-xr-texts]")).to_contain_text("HloModule")
    frame.locator("body").press("/")
    expect(frame.locator("dialog.xr-search")).to_be_visible()

    assert page.url.endswith("around.html")
    assert complaints == []


@pytest.mark.parametrize("attributes", ["sandbox", None], ids=["sandboxed", "scripts off"])
def test_without_scripts_the_home_page_is_there(
    browser: Browser, embedded: Path, folder: str, attributes: str | None
) -> None:
    context = browser.new_context(java_script_enabled=attributes is not None)
    page = context.new_page()
    if attributes is None:
        page.goto(embedded.as_uri())
        frame = page.main_frame
    else:
        embed(page, embedded, folder, "file", attributes)
        frame = frame_of(page)
    expect(frame.locator("h1")).to_be_visible()
    expect(frame.locator("p.xr-noscript").first).to_contain_text("Scripts are switched off")
    assert frame.locator("noscript a[href]:not([href^='#'])").count() == 0
    context.close()


def test_the_home_page_stands_in_it_once_more_and_no_script_with_it(single: Path) -> None:
    kept = single.read_text("utf-8").partition("<noscript>")[2].partition("</noscript>")[0]
    assert "<script" not in kept
    assert "<article" in kept
