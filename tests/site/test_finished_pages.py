"""Finished pages kept from build to build: taken only where all that they are made from is same."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import msgpack
from msgspec.structs import replace

from xlareport.site import site_shares
from xlareport.site.builder import build_site
from xlareport.site.kept_site import KeptSite
from xlareport.site.writer import write_sources
from xlareport.storage.entry_store import EntryStore
from xlareport.storage.payloads import SiteFile

MARK = "<!-- of the former build -->"


def contents(out: Path) -> dict[str, bytes]:
    site = out / "site"
    files = filter(Path.is_file, site.rglob("*"))
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in files}


class Report:
    """A report of few pages; a page that is taken from the former build has a mark."""

    def __init__(self, out: Path, files: list[SiteFile], first: dict[str, bytes]) -> None:
        self.out = out
        self.files = files
        self.first = first
        stores = (EntryStore(out / "kept" / name, 10_000_000) for name in ("site", "guide"))
        self.kept = KeptSite("program", *stores)

    def build(self) -> None:
        write_sources(self.out, self.files)
        assert build_site(self.out, kept=self.kept) == ""

    def mark(self) -> None:
        for store in (self.kept.store, self.kept.guide):
            for path in store.folder.glob("*/*.kept"):
                key = f"{path.parent.name}{path.stem}"
                page = msgpack.decode(store.get(key) or b"")
                assert page["html"].encode() in self.first.values()
                store.put(key, msgpack.encode(page | {"html": f"{page['html']}{MARK}"}))

    def taken(self) -> set[str]:
        """The pages that were taken from the former build."""
        return {path for path, content in contents(self.out).items() if MARK.encode() in content}

    def unmarked(self) -> dict[str, bytes]:
        return {
            path: content.replace(MARK.encode(), b"")
            for path, content in contents(self.out).items()
        }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile]) -> Path:
    out = tmp_path_factory.mktemp("kept")
    report = Report(out, few_pages, {})
    report.build()
    report.first = contents(out)
    report.mark()
    return out


@pytest.fixture
def report(made: Path, tmp_path: Path, few_pages: list[SiteFile]) -> Report:
    return Report(shutil.copytree(made, tmp_path / "out"), few_pages, contents(made))


def test_all_pages_are_taken_and_the_search_has_their_texts(report: Report) -> None:
    pages = {path for path in report.first if path.endswith(".html") and path != "404.html"}
    report.build()
    assert report.taken() == pages
    assert report.unmarked() == report.first


def test_an_altered_page_is_made_anew_and_no_other(report: Report, tmp_path: Path) -> None:
    cold = tmp_path / "cold"
    altered = ("index.md", "# Home\n\nanother text\n")
    files = [altered, *(file for file in report.files if file[0] != "index.md")]
    report.files = files
    report.build()
    pages = {path for path in report.first if path.endswith(".html")}
    assert report.taken() == pages - {"index.html", "404.html"}
    write_sources(cold, files)
    build_site(cold)
    assert report.unmarked() == contents(cold)


def test_damaged_entries_are_made_anew(report: Report) -> None:
    damaged = sorted((report.out / "kept").glob("*/*/*.kept"))[::2]
    for path in damaged:
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    for path, content in zip(damaged, (b"[]", b"{", b"[" * 100_000), strict=False):
        store = EntryStore(path.parents[1], 1)
        store.put(f"{path.parent.name}{path.stem}", content)
    report.build()
    assert 0 < len(report.taken()) < len(report.first)
    assert report.unmarked() == report.first


def add_to_the_navigation(report: Report) -> None:
    report.files = [*report.files, ("trends.md", "# Trends\n")]


def upgrade(report: Report) -> None:
    report.kept = replace(report.kept, program="upgraded")


def add_an_own_page(report: Report) -> None:
    (report.out / "site_src/own.md").write_text("# Mine\n\n[guide](guide/pictures.md)\n")


def add_own_settings(report: Report) -> None:
    with (report.out / "mkdocs.yml").open("a") as settings:
        settings.write("site_description: mine\n")


@pytest.mark.parametrize(
    "change", [add_to_the_navigation, upgrade, add_an_own_page, add_own_settings]
)
def test_what_concerns_all_pages_has_all_made_anew(
    report: Report, change: Callable[[Report], None]
) -> None:
    change(report)
    report.build()
    assert report.taken() == set()


def test_shares_of_a_site_take_their_pages(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    report.files = [*report.files, *((f"m/{number}.md", f"# {number}\n") for number in range(6))]
    monkeypatch.setattr(site_shares, "_MOST_PAGES", 3)
    report.build()
    assert report.taken() >= {"index.html", "m/x.html", "guide/index.html"}
    report.first = contents(report.out)
    report.build()
    assert contents(report.out) == report.first


def test_another_site_takes_the_guide_and_the_glossary_and_nothing_else(
    report: Report, tmp_path: Path, few_pages: list[SiteFile]
) -> None:
    other = Report(tmp_path / "other", few_pages, report.first)
    other.kept = replace(other.kept, guide=report.kept.guide)
    other.build()
    assert {path.partition("/")[0] for path in other.taken()} == {"guide", "glossary.html"}
    assert other.unmarked() == report.first
