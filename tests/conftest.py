"""What every test can ask for: small dumps, large dumps, goldens, a browser."""

import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
import zstandard
from filelock import FileLock
from hypothesis import settings
from tests.script_coverage import ScriptCoverage, script_coverage
from tests.successor import use_zensical

from xlareport import __version__
from xlareport.pages import navigation
from xlareport.report import BuildOptions, build
from xlareport.site.single import pack_single
from xlareport.storage.payloads import Payload, module_payloads, write_payload

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize

TESTS = Path(__file__).parent
DATA = TESTS / "data"
# The shell without windows first: a page costs less than half the time in it.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Python 3.11 has filters since 3.11.4, and Debian 12 has 3.11.2.
FILTER = getattr(tarfile, "data_filter", lambda member, _path: member)
PATIENCE = 30_000
"""Milliseconds until what is expected has to be there: a busy machine is slow, not wrong."""
SIZE: "ViewportSize" = {"width": 1400, "height": 900}
"""Pixels of a tab."""
CLEAR = "location.protocol === 'about:' || (localStorage.clear(), sessionStorage.clear())"
"""Forgets what a page stored: the theme its colors, say."""
ON_CI = os.environ.get("CI") == "true"
LONG_WALKS = bool(os.environ.get("XLAREPORT_LONG_WALKS"))
"""Browsers walk through whole reports, which takes minutes (`make walks`); else some pages do."""

# No test looks at a clock: under load an example may take any time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

Unpack: TypeAlias = Callable[[str], Path]
Shared: TypeAlias = Callable[[str, Callable[[Path], None]], Path]
Snapshot: TypeAlias = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--snapshot-update",
        action="store_true",
        help="write the goldens under tests/**/expected/ instead of comparing with them",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: drives Chromium over the built pages")
    config.addinivalue_line("markers", "packaging: builds and installs the wheel (slow, network)")
    use_zensical()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background, with nohup
        signal.signal(signal.SIGINT, signal.default_int_handler)


def payload_files(*payloads: Payload) -> list[tuple[str, str]]:
    """Return the files of payloads as a build writes them: a module's small ones share one."""
    alone: list[Payload] = []
    modules: dict[str, list[Payload]] = {}
    for payload in payloads:
        place = re.fullmatch(r"m/([^/]+)/(?!search|texts).*", payload.key)
        (modules.setdefault(place[1], []) if place else alone).append(payload)
    together = (
        module_payloads(navigation.module_key(slug, "small"), some)
        for slug, some in modules.items()
    )
    return [*map(write_payload, alone), *chain.from_iterable(together)]


def paths_of(report: dict[str, Any]) -> Iterator[str]:
    """Yield the paths in a report.json, as the README says how."""
    for one in (report, *report["modules"]):
        yield from (file["path"] for file in one["files"])
        for files in (stage["files"] for stage in one.get("stages", ())):
            yield from (files["name"] + ending for ending in files["endings"])


@pytest.fixture(scope="session")
def data() -> Path:
    """Return tests/data: the small dumps of the repository."""
    return DATA


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Unpack:
    """Return a function: the name of a dump in tests/data, kept plain or packed -> its folder."""

    @cache
    def unpack(name: str) -> Path:
        plain = DATA / name
        if plain.is_dir():
            return plain
        folder = tmp_path_factory.mktemp("unpacked")
        with (
            plain.with_name(f"{name}.tar.zst").open("rb") as packed,
            zstandard.ZstdDecompressor().stream_reader(packed) as stream,
            tarfile.open(fileobj=stream, mode="r|") as archive,
        ):
            archive.extraction_filter = FILTER
            archive.extractall(folder)  # noqa: S202 - filtered where Python can, and our own
        return folder / name

    return unpack


@pytest.fixture(scope="session")
def dumps() -> Path:
    """Return the folder of large dumps, `<name>/<name>/<files>`; the test is skipped without it."""
    folder = os.environ.get("XLAREPORT_DUMPS")
    if not folder:
        pytest.skip("XLAREPORT_DUMPS does not name a folder of unpacked dumps")
    return Path(folder)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of Chromium; the test is skipped without one, and fails so under CI=true."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = (sys.executable, "-m", "playwright", "--version")
    if found and subprocess.run(driver, capture_output=True, check=False).returncode == 0:
        return found
    reason = "no Chromium that Playwright can drive (apt-get install chromium libatomic1)"
    if ON_CI:
        pytest.fail(f"CI runs every browser test: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator["Browser"]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def coverage() -> ScriptCoverage | None:
    """Return what collects which scripts ran; None where nobody asks for it."""
    return script_coverage()


class Tabs:
    """A context of the browser with one tab, kept from test to test: a new one costs a process.

    Where a test changed what cannot be taken back, the next one gets a new context.
    """

    def __init__(self, browser: "Browser") -> None:
        self.browser = browser
        self.kept: BrowserContext | None = None

    def take(self) -> "BrowserContext":
        if self.kept is None:
            self.kept = self.browser.new_context(viewport=SIZE, offline=True)
            self.kept.set_default_navigation_timeout(PATIENCE * 4)
            self.kept.route(re.compile("^https?:"), lambda route: route.abort())
        return self.kept

    def give_back(self, *, clean: bool) -> None:
        """Keep the first tab as a new one would be, or none where the context is not clean."""
        if self.kept is not None and not (clean and self._is_emptied(self.kept)):
            self.kept.close()
            self.kept = None

    def _is_emptied(self, context: "BrowserContext") -> bool:
        from playwright.sync_api import Error

        try:
            for page in context.pages:
                page.evaluate(CLEAR)
            page, *others = context.pages or [context.new_page()]
            for other in others:
                other.close()
            page.mouse.move(-1, -1)
            page.goto("about:blank")
            page.set_viewport_size(SIZE)
            page.emulate_media(media="null", color_scheme="light", reduced_motion="no-preference")
        except Error:  # a tab that hangs, or has a dialog open
            return False
        return True


class Visitor:
    """Opens pages with the network off and keeps what the browser complains about."""

    def __init__(self, context: "BrowserContext", coverage: ScriptCoverage | None = None) -> None:
        self.is_clean = True
        self.coverage = coverage
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._context = context
        self._fresh = list(context.pages)
        self._looked_at: dict[str, Page] = {}
        self._heard: dict[str, Callable[[Any], None]] = {
            "request": lambda request: self.requests.append(request.url),
            "console": self._hear,
            "weberror": lambda error: self.complaints.append(str(error.error)),
        }
        for event, hear in self._heard.items():
            context.on(event, hear)  # type: ignore[call-overload]

    @property
    def pages(self) -> list["Page"]:
        return self._context.pages

    @property
    def context(self) -> "BrowserContext":
        """What a test adds to the context cannot be taken back: it is not used again."""
        self.is_clean = False
        return self._context

    def leave(self) -> None:
        """Hear no more of the pages, which the next test may use."""
        for event, hear in self._heard.items():
            self._context.remove_listener(event, hear)

    def _hear(self, message: "ConsoleMessage") -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def look(self, address: str) -> "Page":
        """Return the page as a test before has left it, which only looked at it, or open it."""
        if address not in self._looked_at:
            self._looked_at[address] = self.open(address)
        return self._looked_at[address]

    def open(self, address: str) -> "Page":
        """Open a page and wait until its scripts have loaded what they need at first."""
        return self._go(self._new_page(), address)

    def walk(self, addresses: Iterable[str]) -> Iterator["Page"]:
        """Open pages one after the other in one tab: each tab costs a process, a second of work."""
        page = self._new_page()
        for address in addresses:
            if self.coverage:
                self.coverage.take()
            page.goto("about:blank")  # an address that differs behind # alone would load nothing
            yield self._go(page, address)

    def _new_page(self) -> "Page":
        page = self._fresh.pop() if self._fresh else self._context.new_page()
        if self.coverage:
            self.coverage.watch(page)
        return page

    def _go(self, page: "Page", address: str) -> "Page":
        page.goto(address)
        page.wait_for_selector("[aria-busy]", state="detached")
        return page

    def outside(self) -> list[str]:
        """Return the requests that left the folder."""
        inside = ("file:", "data:", "blob:", "about:")
        return [url for url in self.requests if not url.startswith(inside)]


@pytest.fixture(scope="session")
def tabs(browser: "Browser") -> Tabs:
    return Tabs(browser)


@pytest.fixture
def visitor(tabs: Tabs, coverage: ScriptCoverage | None) -> Iterator[Visitor]:
    visitor = Visitor(tabs.take(), coverage)
    yield visitor
    if coverage:
        coverage.finish()
    visitor.leave()
    tabs.give_back(clean=visitor.is_clean and not coverage)


@pytest.fixture(scope="module")
def still(browser: "Browser", coverage: ScriptCoverage | None) -> Iterator[Visitor]:
    """Return a visitor for the tests of a file that only look at pages: each is opened once."""
    visitor = Visitor(Tabs(browser).take(), coverage)
    yield visitor
    if coverage:
        coverage.finish()
    visitor.leave()
    assert visitor.complaints == []
    assert visitor.outside() == []


@pytest.fixture
def snapshot(request: pytest.FixtureRequest, tmp_path: Path) -> Snapshot:
    """Return a function that compares a text with the golden of that name.

    The golden of `tests/hlo/test_text.py` lies in `tests/hlo/expected/text/`. Versions and paths
    of this machine are scrubbed from the text first. `pytest --snapshot-update` writes it anew.
    """
    test = request.path
    folder = test.parent / "expected" / test.stem.removeprefix("test_")
    update = request.config.getoption("--snapshot-update")

    def compare(text: str, name: str) -> None:
        actual = scrubbed(text, tmp_path)
        golden = folder / name
        if update:
            golden.parent.mkdir(parents=True, exist_ok=True)
            golden.write_text(actual, encoding="utf-8", newline="")
            return
        expected = golden.read_bytes().decode() if golden.exists() else ""
        if actual != expected:
            pytest.fail(difference(expected, actual, golden), pytrace=False)

    return compare


def scrubbed(text: str, tmp_path: Path) -> str:
    """Return the text without what differs from machine to machine and from release to release."""
    for path, name in ((tmp_path, "<tmp>"), (TESTS.parent, "<checkout>")):
        text = text.replace(str(path), name)
    return re.sub(rf"(xlareport\D{{0,20}}){re.escape(__version__)}", r"\1<version>", text)


def difference(expected: str, actual: str, golden: Path) -> str:
    """Return what a red golden prints: the first fifty lines of a unified difference."""
    before, after = expected.splitlines(), actual.splitlines()
    lines = list(difflib.unified_diff(before, after, str(golden), "now", lineterm=""))
    hint = "If the new text is right: pytest --snapshot-update, and read the change in git diff."
    return "\n".join([*lines[:50], *(["..."] if len(lines) > 50 else []), hint])


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """Return a function: a name, what fills a folder -> the folder, the same for all workers.

    The first that asks for it makes it. No test may change what is in it.
    """
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent

    def share(name: str, make: Callable[[Path], None]) -> Path:
        folder = root / f"shared-{name}"
        done = root / f"shared-{name}.done"
        with FileLock(root / f"shared-{name}.lock"):
            if not done.exists():
                folder.mkdir(parents=True)
                make(folder)
                done.touch()
        return folder

    return share


@pytest.fixture(scope="session")
def two_modules(tmp_path_factory: pytest.TempPathFactory, unpacked: Unpack) -> Path:
    """Return a dump of a training step, module_0002.jit_train_step, and module_0006.jit_rollout."""
    folder = tmp_path_factory.mktemp("few") / "dump"
    folder.mkdir()
    for module in ("module_0002.jit_train_step", "module_0006.jit_rollout"):
        for path in unpacked("jax-cpu-train").glob(f"{module}.*"):
            shutil.copy(path, folder)
    return folder


@pytest.fixture(scope="session")
def report_of_two(shared: Shared, two_modules: Path) -> Path:
    """Return the report of the two modules."""

    def make(out: Path) -> None:
        build(two_modules, BuildOptions(out=out))

    return shared("two", make)


@pytest.fixture(scope="session")
def single(tmp_path_factory: pytest.TempPathFactory, report_of_two: Path) -> Path:
    """Return that report in one file, alone in its folder."""
    target = tmp_path_factory.mktemp("else where") / "bug.html"
    pack_single(report_of_two, target)
    return target
